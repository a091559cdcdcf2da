package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"buddy/tmux/tmuxtest"
)

// TestCheckoutRemovedBelowATask: a session loses nothing when its checkout is emptied or removed while a command runs
// there: the result is stored, and the session can be continued.
func TestCheckoutRemovedBelowATask(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	for name, remove := range map[string]string{
		"git clean":       "git -C $SHOP clean -qfdx",
		"git stash":       "git -C $SHOP stash -q -a",
		"worktree remove": "git -C $MAIN worktree remove --force $SHOP",
		"rm -rf":          "rm -rf $SHOP",
		"moved":           "mv $SHOP $SHOP.old",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDialog(t, "xterm-256color")
			main, shop := filepath.Join(d.work, "main"), filepath.Join(d.work, "shop")
			sh := func(script string) {
				t.Helper()
				cmd := exec.Command("sh", "-ec", script)
				cmd.Dir, cmd.Env = d.work, append(d.cmd.Env, "MAIN="+main, "SHOP="+shop, "GIT_CONFIG_NOSYSTEM=1",
					"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", script, err, out)
				}
			}
			sh("git init -q -b main $MAIN; cd $MAIN; echo a >a; git add a; git commit -qm a")
			if name == "worktree remove" {
				sh("git -C $MAIN worktree add -q $SHOP")
			} else {
				sh("git clone -q $MAIN $SHOP")
			}
			d.cmd.Dir = shop
			id := d.detached("--model", "demo", "--approve", "all", "run touch ../began; until test -e "+d.work+"/go; do sleep 0.02; done; echo the-end; touch ../over")
			tmuxtest.Until(t, "the command runs", func() bool { return exists(filepath.Join(d.work, "began")) })
			sh(remove)
			if err := os.WriteFile(filepath.Join(d.work, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			again := shop
			if name == "worktree remove" {
				again = main // its sessions are those of the whole repository
			} else {
				sh("mkdir -p $SHOP")
			}
			d.cmd.Dir = again
			if name == "rm -rf" || name == "moved" {
				sh("git -C $SHOP init -q") // as if cloned again
			}
			d.untilState(id, "idle")
			if out, code := d.run("sessions", "search", "the-end"); code != 0 || !strings.Contains(out, "the-end") {
				t.Errorf("the result is not stored: %d, %s", code, out)
			}
			d.wants(0, "stopped", "stop", id)
			if out, code := d.run("exec", "--model", "demo", "--approve", "all", "--resume", "last", "run echo once more"); code != 0 || !strings.Contains(out, "once more") {
				t.Errorf("resumed: %d, %s", code, out)
			}
		})
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

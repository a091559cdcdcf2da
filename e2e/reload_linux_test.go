package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReloadWithoutInotify: if no inotify instance is left, that is reported once, and changed settings and commands
// are read at the next prompt.
func TestReloadWithoutInotify(t *testing.T) {
	const without = "echo 0 >/proc/sys/user/max_inotify_instances"
	if out, err := exec.Command("unshare", "-Ur", "sh", "-c", without).CombinedOutput(); err != nil { // with its own limit
		t.Skipf("no user namespaces here: %v: %s", err, out)
	}
	t.Parallel()
	x := newTerminal(t, echoes)
	x.quit()
	path, err := exec.LookPath("buddy")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(x.srv.Dir, "buddy.toml")
	x.srv.Tmux("respawn-pane", "-k", "-t", "t", "-c", x.work,
		"env -u TMUX -u TMUX_PANE unshare -Ur sh -c \""+without+" && exec '"+path+"' --config '"+file+"'\"; echo ended $?; exec sleep 1000")
	x.want("F1 help")
	x.send("first prompt")
	x.wantText("apply at your next prompt", "fs.inotify.max_user_instances", "You said: first prompt.")
	x.rests()
	conf, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(conf, "[[deny]]\nprefix = [\"rm\"]\n[keys]\nhelp = [\"F10\"]\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(x.work, ".claude", "commands"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(x.work, ".claude", "commands", "greet.md"), []byte("Say hi"), 0o600); err != nil {
		t.Fatal(err)
	}
	x.send("second prompt")
	x.wantText("Settings reloaded: rules", "Settings reloaded: keys", "You said: second prompt.")
	x.want("F10 help")
	x.rests()
	x.send("/greet")
	x.wantText("means this", "Say hi")
	if n := strings.Count(x.screen(), "max_user_instances"); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, x.screen())
	}
	x.quit()
}

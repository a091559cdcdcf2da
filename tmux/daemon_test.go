package tmux_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"buddy/tmux"
	"buddy/tmux/tmuxtest"
)

// TestDaemons: a process that a command forks into its own session delays neither the command nor the end of the
// session, whether it closes the streams or not.
func TestDaemons(t *testing.T) {
	all(t, false, func(t *testing.T, _ testTarget, r *rig) {
		if r.run("command -v setsid").ExitCode != 0 {
			t.Skip("setsid is not installed there")
		}
		const daemon = "setsid sh -c 'echo $$ >>pids; exec sleep 1000'"
		for _, c := range []string{"(" + daemon + " >/dev/null 2>&1 </dev/null &)", "(" + daemon + " &)"} {
			if res := r.run(c + "; echo started; exit 3"); res.ExitCode != 3 || string(res.Stdout.Head) != "started\n" {
				t.Errorf("%s: exit %d, stdout %q", c, res.ExitCode, res.Stdout.Head)
			}
			r.want("echo on", "on\n")
		}
		var pids []string
		tmuxtest.Until(t, "both run", func() bool {
			b, _ := os.ReadFile(filepath.Join(r.dir, "pids"))
			pids = strings.Fields(string(b))
			return len(pids) == 2
		})
		defer func() {
			for _, p := range pids {
				if n, err := strconv.Atoi(p); err == nil {
					_ = syscall.Kill(n, syscall.SIGKILL)
				}
			}
		}()
		for _, p := range pids {
			if n, err := strconv.Atoi(p); err != nil || syscall.Kill(n, 0) != nil {
				t.Errorf("daemon %s does not live on (%v)", p, err)
			}
		}
		r.run("cd /")
		if _, err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestDiskFullHere: the disk for the outputs is full; the command runs to its end, the live output is complete, and the
// result reports the missing part.
func TestDiskFullHere(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may mount a small disk")
	}
	for _, at := range testTargets {
		if at.ash || at.ssh || at.name == "container" {
			continue
		}
		t.Run(at.name, func(t *testing.T) {
			t.Parallel()
			r := at.rig(t)
			disk := filepath.Join(r.dir, "cmds")
			if err := os.Mkdir(disk, 0o700); err != nil {
				t.Fatal(err)
			}
			mountSmall(t, disk)
			res := r.run("head -c 3000000 /dev/zero; echo end >&2; exit 3")
			if res.ExitCode != 3 || !strings.Contains(res.Fault, "space") || res.Stdout.Total != 3_000_000 {
				t.Errorf("exit %d, fault %q, %d bytes", res.ExitCode, res.Fault, res.Stdout.Total)
			}
			if _, err := r.Start(t.Context(), tmux.Spec{Dir: r.newDir(), Command: "true"}); err == nil {
				return // there was room for a small file
			} else if !strings.Contains(err.Error(), "space") {
				t.Errorf("Start on a full disk: %v", err)
			}
		})
	}
}

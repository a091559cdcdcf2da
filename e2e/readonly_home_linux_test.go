package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestReadOnlyHome: a running buddy can fork and resume the session that it wrote; a later run can read the session,
// and explains how to continue it.
func TestReadOnlyHome(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to mount")
	}
	t.Parallel()
	x := newTerminal(t, echoes)
	x.quit()
	home := filepath.Join(x.srv.Dir, "home")
	if err := os.RemoveAll(filepath.Join(home, ".local")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--bind", home, home}, {"-o", "remount,bind,ro", home}} {
		if out, err := exec.Command("mount", args...).CombinedOutput(); err != nil {
			t.Skipf("no mounting here: %v: %s", err, out)
		}
		if args[0] == "--bind" {
			t.Cleanup(func() {
				if err := syscall.Unmount(home, syscall.MNT_DETACH); err != nil {
					t.Error(err)
				}
			})
		}
	}
	x.again("")
	x.wantText("the session can't be resumed later, because its key can't be stored in", "read-only file system", "set XDG_STATE_HOME to one that is")
	x.send("first prompt")
	x.want("You said: first prompt.")
	x.rests()
	first, _ := x.journal()
	x.send("/session fork")
	x.want("this is now a fork of session " + first)
	x.send("second prompt")
	x.want("You said: second prompt.")
	x.rests()
	x.send("/session resume " + first)
	x.gone("second prompt")
	x.send("third prompt")
	x.want("You said: third prompt.")
	x.quit()

	x.again("resume " + first)
	x.wantText("You said: third prompt.", "read-only: it was not written on this machine; to continue it: buddy sessions trust "+first)
	x.keys("C-c", "C-c")
	x.want("ended 0")
	x.again("sessions trust " + first)
	x.wantText("can't save your trust in session ", "its key can't be stored in", "read-only file system", "set XDG_STATE_HOME to one that is", "ended 1")
}

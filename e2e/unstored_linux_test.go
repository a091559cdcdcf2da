package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
	"buddy/tmux/tmuxtest"
)

// echoes is a model that answers with the prompt.
func echoes(req modeltest.Request) modeltest.Answer {
	return modeltest.Answer{modeltest.Text("You said: " + promptIn(lastOf(req, model.User)) + ".")}
}

// journal returns the id and the contents of the only session.
func (x *terminal) journal() (id, text string) {
	x.t.Helper()
	files, _ := filepath.Glob(filepath.Join(x.work, ".buddyx/sessions/*.jsonl"))
	if len(files) != 1 {
		x.t.Fatalf("sessions %q", files)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		x.t.Fatal(err)
	}
	return strings.TrimSuffix(filepath.Base(files[0]), ".jsonl"), string(b)
}

// again runs the program again in the terminal that the last one has left.
func (x *terminal) again(args string) {
	x.t.Helper()
	path, err := exec.LookPath("buddy")
	if err != nil {
		x.t.Fatal(err)
	}
	x.srv.Tmux("respawn-pane", "-k", "-t", "t", "-c", x.work,
		"env -u TMUX -u TMUX_PANE '"+path+"' --config '"+filepath.Join(x.srv.Dir, "buddy.toml")+"' "+args+"; echo ended $?; exec sleep 1000")
}

// smallDisk puts the sessions on a small file system. fill fills it, free empties it again.
func smallDisk(x *terminal) (fill func() (free func())) {
	x.t.Helper()
	if os.Getuid() != 0 {
		x.t.Skip("needs root to mount a small file system")
	}
	disk := filepath.Join(x.srv.Dir, "home", ".local", "state", "buddy", "projects")
	if err := os.MkdirAll(disk, 0o700); err != nil {
		x.t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk).CombinedOutput(); err != nil {
		x.t.Skipf("no mounting here: %v: %s", err, out)
	}
	x.t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			x.t.Error(err)
		}
	})
	ballast := filepath.Join(disk, "ballast")
	return func() func() {
		if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
			x.t.Fatal(err)
		}
		return func() {
			if err := os.Remove(ballast); err != nil {
				x.t.Fatal(err)
			}
		}
	}
}

// TestFullDiskBelowAHost: each screen, even a later one, reports that nothing more can be stored, and why; the model is
// not asked, the conversation so far is stored, and with room again the session continues.
func TestFullDiskBelowAHost(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, echoes)
	fill := smallDisk(x)
	x.send("first prompt")
	x.want("You said: first prompt.")
	x.rests()
	free := fill()
	x.srv.Tmux("send-keys", "-t", "t", "-l", "second "+strings.Repeat("long ", 1000)) // more than the rest of the last page
	<-time.After(time.Second)                                                         // otherwise Enter would be part of the paste
	x.keys("Enter")
	x.wantText("no space left", "you can read the session, but not continue it")
	id, journal := x.journal()
	if !strings.Contains(journal, "You said: first prompt.") || strings.Contains(journal, "second") || !strings.HasSuffix(journal, "}\n") {
		t.Errorf("the session holds %s", journal)
	}
	x.keys("C-\\")
	x.want("Come back with", "ended 0")
	x.again("attach " + id)
	x.wantText("You said: first prompt.", "no space left")
	x.gone("You said: second")
	free()
	x.quit()
	tmuxtest.Until(t, "the host ends", func() bool { return x.hostPID() == 0 })
	x.again("resume --last")
	x.want("You said: first prompt.", "F1 help")
	x.send("third prompt")
	x.want("You said: third prompt.")
	x.quit()
}

// TestExitCodeOnAFullDisk: the result of a command that ended while the disk was full is stored once the session
// continues.
func TestExitCodeOnAFullDisk(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, func(req modeltest.Request) modeltest.Answer {
		if lastMessage(req).Role == model.Tool {
			return modeltest.Answer{modeltest.Text("The command has ended.")}
		}
		return modeltest.Answer{shellCall("c1", "echo beg''un; until test -e go; do sleep 0.02; done; seq 3000; echo end''ed; exit 7")}
	})
	fill := smallDisk(x)
	x.send("run it")
	x.want("Run this command?")
	<-time.After(approvalGrace)
	x.keys("y")
	x.want("begun")
	free := fill()
	if err := os.WriteFile(filepath.Join(x.work, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	x.wantText("exit 7", "no space left")
	if _, journal := x.journal(); strings.Contains(journal, `"type":"tool.result"`) {
		t.Fatalf("the disk was not full: %s", journal)
	}
	free()
	x.quit()
	tmuxtest.Until(t, "the host ends", func() bool { return x.hostPID() == 0 })
	x.again("resume --last")
	x.wantText("exit 7", "Enter to continue")
	if _, journal := x.journal(); !strings.Contains(journal, `"exit_code":7`) {
		t.Errorf("the session holds %s", journal)
	}
	x.quit()
}

// TestSessionRemovedBelowAHost: the screen reports that the file is gone, and its contents are restored.
func TestSessionRemovedBelowAHost(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, echoes)
	x.send("first prompt")
	x.want("You said: first prompt.")
	x.rests()
	if err := os.RemoveAll(filepath.Join(x.srv.Dir, "home", ".local", "state", "buddy", "projects")); err != nil {
		t.Fatal(err)
	}
	x.send("second prompt")
	x.wantText("was removed while it was in use", "saved again", "you can read the session, but not continue it")
	x.gone("You said: second")
	if _, journal := x.journal(); !strings.Contains(journal, "You said: first prompt.") {
		t.Errorf("the session holds %s", journal)
	}
	x.quit()
	x.again("resume --last")
	x.want("You said: first prompt.", "F1 help")
	<-time.After(100 * time.Millisecond) // the host may still be reading
	x.send("third prompt")
	x.want("You said: third prompt.")
	x.quit()
}

package pane

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"buddy/tmux/pane/confine"
)

// newAhead returns a shell that has started the one of its next command ahead.
func newAhead(t *testing.T, name string) *free {
	t.Helper()
	f := newFree(t, name)
	f.StartAhead()
	t.Cleanup(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.dropReady()
	})
	f.want("true", true, "")
	if f.waiting() != nil {
		t.Error("a shell waits after one command: a pane for one command needs no second shell")
	}
	f.want("true", true, "")
	return f
}

// waiting returns the shell that waits for the next command, or nil.
func (f *free) waiting() *heldShell {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hold.ready
}

// TestShellStartedAhead: a command gets the shell that waits for it, if one that starts now would be the same, and
// never another.
func TestShellStartedAhead(t *testing.T) {
	touch := func(path string) error { return os.WriteFile(path, nil, 0o600) }
	for _, tt := range []struct {
		name     string
		change   func(f *free) error // while the shell waits
		command  string
		want     string
		replaced bool
	}{
		{"nothing", func(*free) error { return nil }, "pwd", "WORK\n", false},
		{"a file", func(f *free) error { return touch(filepath.Join(f.dir, "new")) }, "ls", "new\nsub\n", false},
		{"the folder went away", func(f *free) error { return os.Rename(f.dir, f.dir+"2") }, "ls", "buddy: the working directory WORK is gone; running in an empty one\n", true},
		{"another folder took its place", func(f *free) error {
			return errors.Join(os.Rename(f.dir, f.dir+"2"), os.Mkdir(f.dir, 0o700), touch(filepath.Join(f.dir, "new")))
		}, "pwd", "WORK\n", true},
		{"an approved command", func(f *free) error { f.run("cd sub; export A=1", false); return nil }, "pwd; echo $A", "WORK/sub\n1\n", true},
		{"what may be read", func(f *free) error {
			f.Greet(Greeting{Reach: confine.Reach{Read: []string{f.free}}})
			return nil
		}, "ls >/dev/null 2>&1 || echo refused", "refused\n", true},
		{"the shell was killed", func(f *free) error {
			h := f.waiting()
			err := h.proc.Process.Kill()
			<-h.ended
			return err
		}, "pwd", "WORK\n", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range []string{"bash", "dash"} {
				f := newAhead(t, name)
				ready := f.waiting()
				if ready == nil {
					t.Fatal("no shell waits")
				}
				if err := tt.change(f); err != nil {
					t.Fatal(err)
				}
				c, dir := f.start(tt.command, true)
				if e := c.Exit(); e.Fault != "" || e.Code != 0 {
					t.Errorf("%s: exit %d, %s", name, e.Code, e.Fault)
				}
				out, _ := os.ReadFile(filepath.Join(dir, "out"))
				errs, _ := os.ReadFile(filepath.Join(dir, "err"))
				if got, want := string(out)+string(errs), strings.ReplaceAll(tt.want, "WORK", f.dir); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
				if replaced := c.held != ready; replaced != tt.replaced {
					t.Errorf("%s: another shell than the one that waited: %v", name, replaced)
				}
				if pid := ready.proc.Process.Pid; !errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
					t.Errorf("%s: the shell that waited, %d, is still there", name, pid)
				}
			}
		})
	}
}

// TestWaitingShellIsAsNew: what tells how long a shell runs does not tell that it waited, nor is its output kept
// from one that merges its streams.
func TestWaitingShellIsAsNew(t *testing.T) {
	f := newAhead(t, "bash")
	time.Sleep(2100 * time.Millisecond)
	if _, got := f.run("echo $SECONDS", true); got != "0\n" && got != "1\n" {
		t.Errorf("SECONDS = %q", got)
	}
	dir := filepath.Join(filepath.Dir(f.dir), "merged")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "cmd"), []byte("echo a; echo b >&2; echo c"), 0o600)); err != nil {
		t.Fatal(err)
	}
	c, err := f.Start(dir, Merge, ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	c.Exit()
	if out, err := os.ReadFile(filepath.Join(dir, "out")); string(out) != "a\nb\nc\n" {
		t.Errorf("merged: %q, %v", out, err)
	}
}

// TestWaitingShellEndsWithItsSupervisor: when the process that started it is gone, so is its end of the pipe.
func TestWaitingShellEndsWithItsSupervisor(t *testing.T) {
	for _, name := range []string{"bash", "dash"} {
		h := newAhead(t, name).waiting()
		if h == nil {
			t.Fatal(name, ": no shell waits")
		}
		_ = h.in.Close()
		select {
		case <-h.ended:
		case <-time.After(20 * time.Second):
			t.Error(name, ": it goes on")
		}
	}
}

// TestWaitingShellIsOutOfReach: what a command leaves behind to kill its own children and its parent's reaches its
// own, but not the shell that waits for the next command: it has ended before that starts.
func TestWaitingShellIsOutOfReach(t *testing.T) {
	f := newAhead(t, "bash")
	f.want(`exec 2>/dev/null; sleep 100 & victim=$!
		(while :; do for p in /proc/[0-9]*; do
			read -r pid _ _ parent _ <$p/stat && [[ ($parent == $$ || $parent == $PPID) && $pid != $$ && $pid != $BASHPID ]] && kill -9 $pid
		done; done) &
		wait $victim; echo $?`, true, "137\n")
	h := f.waiting()
	if h == nil {
		t.Fatal("no shell waits")
	}
	f.want("echo $$", true, strconv.Itoa(h.proc.Process.Pid)+"\n")
}

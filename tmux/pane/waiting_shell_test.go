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

// newAhead returns a shell that has started the next command's shell ahead: two similar commands ran in it.
func newAhead(t *testing.T, name string, confined bool) *free {
	t.Helper()
	f := newFree(t, name)
	f.StartAhead()
	t.Cleanup(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.dropWaiting()
	})
	f.want("true", confined, "")
	if f.waiting() != nil {
		t.Error("a shell waits after one command: a pane for one command needs no second shell")
	}
	f.want("B=2", confined, "")
	if f.waiting() == nil {
		t.Fatal("no shell waits")
	}
	return f
}

// waiting returns the waiting shell of the next command, or nil.
func (f *free) waiting() *waitingShell {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ahead.waits
}

// TestShellStartedAhead: a command gets the waiting shell only if a new one would be the same.
func TestShellStartedAhead(t *testing.T) {
	touch := func(path string) error { return os.WriteFile(path, nil, 0o600) }
	for _, tt := range []struct {
		name              string
		change            func(f *free) error // while the shell waits
		command           string
		confined          string // the output of the command after confined commands; "": not tried
		replaced          bool
		approved          string // the same after approved commands
		replacedTheOthers bool
	}{
		{"nothing", func(*free) error { return nil }, "pwd; echo $B", "WORK\n\n", false, "WORK\n2\n", false},
		{"a file", func(f *free) error { return touch(filepath.Join(f.dir, "new")) }, "ls", "new\nsub\n", false, "new\nsub\n", false},
		{"the folder went away", func(f *free) error { return os.Rename(f.dir, f.dir+"2") }, "ls", gone, true, gone, true},
		{"another folder took its place", func(f *free) error {
			return errors.Join(os.Rename(f.dir, f.dir+"2"), os.Mkdir(f.dir, 0o700), touch(filepath.Join(f.dir, "new")))
		}, "pwd; ls", "WORK\nnew\n", true, "WORK\nnew\n", true},
		{"an approved command", func(f *free) error { f.run("cd sub; export A=1", false); return nil }, "pwd; echo $A", "WORK/sub\n1\n", true, "WORK/sub\n1\n", true},
		{"a confined command, where there are any", func(f *free) error {
			f.run("cd sub; unset A", f.kind != kindZsh) // it has no read-only sandbox
			return nil
		}, "pwd; echo $A", "WORK/sub\n\n", true, "WORK/sub\n\n", true},
		{"what may be read", func(f *free) error {
			f.Greet(Greeting{Reach: confine.Reach{Read: []string{f.free}}})
			return nil
		}, "ls >/dev/null 2>&1 || echo refused", "refused\n", true, "", false},
		{"the shell was killed", func(f *free) error {
			h := f.waiting()
			err := h.proc.Process.Kill()
			<-h.ended
			return err
		}, "pwd", "WORK\n", true, "WORK\n", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range []string{"bash", "dash", "zsh"} {
				if name != "zsh" {
					tryAhead(t, name, true, tt.change, tt.command, tt.confined, tt.replaced)
				}
				if want := tt.approved; name != "dash" || !strings.Contains(tt.command, "$B") { // only exported variables are carried over
					tryAhead(t, name, false, tt.change, tt.command, want, tt.replacedTheOthers)
				}
			}
		})
	}
}

// TestNothingRunsAhead: a shell that would run a file from its environment first does not start ahead. Later ones get
// their environment from the state, which runs nothing.
func TestNothingRunsAhead(t *testing.T) {
	f := newFree(t, "bash")
	file := filepath.Join(f.dir, "start")
	if err := os.WriteFile(file, []byte("echo ran >>"+f.dir+"/log\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.env = append(f.env, "BASH_ENV="+file)
	f.StartAhead()
	for range 3 {
		f.run("kill -9 $$", false) // saves no state
		if f.waiting() != nil {
			t.Error("a shell waits")
		}
	}
	f.want("cat log", false, "ran\nran\nran\nran\n")
}

const gone = "buddy: the working directory WORK is gone; running in an empty one\n"

// tryAhead runs a command after a change while its shell waits.
func tryAhead(t *testing.T, name string, confined bool, change func(*free) error, command, want string, wantReplaced bool) {
	t.Helper()
	f := newAhead(t, name, confined)
	ready := f.waiting()
	if err := change(f); err != nil {
		t.Fatal(err)
	}
	c, dir := f.start(command, confined)
	e := c.Exit()
	out, _ := os.ReadFile(filepath.Join(dir, "out"))
	errs, _ := os.ReadFile(filepath.Join(dir, "err"))
	got := strings.NewReplacer(`"`, "", "'", "", f.dir, "WORK").Replace(string(out) + string(errs))
	if got != want || e.Fault != "" || e.Code != 0 {
		t.Errorf("%s, confined %v: %q, want %q; exit %d, %s", name, confined, got, want, e.Code, e.Fault)
	}
	if replaced := c.started != ready; replaced != wantReplaced {
		t.Errorf("%s, confined %v: another shell than the one that waited: %v", name, confined, replaced)
	}
	if pid := ready.proc.Process.Pid; !errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		t.Errorf("%s, confined %v: the shell that waited, %d, is still there", name, confined, pid)
	}
}

// TestWaitingShellIsAsNew: the shell's running time does not include the wait, and a merged stream gets all of its
// output.
func TestWaitingShellIsAsNew(t *testing.T) {
	for _, confined := range []bool{true, false} {
		f := newAhead(t, "bash", confined)
		time.Sleep(2100 * time.Millisecond)
		if _, got := f.run("echo $SECONDS", confined); got != "0\n" && got != "1\n" {
			t.Errorf("confined %v: SECONDS = %q", confined, got)
		}
		dir := filepath.Join(filepath.Dir(f.dir), "merged")
		if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "cmd"), []byte("echo a; echo b >&2; echo c"), 0o600)); err != nil {
			t.Fatal(err)
		}
		c, err := f.Start(dir, Merge, within(confined))
		if err != nil {
			t.Fatal(err)
		}
		c.Exit()
		if out, err := os.ReadFile(filepath.Join(dir, "out")); string(out) != "a\nb\nc\n" {
			t.Errorf("confined %v, merged: %q, %v", confined, out, err)
		}
	}
}

// TestWaitingShellEndsWithItsSupervisor: when its parent process is gone, its pipe ends.
func TestWaitingShellEndsWithItsSupervisor(t *testing.T) {
	for _, tt := range []struct {
		shell    string
		confined bool
	}{{"bash", true}, {"dash", true}, {"bash", false}, {"dash", false}, {"zsh", false}} {
		h := newAhead(t, tt.shell, tt.confined).waiting()
		_ = h.in.Close()
		select {
		case <-h.ended:
		case <-time.After(20 * time.Second):
			t.Errorf("%v: it goes on", tt)
		}
	}
}

// TestWaitingShellIsOutOfReach: a background process that kills its own children and its parent's does not reach the
// waiting shell of the next command: it has ended before that starts.
func TestWaitingShellIsOutOfReach(t *testing.T) {
	f := newAhead(t, "bash", true)
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

// TestDescriptorsOfACommand: the command sees none of the descriptors over which its shell got it, and may use their
// numbers.
func TestDescriptorsOfACommand(t *testing.T) {
	for _, name := range []string{"bash", "dash", "zsh"} {
		f := newFree(t, name)
		for _, command := range []string{"ls /proc/self/fd", "exec ls /proc/self/fd", "(ls /proc/self/fd)", "ls /proc/self/fd & wait"} {
			f.want(command, false, "0\n1\n2\n3\n") // ls has one of its own
		}
		f.want("exec 3>three 9>nine; echo a >&3; echo b >&9; exec 3>&- 9>&-; cat three nine", false, "a\nb\n")
	}
}

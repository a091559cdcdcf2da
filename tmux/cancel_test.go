package tmux_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"buddy/tmux"
	"buddy/tmux/tmuxtest"
)

// cancelCases are commands of every kind. Each prints `ready` first.
var cancelCases = []struct {
	name, cmd string
	code      int
	min, max  time.Duration
}{
	{"sleep", "echo ready; sleep 1000", 130, 0, 2 * time.Second},
	{"builtin busy loop", "echo ready; while :; do :; done", 130, 0, 2 * time.Second},
	{"own trap", "trap 'echo got; exit 9' INT; echo ready; while :; do sleep 0.05; done", 9, 0, 2 * time.Second},
	{"pipeline", "echo ready; sleep 1000 | cat | cat", 130, 0, 2 * time.Second},
	{"nested sh", "sh -c 'echo ready; sh -c \"sleep 1000; true\"; true'", 130, 0, 2 * time.Second},
	{"ignores INT", "trap '' INT; echo ready; sleep 1000", 143, 2 * time.Second, 4 * time.Second},
	{"ignores INT and TERM", "trap '' INT TERM; echo ready; while :; do sleep 1000; done", 137, 4 * time.Second, 7 * time.Second},
	{"its jobs", "sleep 1000 & echo $! >job; echo ready; wait", 130, 0, 2 * time.Second},
}

// TestCancel: a command of every kind ends at the expected step of a cancellation.
func TestCancel(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		for _, c := range cancelCases {
			t.Run(c.name, func(t *testing.T) {
				r.t = t
				run := r.start(tmux.Spec{Command: c.cmd})
				r.untilOutput("ready")
				if strings.Contains(c.cmd, "sleep 1000") {
					untilProcess(t, "sleep 1000", r.dir)
				}
				at := time.Now()
				run.Cancel()
				run.Cancel() // harmless
				res := r.wait(run)
				took := time.Since(at)
				if !res.Cancelled || res.ExitCode != c.code || took < c.min || took > c.max+20*time.Second {
					t.Errorf("after %v: %+v, want exit %v between %v and %v", took, res.ExitCode, c.code, c.min, c.max)
				}
				if b, err := os.ReadFile(filepath.Join(r.dir, "job")); err == nil {
					tmuxtest.Until(t, "the job has ended", func() bool {
						return exec.Command("kill", "-0", strings.TrimSpace(string(b))).Run() != nil
					})
				}
				r.want("echo on", "on\n")
			})
		}
	})
}

// untilOutput waits until a command has written text to stdout.
func (r *rig) untilOutput(text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, "cmds", itoa(r.n), "out")
	tmuxtest.Until(r.t, "output "+text, func() bool {
		b, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(b), text)
	})
}

// untilProcess waits until a process with these arguments runs in dir. Before the shell's copy has become the program
// it would ignore a SIGINT.
func untilProcess(t *testing.T, args, dir string) {
	t.Helper()
	want := []byte(strings.ReplaceAll(args, " ", "\x00"))
	tmuxtest.Until(t, args+" runs", func() bool {
		all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, f := range all {
			cwd, _ := os.Readlink(filepath.Dir(f) + "/cwd")
			if b, err := os.ReadFile(f); err == nil && strings.HasSuffix(cwd, dir) && bytes.HasPrefix(b, want) {
				return true
			}
		}
		return len(all) == 0 // without /proc
	})
}

// TestKeysOfAPerson types into the pane while a command runs.
func TestKeysOfAPerson(t *testing.T) {
	all(t, true, testKeys)
}

func testKeys(t *testing.T, at testTarget, r *rig) {
	t.Run("C-c", func(t *testing.T) {
		r.t = t
		r.run("rm -f go")
		run := r.start(tmux.Spec{Command: "echo ready; sleep 1000"})
		r.untilOutput("ready")
		untilProcess(t, "sleep 1000", r.dir)
		r.srv.Tmux("send-keys", "-t", r.Pane(), "C-c")
		if res := r.wait(run); res.ExitCode != 130 || res.Cancelled {
			t.Errorf("C-c gave exit %d, cancelled %v", res.ExitCode, res.Cancelled)
		}
		r.want("echo on", "on\n")
	})
	t.Run("C-z", func(t *testing.T) {
		r.t = t
		r.run("rm -f go")
		run := r.start(tmux.Spec{Command: "echo ready; while [ ! -e go ]; do sleep 0.02; done; echo done"})
		r.untilOutput("ready")
		r.srv.Tmux("send-keys", "-t", r.Pane(), "C-z")
		r.letGo()
		if res := r.wait(run); string(res.Stdout.Head) != "ready\ndone\n" {
			t.Errorf("C-z: stdout %q", res.Stdout.Head)
		}
	})
	t.Run("C-s", func(t *testing.T) {
		r.t = t
		r.run("rm -f go")
		run := r.start(tmux.Spec{Command: "echo ready; while [ ! -e go ]; do sleep 0.02; done; seq 50000; echo done"})
		r.untilOutput("ready")
		r.srv.Tmux("send-keys", "-t", r.Pane(), "C-s")
		r.letGo()
		r.wait(run)
		r.untilScreen("\ndone")
	})
	t.Run("typed ahead", func(t *testing.T) {
		r.t = t
		r.run("rm -f go")
		r.run("true")
		r.srv.Tmux("send-keys", "-t", r.Pane(), "-l", "rm -rf x; echo junk")
		if !at.script { // the script does not show skipped output
			r.untilScreen("junk")
		}
		for _, key := range []string{"C-c", "C-\\", "C-d", "C-z"} {
			r.srv.Tmux("send-keys", "-t", r.Pane(), key)
		}
		res := r.run("echo hi; read -t 0.1 x </dev/tty; echo \"[$x]\"")
		if string(res.Stdout.Head) != "hi\n[]\n" {
			t.Errorf("stdout %q", res.Stdout.Head)
		}
	})
	t.Run("copy mode", func(t *testing.T) {
		r.t = t
		r.run("rm -f go")
		r.run("true")
		r.srv.Tmux("copy-mode", "-t", r.Pane())
		r.want("seq 3", "1\n2\n3\n")
		r.srv.Tmux("send-keys", "-t", r.Pane(), "-X", "cancel")
	})
	t.Run("answers on /dev/tty", func(t *testing.T) {
		r.t = t
		r.run("rm -f go")
		run := r.start(tmux.Spec{Command: "test -t 0 || test -t 1 || test -t 2 || echo notty; read -s -p Pass'word: ' x </dev/tty 2>/dev/tty; echo ${#x}"})
		r.untilScreen("Password:")
		r.srv.Tmux("send-keys", "-t", r.Pane(), "-l", "s3cret")
		r.srv.Tmux("send-keys", "-t", r.Pane(), "Enter")
		if res := r.wait(run); string(res.Stdout.Head) != "notty\n6\n" {
			t.Errorf("stdout %q", res.Stdout.Head)
		}
		if strings.Contains(r.screen(), "s3cret") {
			t.Errorf("the password is on the screen:\n%s", r.screen())
		}
	})
}

// letGo creates the file go, for which a command waits.
func (r *rig) letGo() {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, "go"), nil, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// TestCancelStoppedSupervisor: as the last step a supervisor that does not react is replaced.
func TestCancelStoppedSupervisor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.run("export V=kept")
	run := r.start(tmux.Spec{Command: "echo ready; sleep 1000"})
	r.untilOutput("ready")
	if err := syscall.Kill(r.supervisor(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	run.Cancel()
	ctx := t.Context()
	res, err := run.Wait(ctx)
	if err == nil && res.ExitCode == 0 {
		t.Errorf("Wait = %+v, want an end by a signal or an error", res)
	}
	r.want("echo $V", "kept\n")
}

// supervisor returns the process id of the supervisor.
func (r *rig) supervisor() int {
	r.t.Helper()
	pid := 0
	for _, c := range r.srv.Tmux("display-message", "-p", "-t", r.Pane(), "#{pane_pid}") {
		pid = 10*pid + int(c-'0')
	}
	return pid
}

// TestKeysBetweenCommands: keys that end programs, pressed at any time, end at most a command, never the supervisor or
// its preparation of the terminal.
func TestKeysBetweenCommands(t *testing.T) {
	all(t, true, func(t *testing.T, _ testTarget, r *rig) {
		r.run("true")
		pane := r.Pane()
		for range 25 {
			run := r.start(tmux.Spec{Command: "true"}) // the keys may end it
			for more, end := 4, time.Now().Add(time.Minute); more > 0 && time.Now().Before(end); {
				r.srv.Tmux("send-keys", "-t", pane, "C-\\")
				select {
				case <-run.Done():
					more--
				default:
				}
			}
			r.wait(run)
		}
		r.want("echo on", "on\n")
	})
}

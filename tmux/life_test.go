package tmux_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"buddy/tmux"
	"buddy/tmux/pane"
	"buddy/tmux/tmuxtest"
)

// TestNothingBeforeTheFirstCommand: tmux and the supervisor start with the first command.
func TestNothingBeforeTheFirstCommand(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.Watch([]string{"%0"})
	if left, err := r.Close(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("Close = %v, %v", left, err)
	}
	if _, err := os.Stat(r.srv.Socket); err == nil {
		t.Error("a tmux server was started without a command")
	}
	if k := r.kinds(); k != "" {
		t.Errorf("events %q", k)
	}
}

// TestPane: names, size, marks and the command on the screen.
func TestPane(t *testing.T) {
	all(t, true, func(t *testing.T, at testTarget, r *rig) {
		r.run("echo hello; printf 'no newline'; exit 3")
		r.run("printf '\\033[31m'; echo $'bell \a'")
		got := r.srv.Tmux("list-panes", "-a", "-F", "#{session_name} #{window_name} #{pane_title} #{pane_width}x#{pane_height} #{@buddy_managed} #{@buddy_owner} #{@buddy_role}")
		if want := "buddy-t buddy-shared shared 120x40 1 buddy shared"; got != want {
			t.Errorf("panes\n%s\nwant\n%s", got, want)
		}
		const want = "$ echo hello; printf 'no newline'; exit 3\nhello\nno newline\n[exit 3]\n$ printf '\\033[31m'; echo $'bell ␇'\nbell"
		r.untilScreen(want)
		r.mu.Lock()
		defer r.mu.Unlock()
		if e := r.events[0]; e.Kind != tmux.Opened || e.Pane != r.Pane() || !strings.HasSuffix(e.Attach, "tmux -S "+r.srv.Socket+" attach -t buddy-t") || e.Attach != r.AttachLine() {
			t.Errorf("event %+v", e)
		}
	})
}

// untilScreen waits until the pane shows text.
func (r *rig) untilScreen(text string) {
	r.t.Helper()
	screen := ""
	defer func() {
		if r.t.Failed() {
			r.t.Logf("the screen is\n%s", screen)
		}
	}()
	tmuxtest.Until(r.t, "the screen shows "+text, func() bool {
		screen = r.screen()
		return strings.Contains(screen, text)
	})
}

// TestCloseIdle: the session is removed, with nothing left on disk or running.
func TestCloseIdle(t *testing.T) {
	all(t, true, func(t *testing.T, at testTarget, r *rig) {
		r.run("export SECRET=1")
		pid := r.supervisor()
		left, err := r.Close(t.Context())
		if err != nil || len(left) != 0 {
			t.Fatalf("Close = %v, %v", left, err)
		}
		tmuxtest.Until(t, "the supervisor has ended", func() bool { return syscall.Kill(pid, 0) != nil })
		if m, _ := filepath.Glob(filepath.Join(r.dir, "buddy-*", "*")); len(m) > 0 {
			t.Errorf("left behind: %v", m)
		}
		if _, err := r.Start(t.Context(), tmux.Spec{Dir: r.newDir(), Command: "true"}); err == nil {
			t.Error("Start works after Close")
		}
		if k := r.kinds(); k != "opened closed" {
			t.Errorf("events %q", k)
		}
	})
}

// TestCloseAtOnce: a session is idle right after its command, while the command's files are being removed from the
// target, however long that takes.
func TestCloseAtOnce(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	bin := t.TempDir()
	rm, err := exec.LookPath("rm")
	if err != nil {
		t.Fatal(err)
	}
	slow := "#!/bin/sh\ncase $* in -rf*/1) " + rm + " -f \"$2/rc\"; sleep 0.5 ;; esac\nexec " + rm + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "rm"), []byte(slow), 0o700); err != nil {
		t.Fatal(err)
	}
	srv.Env = append(slices.Clone(srv.Env), "PATH="+bin+":"+os.Getenv("PATH"))
	r := newHostRig(t, srv, localHost(t, srv.Env))
	r.run("true")
	tmuxtest.Until(t, "removing has begun", func() bool {
		left, _ := filepath.Glob(filepath.Join(r.dir, "buddy-*", "*", "1", "rc"))
		return len(left) == 0
	})
	if left, err := r.Close(t.Context()); err != nil || len(left) != 0 {
		t.Fatalf("Close = %v, %v", left, err)
	}
}

// TestCloseLeavesOthersAlone: a person's own window in the session stays.
func TestCloseLeavesOthersAlone(t *testing.T) {
	all(t, true, func(t *testing.T, at testTarget, r *rig) {
		r.run("true")
		r.srv.Tmux("new-window", "-d", "-t", "=buddy-t:", "-n", "mine", "sleep 1000")
		if _, err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := r.srv.Tmux("list-windows", "-t", "=buddy-t:", "-F", "#{window_name}"); got != "mine" {
			t.Errorf("windows %q, want mine", got)
		}
	})
}

// TestReattach: a session is closed or killed in the middle of a command; the next one gets its whole output.
func TestReattach(t *testing.T) {
	for _, c := range []struct {
		name     string
		finishes bool // while no session follows it
	}{{"still running", false}, {"finished meanwhile", true}} {
		t.Run(c.name, func(t *testing.T) {
			all(t, true, func(t *testing.T, _ testTarget, r *rig) {
				r.run("export V=kept")
				r.start(tmux.Spec{Command: "echo first; while [ ! -e go ]; do sleep 0.02; done; echo second; exit 5"})
				dir := filepath.Join(r.dir, "cmds", itoa(r.n))
				r.untilOutput("first")
				left, err := r.Close(t.Context())
				if err != nil || !slices.Equal(left, []string{"buddy-t"}) {
					t.Fatalf("Close = %v, %v, want the session named", left, err)
				}
				if c.finishes {
					r.letGo()
					tmuxtest.Until(t, "rc", func() bool { _, err := os.Stat(filepath.Join(dir, "rc")); return err == nil })
				}

				r.Session = tmux.New(r.opt)
				r.closeAtEnd()
				var mu sync.Mutex
				var out string
				again, err := r.Reattach(t.Context(), dir, func(_ string, p []byte, _ int64) {
					mu.Lock()
					defer mu.Unlock()
					out += string(p)
				})
				if err != nil {
					t.Fatal(err)
				}
				r.letGo()
				res := r.wait(again)
				if res.ExitCode != 5 || string(res.Stdout.Head) != "first\nsecond\n" {
					t.Errorf("exit %d, stdout %q", res.ExitCode, res.Stdout.Head)
				}
				if !c.finishes && out != "first\nsecond\n" {
					t.Errorf("live output %q", out)
				}
				r.want("echo $V", "kept\n")
			})
		})
	}
}

// TestReattachLost: the supervisor is gone as well, and the end is unknown.
func TestReattachLost(t *testing.T) {
	all(t, true, func(t *testing.T, at testTarget, r *rig) {
		run := r.start(tmux.Spec{Command: "echo first; sleep 1000"})
		r.untilOutput("first")
		dir := filepath.Join(r.dir, "cmds", itoa(r.n))
		if err := syscall.Kill(r.supervisor(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if at.script { // its watchdog ends the command
			if res := r.wait(run); res.Signal != int(syscall.SIGHUP) || string(res.Stdout.Head) != "first\n" || res.Fault == "" {
				t.Errorf("Wait: %+v", res)
			}
			r.want("echo on", "on\n")
			return
		}
		if res, err := run.Wait(t.Context()); !errors.Is(err, tmux.ErrLost) || res.ExitCode != -1 || string(res.Stdout.Head) != "first\n" {
			t.Errorf("Wait: %+v, %v, want ErrLost and what was recorded", res, err)
		}
		again := tmux.New(r.opt)
		if _, err := again.Reattach(t.Context(), dir, nil); !errors.Is(err, tmux.ErrLost) {
			t.Errorf("Reattach: %v, want ErrLost", err)
		}
	})
}

// TestSupervisorKilled: the next command runs in the same pane, with directory and environment
// restored.
func TestSupervisorKilled(t *testing.T) {
	all(t, true, func(t *testing.T, at testTarget, r *rig) {
		r.run("mkdir d; cd d; export V=kept; f() { echo f; }")
		pane := r.Pane()
		if err := syscall.Kill(r.supervisor(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		tmuxtest.Until(t, "the loss is told", func() bool { return r.kinds() == "opened lost" })
		r.want("basename $PWD; echo $V; f", "d\nkept\nf\n")
		if r.Pane() != pane || r.kinds() != "opened lost opened" {
			t.Errorf("pane %s, then %s; events %q", pane, r.Pane(), r.kinds())
		}
	})
}

// TestSessionKilled: the session is removed in the middle of a command. The command ends, no process stays, and the
// next command creates a new one with the old state.
func TestSessionKilled(t *testing.T) {
	for _, how := range []string{"kill-session", "kill-server"} {
		t.Run(how, func(t *testing.T) {
			all(t, true, func(t *testing.T, _ testTarget, r *rig) {
				r.run("export V=kept")
				run := r.start(tmux.Spec{Command: "trap '' HUP; echo ready; echo $$ >pid; while :; do sleep 1000; done"})
				r.untilOutput("ready")
				supervisor := r.supervisor()
				r.srv.Tmux(how)
				res := r.wait(run)
				if res.Signal == 0 || !strings.Contains(res.Fault, "pane was closed") {
					t.Errorf("Wait = exit %d, signal %d, fault %q", res.ExitCode, res.Signal, res.Fault)
				}
				tmuxtest.Until(t, "the loss is told", func() bool { return r.kinds() == "opened lost" })
				tmuxtest.Until(t, "the supervisor has ended", func() bool { return syscall.Kill(supervisor, 0) != nil })
				r.want("echo $V", "kept\n")
				if r.kinds() != "opened lost opened" {
					t.Errorf("events %q", r.kinds())
				}
			})
		})
	}
}

// TestPaneKilled: our pane is closed; the session stays with another window.
func TestPaneKilled(t *testing.T) {
	all(t, true, func(t *testing.T, at testTarget, r *rig) {
		r.run("export V=kept")
		r.srv.Tmux("new-window", "-d", "-t", "=buddy-t:", "-n", "mine", "sleep 1000")
		r.srv.Tmux("kill-pane", "-t", r.Pane())
		tmuxtest.Until(t, "the loss is told", func() bool { return r.kinds() == "opened lost" })
		if res := r.run("echo $V"); string(res.Stdout.Head) != "kept\n" || !res.Renewed {
			t.Errorf("in the new pane: %q, renewed %v", res.Stdout.Head, res.Renewed)
		}
		if res := r.run("true"); res.Renewed {
			t.Error("a new pane is told twice")
		}
		got := r.srv.Tmux("list-panes", "-s", "-t", "=buddy-t:", "-F", "#{window_name} #{@buddy_role} #{pane_width}x#{pane_height}")
		if want := "buddy-shared shared 120x40\nmine  120x40"; got != want {
			t.Errorf("panes\n%s\nwant\n%s", got, want)
		}
	})
}

// TestDescriptors: commands leak no descriptor, neither here nor in the supervisor.
func TestDescriptors(t *testing.T) {
	r := newRig(t)
	open := func(pid string) int {
		all, err := os.ReadDir("/proc/" + pid + "/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(all)
	}
	r.run("true")
	pid := itoa(r.supervisor())
	here, there := open("self"), open(pid)
	for range 30 {
		r.run("echo x")
	}
	const waiting = 4 // of the shell for the next command: three pipes and its process
	tmuxtest.Until(t, "the descriptors are closed", func() bool { return open("self") <= here && open(pid) <= there+waiting })
}

// TestLeftIsSwept: a session that was closed during a command is removed by the first command of another session after
// that command has ended; busy sessions, and sessions in use again, are not.
func TestLeftIsSwept(t *testing.T) {
	all(t, true, func(t *testing.T, at testTarget, r *rig) {
		first := r.opt
		leave := func(name, command string) {
			o := first
			o.Session = name
			s := tmux.New(o)
			if _, err := s.Start(t.Context(), tmux.Spec{Dir: r.newDir(), Command: command, Own: name == "own"}); err != nil {
				t.Fatal(err)
			}
			r.untilOutput("ready")
			if left, err := s.Close(t.Context()); err != nil || len(left) != 1 {
				t.Fatalf("Close of %s = %v, %v", name, left, err)
			}
		}
		leave("ended", "echo ready; while [ ! -e go ]; do sleep 0.02; done")
		if !at.ssh { // it does not allow that many sessions on one connection
			leave("own", "echo ready; while [ ! -e go ]; do sleep 0.02; done")
		}
		leave("back", "echo ready; while [ ! -e go ]; do sleep 0.02; done")
		leave("runs", "echo ready; sleep 1000")
		back := first
		back.Session = "back"
		again := tmux.New(back)
		run, err := again.Reattach(t.Context(), filepath.Join(r.dir, "cmds", itoa(r.n-1)), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.letGo()
		r.wait(run)
		tmuxtest.Until(t, "the others are removed", func() bool { // their commands may take a moment to end
			r.run("true")
			_, _ = r.Close(t.Context())
			r.Session = tmux.New(r.opt)
			r.closeAtEnd()
			names := r.srv.Tmux("list-sessions", "-F", "#{session_name}")
			return names == "buddy-back\nbuddy-runs"
		})
		if left, err := again.Close(t.Context()); err != nil || len(left) != 0 {
			t.Errorf("Close of the one that was come back to = %v, %v", left, err)
		}
		r.srv.Tmux("kill-session", "-t", "buddy-runs")
		tmuxtest.Until(t, "nothing is left behind", func() bool {
			m, _ := filepath.Glob(filepath.Join(r.dir, "buddy-*", "*"))
			return len(m) == 0
		})
	})
}

// TestNoLeak: when tmux ends without a client of ours, the supervisor ends and removes the environment.
func TestNoLeak(t *testing.T) {
	all(t, true, func(t *testing.T, at testTarget, r *rig) {
		r.run("export SECRET=1")
		r.start(tmux.Spec{Command: "echo ready; sleep 1000"})
		r.untilOutput("ready")
		supervisor := r.supervisor()
		if left, err := r.Close(t.Context()); err != nil || len(left) != 1 {
			t.Fatalf("Close = %v, %v", left, err)
		}
		r.srv.Tmux("kill-server")
		tmuxtest.Until(t, "the supervisor has ended", func() bool { return syscall.Kill(supervisor, 0) != nil })
		tmuxtest.Until(t, "nothing is left behind", func() bool {
			m, _ := filepath.Glob(filepath.Join(r.dir, "buddy-*", "*"))
			return len(m) == 0
		})
	})
}

// TestNoLeakWhenTheClientLingers: tmux ends while a closed client is still ending.
func TestNoLeakWhenTheClientLingers(t *testing.T) {
	t.Parallel()
	r := newShRig(t)
	r.run("export SECRET=1")
	r.start(tmux.Spec{Command: "echo ready; sleep 1000"})
	r.untilOutput("ready")
	if left, err := r.Close(t.Context()); err != nil || len(left) != 1 {
		t.Fatalf("Close = %v, %v", left, err)
	}
	supervisor := r.supervisor()
	holder, _ := filepath.Glob(filepath.Join(r.dir, "buddy-*", "*", "holder"))
	if len(holder) != 1 {
		t.Fatalf("holders %v", holder)
	}
	lingers := exec.Command("sleep", "1000")
	if err := lingers.Start(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(holder[0], []byte(itoa(lingers.Process.Pid)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.srv.Tmux("kill-server")
	tmuxtest.Until(t, "the supervisor has ended", func() bool { return syscall.Kill(supervisor, 0) != nil })
	tmuxtest.Until(t, "its files are looked after", func() bool {
		_, err := os.Stat(filepath.Join(filepath.Dir(holder[0]), "pid"))
		return err != nil
	})
	if _, err := os.Stat(holder[0]); err != nil {
		t.Errorf("the files of a client that is there: %v", err)
	}
	_ = lingers.Process.Kill()
	_ = lingers.Wait()
	tmuxtest.Until(t, "nothing is left behind", func() bool {
		m, _ := filepath.Glob(filepath.Join(r.dir, "buddy-*", "*"))
		return len(m) == 0
	})
}

// TestWordOfAKilledClient: a message that a killed client did not read does not end the next client.
func TestWordOfAKilledClient(t *testing.T) {
	all(t, true, func(t *testing.T, _ testTarget, r *rig) {
		r.start(tmux.Spec{Command: "echo ready; while [ ! -e go ]; do sleep 0.02; done; echo done"})
		r.untilOutput("ready")
		if left, err := r.Close(t.Context()); err != nil || len(left) != 1 {
			t.Fatalf("Close = %v, %v", left, err)
		}
		words, _ := filepath.Glob(filepath.Join(r.dir, "buddy-*", "*", "alive"))
		if len(words) == 0 {
			t.Skip("it has a socket instead, or is not in this folder")
		}
		for range 2 { // the old client may still read one
			f, err := os.OpenFile(words[0], os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			if _, err := f.WriteString("old\n"); err != nil {
				t.Fatal(err)
			}
		}
		again := tmux.New(r.opt)
		run, err := again.Reattach(t.Context(), filepath.Join(r.dir, "cmds", itoa(r.n)), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.letGo()
		if res := r.wait(run); string(res.Stdout.Head) != "ready\ndone\n" {
			t.Errorf("result %+v", res)
		}
		if _, err := again.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if kinds := r.kinds(); strings.Contains(kinds, string(tmux.Lost)) {
			t.Errorf("panes: %s", kinds)
		}
	})
}

// TestForeignSession: a session with that name that is not ours is refused and untouched.
func TestForeignSession(t *testing.T) {
	all(t, true, func(t *testing.T, at testTarget, r *rig) {
		r.srv.Tmux("new-session", "-d", "-s", "buddy-t", "sleep 1000")
		_, err := r.Start(t.Context(), tmux.Spec{Dir: r.newDir(), Command: "true"})
		if !errors.Is(err, tmux.ErrUnavailable) || !strings.Contains(err.Error(), "buddy-t") {
			t.Errorf("Start: %v, want ErrUnavailable", err)
		}
		if _, err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
		tmuxtest.Until(t, "its command is all that runs", func() bool { // before that it is a shell, or tmux itself
			return r.srv.Tmux("list-panes", "-a", "-F", "#{session_name} #{pane_current_command}") == "buddy-t sleep"
		})
	})
}

// TestUnavailable: no tmux, an old one, a server that cannot be reached.
func TestUnavailable(t *testing.T) {
	fake := func(t *testing.T, script string) []string {
		t.Helper()
		dir := tmuxtest.Dir(t)
		if script != "" {
			if err := os.WriteFile(filepath.Join(dir, "tmux"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", dir)
		return tmuxtest.Env(t, dir)
	}
	for _, c := range []struct{ name, script, why string }{
		{"missing", "", "not installed"},
		{"old", "echo tmux 3.1c", "tmux 3.1c"},
		{"broken", "[ $1 = -V ] && echo tmux 3.4 || { echo no server for you >&2; exit 1; }", "no server for you"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := tmux.New(tmux.Options{Socket: filepath.Join(tmuxtest.Dir(t), "sock"), Session: "t", Exe: exe(t), Greeting: pane.Greeting{Env: fake(t, c.script)}})
			_, err := s.Start(t.Context(), tmux.Spec{Dir: t.TempDir(), Command: "true"})
			if !errors.Is(err, tmux.ErrUnavailable) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("Start: %v, want ErrUnavailable because of %q", err, c.why)
			}
			if _, err := s.Close(t.Context()); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

// TestQueue: commands run one at a time, in order; a waiting one can be withdrawn.
func TestQueue(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		run := r.start(tmux.Spec{Command: "echo ready; while [ ! -e go ]; do sleep 0.02; done"})
		r.untilOutput("ready")
		ctx, withdraw := context.WithCancel(t.Context())
		withdrawn := make(chan error, 1)
		dir := r.newDir()
		go func() {
			_, err := r.Start(ctx, tmux.Spec{Dir: dir, Command: "echo never"})
			withdrawn <- err
		}()
		next := make(chan error, 1)
		nextDir := r.newDir()
		go func() {
			_, err := r.Start(t.Context(), tmux.Spec{Dir: nextDir, Command: "echo ran >ran"})
			next <- err
		}()
		withdraw()
		if err := <-withdrawn; !errors.Is(err, context.Canceled) {
			t.Errorf("withdrawn Start: %v", err)
		}
		select {
		case err := <-next:
			t.Errorf("the second command started while the first ran: %v", err)
		default:
		}
		r.letGo()
		r.wait(run)
		if err := <-next; err != nil {
			t.Errorf("queued Start: %v", err)
		}
		r.want("cat ran", "ran\n")
		if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
			t.Error("the withdrawn command ran")
		}
	})
}

// TestOutput: moderate live output is complete and in order, and a slow reader does not delay the command.
func TestOutput(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		var out, errs []byte
		var total int64
		run := r.start(tmux.Spec{Command: "for i in 1 2 3 4 5; do echo $i; echo e$i >&2; sleep 0.02; done", Output: func(s string, p []byte, n int64) {
			if s == "stderr" {
				errs = append(errs, p...)
				return
			}
			out, total = append(out, p...), n
		}})
		r.wait(run)
		if string(out) != "1\n2\n3\n4\n5\n" || string(errs) != "e1\ne2\ne3\ne4\ne5\n" || total != 10 {
			t.Errorf("live output %q, %q, total %d", out, errs, total)
		}

		release := make(chan struct{})
		var last, got int64
		run = r.start(tmux.Spec{Command: "seq 1000000", Output: func(_ string, p []byte, n int64) {
			<-release
			got += int64(len(p))
			last = n
		}})
		rc := filepath.Join(r.dir, "cmds", itoa(r.n), "rc")
		tmuxtest.Until(t, "the command has ended", func() bool { _, err := os.Stat(rc); return err == nil })
		close(release)
		res := r.wait(run)
		if last != res.Stdout.Total || got > 2<<20 {
			t.Errorf("slow reader got %d bytes up to %d of %d", got, last, res.Stdout.Total)
		}
	})
}

// TestFloodInPane: the pane skips ahead and shows the end.
func TestFloodInPane(t *testing.T) {
	if testing.Short() {
		t.Skip("floods a real tmux")
	}
	t.Parallel()
	r := newRig(t)
	r.srv.Tmux("new-session", "-d", "-s", "other", "cat", ";", "set-option", "-g", "history-limit", "100000")
	r.run("yes $(printf 'flood%.0s' $(seq 23)) | head -c 50000000; echo; echo the end")
	r.untilScreen("\nthe end")
	history := r.srv.Tmux("capture-pane", "-p", "-S", "-", "-t", r.Pane())
	if !strings.Contains(history, "MB skipped") {
		t.Error("no notice of what was skipped")
	}
	r.want("echo on", "on\n")
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	r := newPlainRig(t)
	if _, err := r.Start(t.Context(), tmux.Spec{Dir: r.newDir(), Command: "echo a\x00b"}); err == nil {
		t.Error("a command with NUL was taken")
	}
	if _, err := r.Start(t.Context(), tmux.Spec{Dir: r.newDir(), Command: "true", Mode: "nope"}); err == nil || !strings.Contains(err.Error(), "nope") {
		t.Errorf("unknown mode: %v", err)
	}
	dir := r.newDir()
	for i := range 2 {
		run, err := r.Start(t.Context(), tmux.Spec{Dir: dir, Command: "true"})
		if (err == nil) != (i == 0) {
			t.Errorf("Start %d in the same directory: %v", i, err)
		}
		if err == nil {
			r.wait(run)
		}
	}
	r.want("echo on", "on\n")
}

// TestPlainClose: without tmux a running command ends with the session.
func TestPlainClose(t *testing.T) {
	t.Parallel()
	for _, at := range testTargets {
		if at.tmux {
			continue
		}
		t.Run(at.name, func(t *testing.T) {
			t.Parallel()
			r := at.rig(t)
			run := r.start(tmux.Spec{Command: "trap '' HUP; echo ready; while :; do sleep 1000; done"})
			r.untilOutput("ready")
			begin := time.Now()
			if left, err := r.Close(t.Context()); err != nil || len(left) > 0 {
				t.Errorf("Close = %v, %v", left, err)
			}
			if res := r.wait(run); res.Signal == 0 || res.Fault == "" && at.script || time.Since(begin) > 30*time.Second {
				t.Errorf("after %v: %+v", time.Since(begin), res)
			}
			for _, dir := range []string{r.dir, strings.TrimSuffix(r.dir, "/w")} {
				if left, _ := filepath.Glob(filepath.Join(dir, "buddy-*", "*")); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			}
		})
	}
}

func TestSessionName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "buddy-session", "7f3a": "buddy-7f3a", "buddy-7f3a": "buddy-7f3a", "My Proj/é:x.": "buddy-my-proj---x",
		strings.Repeat("a", 60): "buddy-" + strings.Repeat("a", 48), "=x;kill": "buddy-x-kill",
	} {
		if got := tmux.SessionName(in); got != want {
			t.Errorf("SessionName(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestFindPane: the pane of an earlier process is found and reported before a command runs; if there is none, nothing
// is started.
func TestFindPane(t *testing.T) {
	all(t, true, func(t *testing.T, _ testTarget, r *rig) {
		if found, err := r.FindPane(t.Context()); found || err != nil {
			t.Fatalf("before the first command: %v, %v", found, err)
		}
		if _, err := os.Stat(r.srv.Socket); err == nil {
			t.Error("a tmux server was started")
		}
		r.start(tmux.Spec{Command: "echo first; while [ ! -e go ]; do sleep 0.02; done"})
		r.untilOutput("first")
		pane := r.Pane()
		if left, err := r.Close(t.Context()); err != nil || len(left) != 1 {
			t.Fatalf("Close = %v, %v, want the session named", left, err)
		}
		r.Session = tmux.New(r.opt)
		r.closeAtEnd()
		if found, err := r.FindPane(t.Context()); !found || err != nil || r.Pane() != pane {
			t.Fatalf("%v, %v, pane %q, want %q", found, err, r.Pane(), pane)
		}
		if got := r.kinds(); got != "opened opened" {
			t.Errorf("events %q", got)
		}
		r.letGo()
		r.want("echo on", "on\n")
	})
}

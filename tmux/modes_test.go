package tmux_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"buddy/tmux"
	"buddy/tmux/pane"
)

// Modes captty and tty: commands that need a terminal get one, and are recorded as precisely.

// inEachPane runs a test in all panes except those behind ssh, which behave like those of the script here.
func inEachPane(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Parallel()
	for _, at := range testTargets {
		if at.tmux && !at.ash && !at.ssh {
			t.Run(at.name, func(t *testing.T) { t.Parallel(); test(t, at.rig(t)) })
		}
	}
}

// TestPrompted: standard input is the terminal, the other streams are separate.
func TestPrompted(t *testing.T) {
	all(t, true, func(t *testing.T, _ testTarget, r *rig) {
		r.run("export V=kept")
		run := r.start(tmux.Spec{Mode: tmux.Prompted, Command: "test -t 0 && ! test -t 1 && ! test -t 2 && echo split $V; printf 'Name''? ' >&2; read x; echo \"hello $x\"; cd /; exit 4"})
		r.untilScreen("Name?")
		r.srv.Tmux("send-keys", "-t", r.Pane(), "-l", "Ann B")
		r.srv.Tmux("send-keys", "-t", r.Pane(), "Enter")
		res := r.wait(run)
		if res.ExitCode != 4 || string(res.Stdout.Head) != "split kept\nhello Ann B\n" || string(res.Stderr.Head) != "Name? " {
			t.Errorf("exit %d, stdout %q, stderr %q", res.ExitCode, res.Stdout.Head, res.Stderr.Head)
		}
		r.want("pwd", "/\n")
		run = r.start(tmux.Spec{Mode: tmux.Prompted, Command: "echo ready; cat; echo end"})
		r.untilOutput("ready")
		r.srv.Tmux("send-keys", "-t", r.Pane(), "line", "Enter", "C-d")
		if res := r.wait(run); string(res.Stdout.Head) != "ready\nline\nend\n" {
			t.Errorf("C-d at the end: stdout %q", res.Stdout.Head)
		}
	})
}

// TestTerminal: all streams are the terminal, the output is recorded to the byte, the shell's state is carried over,
// and the next command is an ordinary one.
func TestTerminal(t *testing.T) {
	all(t, true, func(t *testing.T, _ testTarget, r *rig) {
		r.run("export V=kept; echo before")
		var mu sync.Mutex
		live := ""
		run := r.start(tmux.Spec{
			Mode: tmux.Terminal, Command: "test -t 0 && test -t 1 && test -t 2 && echo all $V; stty size; echo err >&2; cd /; export W=new; exit 5",
			Output: func(_ string, p []byte, _ int64) { mu.Lock(); live += string(p); mu.Unlock() },
		})
		res := r.wait(run)
		const want = "all kept\r\n40 120\r\nerr\r\n"
		if res.ExitCode != 5 || string(res.Stdout.Head) != want || res.Stderr.Total != 0 || res.Fault != "" {
			t.Errorf("exit %d, stdout %q, stderr %q, fault %q", res.ExitCode, res.Stdout.Head, res.Stderr.Head, res.Fault)
		}
		mu.Lock()
		if live != want {
			t.Errorf("live output %q", live)
		}
		mu.Unlock()
		wantFile(t, res.Stdout.Path, want)
		r.want("pwd; echo $W; test -t 0 || test -t 1 || echo apart", "/\nnew\napart\n")
	})
}

// TestTerminalAnswers: a person or send-keys types, single keys and control characters
// reach a full-screen program, and the screen is as before at its end.
func TestTerminalAnswers(t *testing.T) {
	all(t, true, func(t *testing.T, _ testTarget, r *rig) {
		r.run("echo 'on the main screen'")
		const program = `old=$(stty -g); stty raw -echo; printf '\033[?1049h\033[2J\033[HFULL''SCREEN'; k=$(dd bs=1 count=1 2>/dev/null); c=$(dd bs=1 count=1 2>/dev/null); stty "$old"; printf '\033[?1049l'; [ "$c" = "$(printf '\003')" ] && echo keys $k C-c`
		run := r.start(tmux.Spec{Mode: tmux.Terminal, Command: program})
		r.untilScreen("FULLSCREEN")
		if s := r.screen(); strings.Contains(s, "main screen") {
			t.Errorf("not the other screen:\n%s", s)
		}
		r.srv.Tmux("send-keys", "-t", r.Pane(), "q", "C-c")
		if res := r.wait(run); res.ExitCode != 0 || !strings.HasSuffix(string(res.Stdout.Head), "keys q C-c\r\n") {
			t.Errorf("exit %d, stdout %q", res.ExitCode, res.Stdout.Head)
		}
		r.untilScreen("on the main screen\n")
		run = r.start(tmux.Spec{Mode: tmux.Terminal, Command: "stty -echo; printf 'Pass''word: '; read x; stty echo; echo; echo ${#x}"})
		r.untilScreen("Password:")
		r.srv.Tmux("send-keys", "-t", r.Pane(), "-l", "s3cret")
		r.srv.Tmux("send-keys", "-t", r.Pane(), "Enter")
		if res := r.wait(run); string(res.Stdout.Head) != "Password: \r\n6\r\n" {
			t.Errorf("stdout %q", res.Stdout.Head)
		}
	})
}

// TestTerminalKilled: a full-screen program that dies leaves a sane screen and terminal.
func TestTerminalKilled(t *testing.T) {
	all(t, true, func(t *testing.T, _ testTarget, r *rig) {
		r.run("echo 'on the main screen'")
		run := r.start(tmux.Spec{Mode: tmux.Terminal, Command: `stty raw -echo; printf '\033[?1049h\033[?25l\033[31mrea''dy'; kill -9 $$`})
		if res := r.wait(run); res.ExitCode != 137 || !strings.HasSuffix(string(res.Stdout.Head), "ready") {
			t.Errorf("exit %d, stdout %q", res.ExitCode, res.Stdout.Head)
		}
		r.want("echo one; echo two", "one\ntwo\n")
		r.untilScreen("one\ntwo")
		if s := r.screen(); !strings.Contains(s, "on the main screen\n") || strings.Contains(s, "ready") {
			t.Errorf("the screen is\n%s", s)
		}
	})
}

// TestTerminalCancel: cancelling works in mode tty.
func TestTerminalCancel(t *testing.T) {
	all(t, true, func(t *testing.T, at testTarget, r *rig) {
		for _, c := range cancelCases {
			if c.name == "its jobs" || (at.ssh || at.name == "container") && c.min > 0 { // the end of a terminal ends them; slow, and as for sh
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				r.t = t
				run := r.start(tmux.Spec{Mode: tmux.Terminal, Command: c.cmd})
				r.untilOutput("ready")
				if strings.Contains(c.cmd, "sleep 1000") {
					untilProcess(t, "sleep 1000", r.dir)
				}
				began := time.Now()
				run.Cancel()
				res := r.wait(run)
				if took := time.Since(began); !res.Cancelled || res.ExitCode != c.code || took < c.min || took > c.max+20*time.Second {
					t.Errorf("after %v: exit %d, want %d between %v and %v", took, res.ExitCode, c.code, c.min, c.max)
				}
				r.want("echo on", "on\n")
			})
		}
	})
}

// TestTerminalLarge: 5 MB are complete; of those of a target the first 4 MiB and the last 64 KiB are at least.
func TestTerminalLarge(t *testing.T) {
	inEachPane(t, func(t *testing.T, r *rig) {
		const size = 5_000_000
		line := bytes.Repeat([]byte("0123456789"), 100)
		whole := append(bytes.Repeat(append(line, '\r', '\n'), size/1002+1)[:size/1002*1002], "last\r\n"...)
		res := r.wait(r.start(tmux.Spec{Mode: tmux.Terminal, Command: "x=0123456789; x=$x$x$x$x$x$x$x$x$x$x; x=$x$x$x$x$x$x$x$x$x$x; yes $x | head -n " + itoa(size/1002) + "; echo last; exit 9"}))
		if res.ExitCode != 9 || res.Stdout.Total != int64(len(whole)) || res.Fault != "" {
			t.Fatalf("exit %d, %d bytes, want %d; fault %q", res.ExitCode, res.Stdout.Total, len(whole), res.Fault)
		}
		recordedWell(t, res.Stdout, whole, r.opt.Host != nil && res.Stdout.Gap > 0)
	})
}

// TestTerminalForged: the marks of another command, and half of our own, count as output.
func TestTerminalForged(t *testing.T) {
	inEachPane(t, func(t *testing.T, r *rig) {
		res := r.wait(r.start(tmux.Spec{Mode: tmux.Terminal, Command: `printf '\033]7717;00;start\007\033]7717;00;0\007\033]7717;'; exit 3`}))
		if res.ExitCode != 3 || string(res.Stdout.Head) != "\x1b]7717;00;start\a\x1b]7717;00;0\a\x1b]7717;" {
			t.Errorf("exit %d, stdout %q", res.ExitCode, res.Stdout.Head)
		}
		r.want("echo on", "on\n")
	})
}

// TestTerminalBackground: a background job of a tty command delays nothing.
func TestTerminalBackground(t *testing.T) {
	inEachPane(t, func(t *testing.T, r *rig) {
		run := r.start(tmux.Spec{Mode: tmux.Terminal, Command: "(trap '' HUP; touch deaf; until [ -e go ]; do sleep 0.02; done; echo late; touch late) & until [ -e deaf ]; do sleep 0.02; done; echo now"})
		if res := r.wait(run); string(res.Stdout.Head) != "now\r\n" {
			t.Errorf("stdout %q", res.Stdout.Head)
		}
		r.want("echo next", "next\n")
		r.letGo()
		r.want("until [ -e late ]; do sleep 0.02; done", "") // otherwise it outlives the test
	})
}

// TestTerminalResized: the program gets the new size of the pane.
func TestTerminalResized(t *testing.T) {
	inEachPane(t, func(t *testing.T, r *rig) {
		run := r.start(tmux.Spec{Mode: tmux.Terminal, Command: "trap 'stty size; touch resized' WINCH; echo ready; until [ -e resized ]; do sleep 0.02; done"})
		r.untilOutput("ready")
		if ok, err := r.Fit(t.Context(), "", 90, 30); !ok || err != nil {
			t.Fatalf("Fit = %v, %v", ok, err)
		}
		if res := r.wait(run); !strings.Contains(string(res.Stdout.Head), "30 90\r\n") {
			t.Errorf("stdout %q", res.Stdout.Head)
		}
	})
}

// TestTerminalReattach: a program that outlives us is followed again.
func TestTerminalReattach(t *testing.T) {
	inEachPane(t, func(t *testing.T, r *rig) {
		r.run("true")
		r.start(tmux.Spec{Mode: tmux.Terminal, Command: "echo first; while [ ! -e go ]; do sleep 0.02; done; echo second; exit 5"})
		dir := filepath.Join(r.dir, "cmds", itoa(r.n))
		r.untilOutput("first")
		if _, err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.Session = tmux.New(r.opt)
		r.closeAtEnd()
		again, err := r.Reattach(t.Context(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.letGo()
		if res := r.wait(again); res.ExitCode != 5 || string(res.Stdout.Head) != "first\r\nsecond\r\n" {
			t.Errorf("exit %d, stdout %q", res.ExitCode, res.Stdout.Head)
		}
	})
}

// TestTerminalSupervisorKilled: nothing hangs, and the pane works again.
func TestTerminalSupervisorKilled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.start(tmux.Spec{Mode: tmux.Terminal, Command: "echo first; sleep 1000"})
	r.untilOutput("first")
	if err := syscall.Kill(r.supervisor(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if res, err := run.Wait(t.Context()); !errors.Is(err, tmux.ErrLost) || string(res.Stdout.Head) != "first\r\n" {
		t.Errorf("Wait: %+v, %v", res, err)
	}
	r.want("echo on", "on\n")
}

// TestTerminalOwn: the same in its own pane.
func TestTerminalOwn(t *testing.T) {
	inEachPane(t, func(t *testing.T, r *rig) {
		r.run("export V=kept")
		run := r.start(tmux.Spec{Mode: tmux.Terminal, Own: true, Command: "echo $V; read x; echo got $x; exit 6"})
		r.untilOutput("kept")
		if _, err := r.Keys(t.Context(), run.Pane(), "answer", []string{"Enter"}); err != nil {
			t.Fatal(err)
		}
		if res := r.wait(run); res.ExitCode != 6 || string(res.Stdout.Head) != "kept\r\nanswer\r\ngot answer\r\n" {
			t.Errorf("exit %d, stdout %q", res.ExitCode, res.Stdout.Head)
		}
	})
}

// TestModesRefused: without a pane nobody could type, and no other mode is known.
func TestModesRefused(t *testing.T) {
	all(t, false, func(t *testing.T, at testTarget, r *rig) {
		for _, mode := range []tmux.Mode{tmux.Prompted, tmux.Terminal, "other"} {
			if at.tmux && mode != "other" {
				continue
			}
			_, err := r.Start(t.Context(), tmux.Spec{Dir: r.newDir(), Mode: mode, Command: "echo ran >ran"})
			_, ok := errors.AsType[*pane.RefusedError](err)
			if !ok || !strings.Contains(err.Error(), `mode "`+string(mode)+`"`) {
				t.Errorf("mode %q: %v", mode, err)
			}
		}
		r.want("ls ran 2>/dev/null || echo none", "none\n")
	})
}

// TestVim: an editor, closed and killed.
func TestVim(t *testing.T) {
	inEachPane(t, func(t *testing.T, r *rig) {
		if r.run("command -v vim").ExitCode != 0 {
			t.Skip("vim is not installed there")
		}
		r.run("echo 'on the main screen'; printf 'one\\ntwo\\n' >text")
		run := r.start(tmux.Spec{Mode: tmux.Terminal, Command: "vim -u NONE -i NONE -n text"})
		r.untilScreen("one\ntwo\n~")
		r.srv.Tmux("send-keys", "-t", r.Pane(), "A", " more", "Escape", ":wq", "Enter")
		if res := r.wait(run); res.ExitCode != 0 || res.Fault != "" {
			t.Errorf("exit %d, fault %q", res.ExitCode, res.Fault)
		}
		r.want("cat text", "one more\ntwo\n")
		run = r.start(tmux.Spec{Mode: tmux.Terminal, Command: "vim -u NONE -i NONE -n text"})
		r.untilScreen("one more\ntwo\n~")
		run.Cancel() // Ctrl-C does not end it
		if res := r.wait(run); !res.Cancelled || res.ExitCode == 0 {
			t.Errorf("cancelled: %+v", res)
		}
		r.untilScreen("on the main screen\n")
		r.want("echo on", "on\n")
	})
}

// TestHuge: 1 GiB of output does not delay the command, nor fill memory or more of the disk than its limit.
func TestHuge(t *testing.T) {
	if testing.Short() {
		t.Skip("floods a real tmux")
	}
	t.Parallel()
	r := newRig(t)
	r.opt.Whole = 4 << 20
	r.Session = tmux.New(r.opt)
	r.closeAtEnd()
	res := r.run("head -c 1073741824 /dev/zero; exit 3")
	if res.ExitCode != 3 || res.Stdout.Total != 1<<30 || res.Stdout.Gap != 1<<30-4<<20-pane.TailMax {
		t.Errorf("exit %d, %d bytes, %d of them not recorded", res.ExitCode, res.Stdout.Total, res.Stdout.Gap)
	}
	info, err := os.Stat(filepath.Join(r.dir, "cmds", itoa(r.n), "out"))
	if err != nil || info.Size() > 5<<20 || info.Size() != res.Stdout.Size() {
		t.Errorf("the file has %v, %v", info, err)
	}
}

// keys is a command whose program reads each key at once, like an editor.
func keys(waits string) string {
	return `python3 -c "import tty, select, socket, os; tty.setcbreak(0); other, _ = os.pipe(); ` + waits + `"`
}

// TestEditorsWaitForKeys: full-screen programs are reported as waiting for keys.
func TestEditorsWaitForKeys(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what a process waits for is seen on Linux only")
	}
	t.Parallel()
	for _, c := range []struct {
		mode    tmux.Mode
		command string
	}{
		{tmux.Terminal, "vim -u NONE -i NONE -n x"},
		{tmux.Terminal, "vi x"},
		{tmux.Terminal, "nano x"},
		{tmux.Terminal, "less /etc/services"},
		{tmux.Terminal, "emacs -nw -Q x"},
		{tmux.Capture, "vim -u NONE -i NONE -n x </dev/tty >/dev/tty"},
	} {
		t.Run(string(c.mode)+" "+c.command, func(t *testing.T) {
			t.Parallel()
			program, _, _ := strings.Cut(c.command, " ")
			if _, err := exec.LookPath(program); err != nil {
				t.Skip(err)
			}
			r := newRig(t)
			waits := make(chan bool, 8)
			run := r.start(tmux.Spec{Mode: c.mode, Command: c.command, Output: func(stream string, p []byte, _ int64) {
				if stream == pane.Keys {
					waits <- p[len(p)-1] == 1
				}
			}})
			select {
			case <-waits:
				run.Cancel()
			case <-run.Done():
				t.Error("it ended")
			}
			r.wait(run)
		})
	}
}

// TestWaitsForKeys: a silent command that reads the terminal, or asks there for a password, is reported as waiting for
// keys until it gets them; a slow one is not.
func TestWaitsForKeys(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what a process waits for is seen on Linux only")
	}
	t.Parallel()
	for _, c := range []struct {
		mode    tmux.Mode
		command string
		waits   bool
	}{
		{tmux.Prompted, "printf 'Name''? ' >&2; read x; sleep 2", true},
		{tmux.Capture, "printf 'Name''? ' >/dev/tty; sh -c 'read x </dev/tty'; sleep 2", true},
		{tmux.Terminal, "stty -echo; printf 'Name''? '; read x; stty echo; sleep 2", true},
		{tmux.Terminal, keys("select.select([0, other], [], [])") + "; sleep 2", true},
		{tmux.Terminal, keys("p = select.poll(); p.register(0, select.POLLIN); p.register(other, select.POLLIN); p.poll()") + "; sleep 2", true},
		{tmux.Terminal, keys("p = select.epoll(); p.register(0, select.EPOLLIN); p.register(other, select.EPOLLIN); p.poll()") + "; sleep 2", true},
		{tmux.Prompted, "printf 'Name''? ' >&2; sleep 4", false},
		{tmux.Terminal, keys("select.select([0, other], [], [], 4)"), false},
		{tmux.Terminal, keys("select.select([other], [], [], 4)"), false},
		{tmux.Terminal, "timeout --foreground 4 " + keys("s = socket.create_server(('127.0.0.1', 0)); select.select([0, s], [], [])") + "; true", false},
	} {
		t.Run(string(c.mode)+" "+c.command, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("python3"); err != nil && strings.Contains(c.command, "python3") {
				t.Skip(err)
			}
			r := newRig(t)
			waits := make(chan bool, 8)
			run := r.start(tmux.Spec{Mode: c.mode, Command: c.command, Output: func(stream string, p []byte, _ int64) {
				if stream == pane.Keys {
					waits <- p[len(p)-1] == 1
				}
			}})
			if c.waits {
				if got := <-waits; !got {
					t.Error("it waits no longer before it did")
				}
				r.srv.Tmux("send-keys", "-t", r.Pane(), "Enter")
				if got := <-waits; got {
					t.Error("it still waits after the key")
				}
			}
			res := r.wait(run)
			if len(waits) > 0 || bytes.ContainsAny(append(res.Stdout.Head, res.Stderr.Head...), "\x00\x01") {
				t.Errorf("%d more, stdout %q, stderr %q", len(waits), res.Stdout.Head, res.Stderr.Head)
			}
		})
	}
}

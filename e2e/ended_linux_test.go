package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"buddy/tmux/host/hosttest"
	"buddy/tmux/tmuxtest"
)

// TestEndedFromOutside: a closed terminal and SIGTERM do not cancel the task, nor do SIGINT and SIGQUIT on the screen.
// The command continues in its pane, the session records no end, and a resumed session has the whole output. A task
// started on the screen continues to its end without it.
func TestEndedFromOutside(t *testing.T) {
	const command = "run echo first; until test -e go; do sleep 0.02; done; echo last"
	modes := map[string]func(t *testing.T, more ...string) *dialog{
		"exec": func(t *testing.T, more ...string) *dialog {
			return converse(t, "xterm-256color", append(append([]string{"exec", "--model", "demo", "--approve", "all"}, more...), command)...)
		},
		"plain": func(t *testing.T, more ...string) *dialog {
			d := converse(t, "xterm-256color", append([]string{"--plain", "--model", "demo", "--approve", "all"}, more...)...)
			d.want("> ")
			d.types(command + "\r")
			return d
		},
		"screen": func(t *testing.T, more ...string) *dialog {
			d := converse(t, "xterm-256color", append([]string{"--model", "demo", "--approve", "all"}, more...)...)
			d.want("F1")
			d.types(command + "\r")
			return d
		},
	}
	ends := map[string]func(d *dialog){
		"closed": func(d *dialog) { _ = d.master.Close() },
		"term":   func(d *dialog) { _ = d.cmd.Process.Signal(syscall.SIGTERM) },
		"int":    func(d *dialog) { _ = d.cmd.Process.Signal(syscall.SIGINT) },
		"quit":   func(d *dialog) { _ = d.cmd.Process.Signal(syscall.SIGQUIT) },
	}
	codes := map[string]int{"closed": 129, "term": 143, "int": 130, "quit": 131}
	check := func(t *testing.T, d *dialog, mode, how, folder string, more ...string) {
		tmuxtest.Until(t, "the command runs", func() bool { return strings.Contains(d.output(), "first") })
		ends[how](d)
		if code := d.code(); code != codes[how] {
			t.Errorf("exit code %d, want %d", code, codes[how])
		}
		if how != "closed" && strings.Contains(d.printed(), "\x1b[?1049h") { // its last output may be read a moment later
			tmuxtest.Until(t, "the terminal is given back, and a line says how to come back", func() bool {
				_, after, ok := strings.Cut(d.printed(), "\x1b[?1049l")
				return ok && strings.Contains(after, "Come back with: buddy attach")
			})
		}
		for _, word := range []string{`"task.finished"`, `"interrupted"`, `"tool.result"`, "cancelled"} {
			if journal := d.journal(); strings.Contains(journal, word) {
				t.Errorf("the session has %s:\n%s", word, journal)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if mode == "screen" {
			tmuxtest.Until(t, "the exchange ends", func() bool { return strings.Contains(d.journal(), `"task.finished"`) })
			if journal := d.journal(); !strings.Contains(journal, `"outcome":"completed"`) || !strings.Contains(journal, `first\nlast`) {
				t.Errorf("the exchange did not complete:\n%s", journal)
			}
			d.stop()
			return
		}
		again := exec.Command("buddy", append(append([]string{"exec", "--model", "demo", "--json"}, more...), "--resume", "last", "help")...)
		again.Dir, again.Env = d.work, d.cmd.Env
		if out, err := again.CombinedOutput(); err != nil || !strings.Contains(string(out), `first\nlast`) {
			t.Errorf("resuming: %v, %s", err, out)
		}
	}
	for mode, start := range modes {
		for how := range ends {
			if mode != "screen" && (how == "int" || how == "quit") {
				continue // without a screen they cancel
			}
			t.Run(mode+" "+how, func(t *testing.T) {
				t.Parallel()
				d := start(t)
				check(t, d, mode, how, d.work)
			})
		}
		t.Run(mode+" over ssh", func(t *testing.T) {
			t.Parallel()
			s := hosttest.NewSSHD(t, "")
			there := folder(t, s.Dir)
			more := []string{"--ssh", s.Dest, "--ssh-config", s.Config, "-C", there}
			check(t, start(t, more...), mode, "closed", there, more...)
		})
	}
}

// TestInterruptedEditor: Ctrl+C in a program that temporarily replaces the screen ends only that program.
func TestInterruptedEditor(t *testing.T) {
	d := newDialog(t, "xterm-256color")
	// read is a shell builtin: dash can lose a signal that arrives while it starts a program.
	d.cmd.Env = append(d.cmd.Env, "VISUAL=echo instead; read line; :")
	d.start("--model", "demo")
	d.want("F1")
	d.types("\x07")
	d.want("instead")
	d.types("\x03")
	d.want("\x1b[?1049h", "signal: interrupt")
	d.types("\x04")
	if code := d.code(); code != 0 {
		t.Errorf("exit code %d, want 0: %q", code, d.printed())
	}
}

// TestTerminalClosedOverAnApproval: closing the terminal does not deny.
func TestTerminalClosedOverAnApproval(t *testing.T) {
	for mode, args := range map[string][]string{
		"exec":   {"exec", "--model", "demo", "run touch a.txt"},
		"plain":  {"--plain", "--model", "demo"},
		"dumb":   {"--plain", "--model", "demo"},
		"screen": {"--model", "demo"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			terminal := "xterm-256color"
			if mode == "dumb" {
				terminal = mode
			}
			d := converse(t, terminal, args...)
			if mode != "exec" {
				d.want(map[string]string{"plain": "> ", "dumb": "> ", "screen": "F1"}[mode])
				d.types("run touch a.txt\r")
			}
			tmuxtest.Until(t, "it is asked", func() bool { return strings.Contains(d.journal(), `"approval.asked"`) })
			_ = d.master.Close()
			d.code()
			if journal := d.journal(); strings.Contains(journal, `"approval.answered"`) || strings.Contains(journal, `"tool.result"`) {
				t.Errorf("the session has an answer:\n%s", journal)
			}
			if mode == "screen" {
				d.stop()
			}
		})
	}
}

// TestKilledOverSSH: the processes that connect a killed program to its target end by themselves, even when the target
// does not respond.
func TestKilledOverSSH(t *testing.T) {
	s := hosttest.NewSSHD(t, "")
	there := folder(t, s.Dir)
	d := converse(t, "xterm-256color", "exec", "--model", "demo", "--approve", "all", "--ssh", s.Dest, "--ssh-config", s.Config, "-C", there,
		"run echo first; until test -e go; do sleep 0.02; done")
	tmuxtest.Until(t, "the command runs", func() bool { return strings.Contains(d.output(), "first") })
	clients := sshWith(s.Config)
	dirs := map[string]bool{}
	for _, argv := range clients {
		if i := slices.Index(argv, "-S"); i >= 0 {
			dirs[filepath.Dir(argv[i+1])] = true
		}
	}
	if len(clients) < 3 || len(dirs) != 1 {
		t.Fatalf("clients %q, folders %v", clients, dirs)
	}
	_ = d.cmd.Process.Kill()
	d.code()
	tmuxtest.Until(t, "all of them have ended", func() bool { return len(sshWith(s.Config)) == 0 })
	for dir := range dirs {
		tmuxtest.Until(t, dir+" is removed", func() bool { _, err := os.Stat(dir); return errors.Is(err, os.ErrNotExist) })
	}
	if err := os.WriteFile(filepath.Join(there, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// sshWith returns the command lines of the processes with an argument.
func sshWith(argument string) (all [][]string) {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if argv := strings.Split(string(text), "\x00"); err == nil && slices.Contains(argv, argument) && !slices.Contains(argv, "exec") {
			all = append(all, argv)
		}
	}
	return all
}

// code waits for the end of the program and returns its exit code.
func (d *dialog) code() int {
	d.t.Helper()
	late := time.AfterFunc(plainLimit, func() { _ = d.cmd.Process.Kill() })
	defer late.Stop()
	var e *exec.ExitError
	if err := d.cmd.Wait(); err != nil && !errors.As(err, &e) {
		d.t.Fatal(err)
	}
	return d.cmd.ProcessState.ExitCode()
}

// printed returns everything read from the terminal so far.
func (d *dialog) printed() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.String()
}

// journal returns the contents of the session's file, "" before it exists.
func (d *dialog) journal() string { return d.read("*.jsonl") }

// stop ends the session that continues without a screen.
func (d *dialog) stop() {
	d.t.Helper()
	stop := exec.Command("buddy", "stop", d.session())
	stop.Dir, stop.Env = d.work, d.cmd.Env
	if out, err := stop.CombinedOutput(); err != nil {
		d.t.Errorf("stopping: %v, %s", err, out)
	}
}

// session returns the id of the session.
func (d *dialog) session() string {
	d.t.Helper()
	paths, err := filepath.Glob(filepath.Join(d.work, ".buddyx/sessions/*.jsonl"))
	if err != nil || len(paths) != 1 {
		d.t.Fatalf("sessions %q, %v", paths, err)
	}
	return strings.TrimSuffix(filepath.Base(paths[0]), ".jsonl")
}

// output returns the output of the first command so far.
func (d *dialog) output() string { return d.read("*/out/000001/out") }

func (d *dialog) read(pattern string) string {
	d.t.Helper()
	paths, err := filepath.Glob(filepath.Join(d.work, ".buddyx/sessions", pattern))
	if err != nil || len(paths) == 0 {
		return ""
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

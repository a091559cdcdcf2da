package statusline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"buddy/tmux/pane/confine"
	"buddy/tmux/tmuxtest"
)

// runner returns a runner in a temporary folder, with a secret in its environment.
func runner(t *testing.T) *Runner {
	t.Helper()
	r := New(Options{Dir: t.TempDir(), Env: append(os.Environ(), "SHOP_TOKEN=hunter2")})
	r.most = time.Hour
	t.Cleanup(r.sandbox.close)
	return r
}

// confines skips a test on a system without the read-only sandbox.
func confines(t *testing.T) {
	t.Helper()
	if err := confine.Possible(); err != nil {
		t.Skip(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // a script
		t.Fatal(err)
	}
}

// TestExecute: which line is shown, and which error, with the sandbox and without.
func TestExecute(t *testing.T) {
	confines(t)
	r := runner(t)
	for _, confined := range []bool{false, true} {
		for _, c := range []struct{ command, line, err string }{
			{"cat", `{"a":1}`, ""},
			{"true", "", ""},
			{`printf 'one\r\ntwo\n'`, "one", ""},
			{"echo one; sleep 60 >/dev/null &", "one", ""},
			{"echo one; sleep 60 &", "one", ""},
			{"yes", "y", ""},
			{"head -c 100000 /dev/zero | tr '\\0' x", strings.Repeat("x", maxLine) + "…", ""},
			{"echo one; echo why >&2; echo 'no such file' >&2; exit 3", "", "exit code 3: no such file"},
			{"kill -9 $$", "", "signal: killed"},
			{"no-such-program", "", "exit code 127: "},
		} {
			line, err := r.execute(t.Context(), Command{c.command, confined}, []byte("{\"a\":1}\n"))
			if line != c.line || (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
				t.Errorf("%q (confined: %v): %.60q, %v", c.command, confined, line, err)
			}
		}
	}
}

// TestSlow: a command that does not end is killed after two seconds, or with the screen, with all its processes.
func TestSlow(t *testing.T) {
	confines(t)
	for i, c := range []struct {
		confined, left bool
	}{{false, false}, {true, false}, {false, true}, {true, true}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			t.Parallel()
			ctx, leave := context.WithCancel(t.Context())
			mark := fmt.Sprintf("61.%d", time.Now().UnixNano()/10*10+int64(i)) // finds the processes
			done := make(chan error)
			r := runner(t)
			if !c.left {
				r.most = most
			}
			began := time.Now()
			go func() {
				_, err := r.execute(ctx, Command{"trap '' TERM; echo early; sleep " + mark + " & sleep " + mark, c.confined}, nil)
				done <- err
			}()
			if c.left {
				tmuxtest.Until(t, "both processes run", func() bool { return len(running(t, mark)) == 2 })
				leave()
			}
			err := <-done
			if took := time.Since(began); !c.left && (took < 2*time.Second || err == nil || err.Error() != "it did not end within 2 s") {
				t.Errorf("after %v: %v", took, err)
			}
			if pids := running(t, mark); len(pids) > 0 {
				t.Errorf("still running: %v", pids)
			}
			leave()
		})
	}
}

// running returns the processes with an argument.
func running(t *testing.T, arg string) (pids []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, _ := os.ReadFile(file) // it may have ended
		if strings.Contains(string(text), "sleep\x00"+arg+"\x00") {
			pids = append(pids, filepath.Dir(file))
		}
	}
	return pids
}

// TestConfined: in the sandbox, a script can read the folder and run, but write nothing and see no secret. Without it,
// each of these works.
func TestConfined(t *testing.T) {
	confines(t)
	r := runner(t)
	script := filepath.Join(t.TempDir(), "line.sh")
	hidden := filepath.Join(t.TempDir(), "other")
	write(t, hidden, "other\n")
	write(t, filepath.Join(r.options.Dir, "here"), "here\n")
	for _, c := range []struct{ what, script, inside, outside string }{
		{"reads the folder", "cat here", "here", "here"},
		{"other files of the person", "cat " + hidden + " 2>/dev/null || echo no", "no", "other"},
		{"writes", "echo x 2>/dev/null >new && echo wrote || echo no", "no", "wrote"},
		{"variables with secrets", `echo "${SHOP_TOKEN-no}"`, "no", "hunter2"},
		{"its own script", "cat " + script + " | head -n 1", "#!/bin/sh", "#!/bin/sh"},
		{"signals", "kill -0 " + strconv.Itoa(os.Getpid()) + " 2>/dev/null && echo could || echo no", "no", "could"},
	} {
		for confined, want := range map[bool]string{true: c.inside, false: c.outside} {
			write(t, script+".new", "#!/bin/sh\n"+c.script+"\n")
			if err := os.Rename(script+".new", script); err != nil { // as editors do: the sandbox must follow
				t.Fatal(err)
			}
			if got, err := r.execute(t.Context(), Command{script, confined}, nil); got != want || err != nil {
				t.Errorf("%s (confined: %v): %q, %v, want %q", c.what, confined, got, err, want)
			}
		}
	}
}

// TestNoTerminal: the command can't reach the terminal past the status line.
func TestNoTerminal(t *testing.T) {
	line, err := runner(t).execute(t.Context(), Command{Line: "(: >/dev/tty) 2>/dev/null && echo terminal || echo none"}, nil)
	if line != "none" || err != nil {
		t.Error(line, err)
	}
}

// TestImpossible: without a sandbox the command does not run, and the error names the setting.
func TestImpossible(t *testing.T) {
	r := runner(t)
	r.options.Dir = os.TempDir() // a sandbox can't hide its own folder
	_, err := r.execute(t.Context(), Command{"true", true}, nil)
	if !errors.Is(err, confine.ErrImpossible) || !strings.Contains(err.Error(), "status_sandbox = false") {
		t.Error(err)
	}
}

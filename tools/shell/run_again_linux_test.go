package shell

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buddy/tmux"
	"buddy/tmux/pane"
	"buddy/tmux/pane/confine"
	"buddy/tmux/pane/fence"
	"buddy/tmux/tmuxtest"
	"buddy/tools"
)

// A command that the read-only sandbox stopped runs again in the workspace sandbox, from its first folder and with a
// note; other commands do not. The test uses the real kernel.
func TestStoppedCommandRunsInTheFence(t *testing.T) {
	srv, dir := tmuxtest.New(t), t.TempDir()
	settings := fence.Settings{Work: []string{dir}}
	if err := errors.Join(confine.Possible(), fence.Available(settings, srv.Env)); err != nil {
		t.Skip(err)
	}
	sub := filepath.Join(dir, "sub")
	if err := errors.Join(os.Mkdir(sub, 0o700), os.WriteFile(filepath.Join(sub, "f"), []byte("new\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	o := tmux.Options{Socket: srv.Socket, Session: "t", Exe: os.Args[0], Greeting: pane.Greeting{Env: srv.Env, Cwd: dir, Reach: confine.Reach{Read: []string{dir}}, Fence: &settings}}
	panes := tmux.New(o)
	t.Cleanup(func() {
		if _, err := panes.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	shell := New(panes, nil, "local", dir, nil)
	confined := func(command string) tools.Call {
		c := shellCall(t, command)
		c.Free, c.Confined, c.Planned.Cwd = true, true, shell.Cwd()
		return c
	}
	call := confined(`cd sub && awk '{print > "x"}' f`)
	if res := shell.Run(t.Context(), call); !res.Stopped || res.ExitCode == nil || *res.ExitCode == 0 || res.Took <= 0 {
		t.Errorf("in the read-only sandbox: %+v", res)
	}
	if files, _ := os.ReadDir(sub); len(files) != 1 || shell.Cwd() != sub {
		t.Errorf("it left %v, and the shell in %s", files, shell.Cwd())
	}
	fenced := func(spent time.Duration) tools.Result {
		again := call
		again.Free, again.Confined, again.Fenced, again.Dir, again.Spent = false, false, true, filepath.Join(t.TempDir(), "out"), spent
		return shell.Run(t.Context(), again)
	}
	if res := fenced(0); res.Stopped || !strings.Contains(res.Content, "sub: No such file or directory") {
		t.Errorf("in the fence, from where the first run ended: %+v", res)
	}
	if res := fenced(time.Millisecond); res.IsError || *res.ExitCode != 0 || res.Stopped {
		t.Errorf("in the fence: %+v", res)
	}
	if text, err := os.ReadFile(filepath.Join(sub, "x")); string(text) != "new\n" || shell.Cwd() != sub {
		t.Errorf("it left %q (%v), and the shell in %s", text, err, shell.Cwd())
	}
	for command, want := range map[string]bool{
		"sed -n 'w y' f":               true,
		"sed -n 'w y' f; true":         false, // it succeeded
		"grep none f":                  false, // the sandbox refused nothing
		"cat /etc/shadow":              false, // the workspace sandbox allows no more reads
		"exec 3<>/dev/tcp/127.0.0.1/9": true,
	} {
		if res := shell.Run(t.Context(), confined(command)); res.Stopped != want {
			t.Errorf("%s: stopped %v, want %v: %s", command, res.Stopped, want, res.Content)
		}
	}
	slow := shellCall(t, "sleep 60")
	slow.Arguments = strings.Replace(slow.Arguments, "{", `{"wait":"30s",`, 1)
	slow.Fenced, slow.Spent = true, 29500*time.Millisecond
	if res := shell.Run(t.Context(), slow); !strings.Contains(res.Content, "did not end within 1s") {
		t.Errorf("after a first run that took nearly all the time to wait: %s", res.Content)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if res := shell.Run(ctx, confined("sed -n 'w y' f; sleep 60")); res.Stopped || !strings.Contains(res.Content, "Permission denied") {
		t.Errorf("cancelled: %+v", res)
	}
	released := make(chan struct{})
	close(released)
	call = confined("sed -n 'w y' f")
	call.Release = released
	if res := shell.Run(t.Context(), call); res.Stopped {
		t.Errorf("sent to the background: %+v", res)
	}
}

package shell

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"buddy/tmux"
	"buddy/tmux/host/hosttest"
	"buddy/tmux/pane"
	"buddy/tools"
)

// TestRunShellOnLostTarget: a command that is cancelled while its target is unreachable has no exit code, and the next
// one runs when the target is back.
func TestRunShellOnLostTarget(t *testing.T) {
	c := hosttest.NewContainer(t, hosttest.NoTmux)
	h := c.Host(t)
	o := tmux.Options{Session: "t", Host: h, Greeting: pane.Greeting{Cwd: "/"}}
	panes, plain := tmux.New(o), tmux.NewPlain(o)
	defer func() {
		for _, s := range []*tmux.Session{panes, plain} {
			if _, err := s.Close(context.Background()); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
	}()
	warned := ""
	tool := New(panes, plain, h.Name(), "/", func(text string) { warned += text })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	call := func(command string) tools.Call {
		return tools.Call{Name: "run_shell", Dir: filepath.Join(t.TempDir(), "1"), Arguments: `{"command":"` + command + `","why":"a test","risk":"low","mutation":false,"privesc":false}`}
	}
	lost := call("echo first; sleep 1000")
	lost.Output = func(tools.Chunk) {
		c.Stop(t)
		cancel()
	}
	if act, err := tool.Plan(lost); err != nil || act.Target != h.Name() || act.Cwd != "/" {
		t.Errorf("Plan = %+v, %v", act, err)
	}
	if res := tool.Run(ctx, lost); res.ExitCode != nil || !res.IsError || !strings.Contains(res.Content, "not known") || !strings.Contains(res.Content, "first") {
		t.Errorf("Run = %+v", res)
	}
	if !strings.Contains(warned, "tmux is not installed on "+h.Name()) {
		t.Errorf("said %q", warned)
	}
	c.Start(t)
	if res := tool.Run(t.Context(), call("echo back")); res.IsError || !strings.Contains(res.Content, "back") {
		t.Errorf("Run = %+v", res)
	}
}

// TestNotStarted: the result never claims that a command was not started if it may have run.
func TestNotStarted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("no room"), "the command was not started: no room"},
		{context.Canceled, "the command was not started: interrupted"},
		{fmt.Errorf("%w: web (ssh): cut", tmux.ErrUnconfirmed), "it is not known whether the command was started: web (ssh): cut; look there before you run it again"},
	} {
		if res := notStarted("the command was not started", c.err); !res.IsError || !strings.HasSuffix(res.Content, ": "+c.want) || strings.Count(res.Content, "started") != 1 {
			t.Errorf("%v gave %q, want %q at its end", c.err, res.Content, c.want)
		}
		if res := notStarted("the pane was not created", c.err); strings.Contains(res.Content, "was not created") == errors.Is(c.err, tmux.ErrUnconfirmed) {
			t.Errorf("a pane with %v: %q", c.err, res.Content)
		}
	}
}

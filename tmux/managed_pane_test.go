package tmux

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"buddy/tmux/pane"
	"buddy/tmux/tmuxtest"
)

// losesClient is a supervisor whose control client is killed as soon as it is attached, a number of times.
type losesClient struct {
	supervisor
	srv   *server
	times int
}

func (l *losesClient) lockServer(ctx context.Context) func() {
	release := l.supervisor.lockServer(ctx)
	return func() {
		release()
		if ctl := l.srv.live(); ctl != nil && l.times > 0 {
			l.times--
			killClient(ctl)
		}
	}
}

func killClient(ctl *control) {
	_ = ctl.proc.Process.Kill()
	<-ctl.done
}

// TestClientThatEndsDuringTheStart: the start of a pane is retried once if its control client ends meanwhile, which
// happens when another program of the same user ends or starts the server at that moment.
func TestClientThatEndsDuringTheStart(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for times, want := range []string{"", "", "tmux is not available: tmux: the control client ended"} {
		srv := tmuxtest.New(t)
		s := New(Options{Socket: srv.Socket, Session: "t", Exe: exe, Greeting: pane.Greeting{Env: srv.Env, Cwd: srv.Dir}})
		t.Cleanup(func() { _, _ = s.Close(context.Background()) })
		run := func(name, command string) error {
			dir := filepath.Join(srv.Dir, name)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			started := filepath.Join(dir, "started")
			r, err := s.Start(t.Context(), Spec{Dir: dir, Command: "until test -e '" + started + "'; do sleep 0.01; done; " + command})
			if err == nil {
				if err := os.WriteFile(started, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				r.Wait(t.Context())
			}
			return err
		}
		if err := run("first", "kill -9 $PPID"); err != nil { // the supervisor, once it has said that the command runs; its pane stays
			t.Fatal(err)
		}
		killClient(s.srv.live())
		s.srv.sup = &losesClient{supervisor: s.srv.sup, srv: s.srv, times: times}
		switch err := run("second", "true"); {
		case want == "" && err != nil:
			t.Errorf("%d clients ended: %v", times, err)
		case want != "" && (err == nil || err.Error() != want):
			t.Errorf("%d clients ended: %v, want %s", times, err, want)
		}
	}
}

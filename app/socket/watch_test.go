package socket

import (
	"context"
	"slices"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/app/client"
)

// TestWithoutATerminal: a program without a terminal may only watch and stop, unless it knows the host's secret or the
// user's settings allow more. One with a terminal may do everything.
func TestWithoutATerminal(t *testing.T) {
	commands := []event.Command{
		event.Submit{Text: "x"},
		event.SetMode{Mode: "all"},
		event.CycleMode{},
		event.AnswerApproval{ID: "a", Decision: event.Once},
		event.AnswerApproval{ID: "a", Decision: event.Deny, Reason: "do x instead"},
		event.Answer{ID: "q", Text: "x"},
		event.PaneInput{Pane: "%1"},
		event.RunWorkflow{Name: "x"},
		event.SetTimeout{Duration: 1},
		event.FitPane{Pane: "%1", W: 9, H: 9},
		event.Undo{},
		event.Continue{},
		event.AnswerApproval{ID: "a", Decision: event.Deny},
		event.Cancel{Task: 1},
		event.KillPane{Pane: "%1"},
		event.WatchPanes{IDs: []string{"%1"}},
	}
	const allowed = 4 // at the end
	for _, tt := range []struct {
		name     string
		terminal string
		secret   string
		setting  bool
		watches  bool
	}{
		{"no terminal", "", "", false, true},
		{"a wrong secret", "", "guess", false, true},
		{"a terminal", "pts/3", "", false, false},
		{"the secret", "", "s3cret", false, false},
		{"the setting", "", "", true, false},
	} {
		h := listenWith(t, func(s *Server) {
			s.look = func(int) (process, error) { return process{terminal: tt.terminal}, nil }
			s.Secret, s.WithoutTerminal = "s3cret", tt.setting
		})
		c, err := Dial(h.path, Screen{Version: "1", Secret: tt.secret})
		if err != nil {
			t.Fatal(err)
		}
		hello, err := c.Hello(t.Context())
		if err != nil || hello.Watches != tt.watches {
			t.Errorf("%s: watches only: %v, %v", tt.name, hello.Watches, err)
		}
		for _, command := range commands {
			c.Send(command)
		}
		_, err = client.Ask[client.FilesReply](t.Context(), c, client.Files{Query: "a"}) // comes after them
		if (err != nil) != tt.watches {
			t.Errorf("%s: asks for files: %v", tt.name, err)
		}
		want := commands
		if tt.watches {
			want = commands[len(commands)-allowed:]
		}
		h.mu.Lock()
		if !slices.EqualFunc(h.told, want, func(a, b event.Command) bool { return nameOf(t, a) == nameOf(t, b) }) {
			t.Errorf("%s: the session was told %v", tt.name, h.told)
		}
		h.mu.Unlock()
		batches, err := c.Subscribe(t.Context(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		h.Publish(0, 0, event.Notice{Text: "seen"})
		select {
		case <-batches:
		case <-time.After(time.Minute):
			t.Errorf("%s: it sees no events", tt.name)
		}
		go func() {
			for range batches {
			}
		}()
		if _, err := client.Ask[client.CloseReply](t.Context(), c, client.Close{}); err != nil {
			t.Errorf("%s: it can't stop the session: %v", tt.name, err)
		}
		c.Close()
	}
}

// TestEnvironmentOfWatchers: a program that may only watch changes no variable of later commands, and does not count as
// attended.
func TestEnvironmentOfWatchers(t *testing.T) {
	for terminal, want := range map[string]bool{"pts/3": true, "": false} {
		screens := make(chan Screen, 1)
		h := listenWith(t, func(s *Server) {
			connect := s.Connect
			s.WithoutTerminal, s.look = false, func(int) (process, error) { return process{terminal: terminal}, nil }
			s.Connect = func(ctx context.Context, at Screen) client.Session { screens <- at; return connect(ctx, at) }
		})
		c, err := Dial(h.path, Screen{Version: "1", Env: map[string]string{"SSH_AUTH_SOCK": "/tmp/evil"}})
		if err != nil {
			t.Fatal(err)
		}
		if s := <-screens; (s.Env != nil) != want || s.Looks == want || s.Terminal != terminal {
			t.Errorf("terminal %q: %+v", terminal, s)
		}
		c.Close()
	}
}

func nameOf(t *testing.T, c event.Command) string {
	t.Helper()
	name, _, err := event.EncodeCommand(c)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

package ui

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/apptest"
	"buddy/app/keymap"
	"buddy/app/screen"
	"buddy/app/slash"
	"buddy/sessions"
	"buddy/themes"
	"buddy/views"
)

// recorded stores a session with events at given milliseconds after its start.
func recorded(t *testing.T) *sessions.Journal {
	t.Helper()
	store, _, err := sessions.Dir(t.TempDir(), sessions.Automatic)
	if err != nil {
		t.Fatal(err)
	}
	j, err := store.Create(sessions.Header{Cwd: "/home/ann/shop", Target: "local", Model: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	id := j.Info().Header.ID
	start := time.Now().UnixMilli()
	for i, e := range []struct {
		at int64
		is event.Event
	}{
		{0, event.SessionCreated{Cwd: "/home/ann/shop", Target: "local", Model: "demo"}},
		{0, event.PromptSubmitted{ID: 1, Text: "first question"}},
		{0, event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "first question"}},
		{4_000, event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: "first answer"}}},
		{4_100, event.ApprovalAsked{ID: "a1", CallID: "c1", Action: action.Action{Kind: action.Shell, Tool: "run_shell", Command: "rm x"}}},
		{5_100, event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Deny, By: "user"}},
		{3_600_000, event.TaskFinished{ID: 1, Outcome: event.Completed}},
		{3_600_000, event.PromptSubmitted{ID: 2, Text: "second question"}},
	} {
		if err := j.Append(event.Envelope{Seq: uint64(i + 1), Time: start + e.at, Session: id, Task: 1, Payload: e.is}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if j, err = store.View(id); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// replaying replays the recorded session in a synctest bubble.
func replaying(t *testing.T, speed float64) (*apptest.UI, *viewer) {
	t.Helper()
	theme, err := themes.Load("", "dark")
	if err != nil {
		t.Fatal(err)
	}
	j := recorded(t)
	events := func(show func(event.Envelope) bool) error { return j.Range(0, show) }
	var v *viewer
	ui := apptest.Start(t, 100, 30, func(ctx context.Context, s *screen.Screen) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		v = newViewer(s, Looks{Theme: theme, Header: views.Shown{Tokens: true}}, keymap.Default(), "", newPlayer(speed, 0), stop)
		v.loop.SetFocus(v.ui)
		v.loop.Go(func() { v.end(v.player.play(ctx, events, v.events)) })
		return v.loop.Run(ctx)
	})
	return ui, v
}

func unseen(t *testing.T, ui *apptest.UI, text string) {
	t.Helper()
	if strings.Contains(ui.Screen(), text) {
		t.Errorf("%q is on the screen:\n%s", text, ui.Screen())
	}
}

// A replay keeps the recorded pace, with waits of at most two seconds; it answers nothing and accepts no prompt.
func TestReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ui, v := replaying(t, 1)
		ui.Want("first question", "replay at 1×", "space pauses", "q quits")
		unseen(t, ui, "first answer")
		time.Sleep(1500 * time.Millisecond) // of the two seconds that four are cut to
		ui.Settle()
		unseen(t, ui, "first answer")
		time.Sleep(600 * time.Millisecond)
		ui.Settle()
		ui.Want("first answer", "rm x")

		ui.Type("yy") // answers no approval and types nothing
		time.Sleep(200 * time.Millisecond)
		ui.Settle()
		ui.Want("Run this command?")
		time.Sleep(time.Second)
		ui.Settle()
		unseen(t, ui, "Run this command?")
		unseen(t, ui, "second question")

		ui.Type(" ")
		time.Sleep(time.Hour)
		ui.Settle()
		ui.Want("paused · space continues")
		unseen(t, ui, "second question")
		ui.Type(" ")
		time.Sleep(2 * time.Second)
		ui.Settle()
		ui.Want("second question", "end of the session")

		ui.Type("x\t")
		ui.Settle()
		if got := v.ui.v.prompt.Text(); got != "" {
			t.Errorf("the prompt has %q", got)
		}
		ui.Type("q")
		if err := ui.Quit(); err != nil {
			t.Error(err)
		}
	})
}

// The speed changes at any time, within limits.
func TestReplaySpeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ui, _ := replaying(t, 4)
		ui.Want("replay at 4×")
		time.Sleep(600 * time.Millisecond)
		ui.Settle()
		unseen(t, ui, "first answer")
		time.Sleep(500 * time.Millisecond)
		ui.Settle()
		ui.Want("first answer")
		ui.Type("++++++++")
		ui.Settle()
		ui.Want("replay at 64×")
		ui.Type("-")
		ui.Settle()
		ui.Want("replay at 32×")
	})
}

// In a replay every key and every row of the palette does something harmless or explains why not.
func TestReplayTakesEveryKeyAndCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ui, _ := replaying(t, 64)
		for e := range keymap.Default().In(keymap.Global) {
			for _, k := range e.Keys {
				if e.Action != keymap.Interrupt {
					ui.Press(k.String(), "Esc")
				}
			}
		}
		for _, c := range slash.Commands {
			if c.Name != "quit" {
				ui.Press("F2")
				ui.Type("/" + c.Name + "\n")
				if c.Name == "model" {
					ui.Want("this is a replay: you can only watch")
				}
				ui.Press("Esc")
			}
		}
		ui.Want("end of the session")
		ui.Type("q")
		if err := ui.Quit(); err != nil {
			t.Error(err)
		}
	})
}

// TestReplayFromATurn: events before the turn are shown at once, the rest at the recorded pace.
func TestReplayFromATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		events := func(show func(event.Envelope) bool) error {
			for i, e := range []event.Event{event.TurnStarted{Number: 1}, event.TurnFinished{Number: 1}, event.TurnStarted{Number: 2}, event.TurnFinished{Number: 2}} {
				if !show(event.Envelope{Time: int64(i) * 1000, Payload: e}) {
					break
				}
			}
			return nil
		}
		out := make(chan event.Envelope)
		go func() {
			defer close(out)
			_, _ = newPlayer(1, 2).play(t.Context(), events, out)
		}()
		var came []time.Duration
		for range out {
			came = append(came, time.Since(began))
		}
		if want := []time.Duration{0, 0, 0, time.Second}; !slices.Equal(came, want) {
			t.Errorf("they came after %v, want %v", came, want)
		}
	})
}

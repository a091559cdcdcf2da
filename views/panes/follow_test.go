package panes

import (
	"strings"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/state"
	"buddy/views/draw"
	"buddy/views/viewtest"
)

// twoShared returns a view with two panes, a function that feeds events, and a clock.
func twoShared(t *testing.T) (p *Panes, feed func(...event.Event), now *time.Time) {
	s := &state.State{}
	at := time.UnixMilli(0)
	p = newTestPanes(t, s)
	p.SetNow(func() time.Time { return at })
	feed = func(events ...event.Event) {
		viewtest.Feed(s, events...)
		p.Update(s, state.Panes|state.Output)
	}
	feed(event.PaneOpened{Pane: "%1", Title: "shared", Target: "local"}, event.PaneOpened{Pane: "web:%1", Title: "shared", Target: "web"})
	return p, feed, &at
}

// starts returns the events of a command that starts in a pane.
func starts(id, pane string) []event.Event {
	return []event.Event{event.ToolRequested{CallID: id, Name: "run_shell", Action: action.Action{Kind: action.Shell, Target: "web"}}, event.ToolStarted{CallID: id, Name: "run_shell", Pane: pane}}
}

// The pane in which a command starts is shown, unless a person has chosen another one, types or reads its history.
func TestPanesFollowCommands(t *testing.T) {
	shows := func(t *testing.T, p *Panes, want string) {
		t.Helper()
		viewtest.Text(t, p, 60, 9)
		if got := p.Shown(); got != want {
			t.Errorf("%q shows, want %q", got, want)
		}
	}
	for name, c := range map[string]struct {
		do   func(p *Panes)
		want string
	}{
		"nobody looks":     {func(*Panes) {}, "%1"},
		"typing":           {func(p *Panes) { p.BeginTyping() }, "web:%1"},
		"focused":          {func(p *Panes) { p.SetHeld(true) }, "web:%1"},
		"left again":       {func(p *Panes) { p.SetHeld(true); p.SetHeld(false) }, "%1"},
		"reading back":     {func(p *Panes) { p.Scroll(-1) }, "web:%1"},
		"has read back":    {func(p *Panes) { p.Scroll(-1); p.EndScroll() }, "%1"},
		"chose the newest": {func(p *Panes) { viewtest.Press(t, p, "pane-next", "pane-next") }, "%1"},
	} {
		t.Run(name, func(t *testing.T) {
			p, feed, _ := twoShared(t)
			shows(t, p, "web:%1")
			c.do(p)
			feed(starts("a", "%1")...)
			shows(t, p, c.want)
		})
	}
	t.Run("chosen", func(t *testing.T) {
		p, feed, _ := twoShared(t)
		viewtest.Press(t, p, "pane-next")
		feed(starts("a", "web:%1")...)
		shows(t, p, "%1")
		if text := viewtest.Text(t, p, 60, 9); !strings.Contains(text, "pinned") {
			t.Errorf("nothing says that the pane stays:\n%s", text)
		}
		viewtest.Press(t, p, "pane-next")
		feed(starts("b", "%1")...)
		shows(t, p, "%1")
	})
	t.Run("pane of its own", func(t *testing.T) {
		p, feed, _ := twoShared(t)
		feed(starts("a", "%1")...)
		feed(starts("b", "")...) // its pane opens later
		shows(t, p, state.BarePane)
		feed(event.PaneOpened{Pane: "%2", Title: "npm", Target: "local"})
		shows(t, p, "%2")
		feed(event.PaneClosed{Pane: "%2"})
		shows(t, p, "web:%1")
		feed(event.PaneLost{Pane: "web:%1", Why: "gone"})
		shows(t, p, "%1")
	})
}

// A key only goes to the pane that was visible when it was pressed.
func TestPanesTypeIntoWhatShows(t *testing.T) {
	p, feed, now := twoShared(t)
	redraw := func() { viewtest.Text(t, p, 60, 9) }
	if p.BeginTyping() {
		t.Error("typing into a pane that was not drawn yet")
	}
	redraw()
	feed(starts("a", "%1")...)
	if p.BeginTyping() {
		t.Error("the frame still shows the other pane")
	}
	redraw()
	*now = now.Add(draw.GracePeriod - time.Millisecond)
	if p.BeginTyping() {
		t.Error("the key was meant for the other pane, which showed a moment ago")
	}
	*now = now.Add(time.Millisecond)
	if !p.BeginTyping() {
		t.Error("the pane has shown for a while")
	}
	p.EndTyping()
	viewtest.Press(t, p, "pane-next")
	if !p.BeginTyping() || p.Shown() != "web:%1" {
		t.Error("the person has just chosen it")
	}
	feed(event.PaneClosed{Pane: "web:%1"})
	if p.Scope() != "panes" || p.BeginTyping() {
		t.Error("the pane has closed, and keys go to another")
	}
}

// The pane that receives keys is named, at any width.
func TestPanesNameWhileTyping(t *testing.T) {
	p, feed, _ := twoShared(t)
	code := 0
	feed(starts("a", "web:%1")...)
	feed(event.ToolResult{CallID: "a", ExitCode: &code})
	viewtest.Text(t, p, 60, 9)
	if !p.BeginTyping() {
		t.Fatal("no typing")
	}
	for w, want := range map[int]string{100: "nothing is running here · Ctrl+] ends typing", 60: "Ctrl+] ends", 48: "Ctrl+] ends"} {
		if text := viewtest.Text(t, p, w, 9); !strings.Contains(text, "▸web") || !strings.Contains(text, want) {
			t.Errorf("at %d cells:\n%s", w, text)
		}
	}
}

// The pane of an ended command is replaced by one with a running command.
func TestEndedPaneGivesWayToALiveOne(t *testing.T) {
	const server = "%7"
	for name, c := range map[string]struct {
		result string
		serves bool // a command in the background
		want   string
	}{
		"interrupted, nothing runs": {"operation cancelled by user; exit code 130", false, "web:%1"},
		"interrupted, one runs":     {"operation cancelled by user; exit code 130", true, server},
		"failed, nothing runs":      {"exit code 1", false, "web:%1"},
		"failed, one runs":          {"exit code 1", true, server},
	} {
		t.Run(name, func(t *testing.T) {
			p, feed, _ := twoShared(t)
			if c.serves {
				feed(event.PaneOpened{Pane: server, Title: "server", Target: "local"}, event.TaskStarted{ID: 9, Kind: event.ShellTask, Pane: server, Title: "npm run dev"})
			}
			feed(starts("a", "web:%1")...)
			viewtest.Text(t, p, 60, 9)
			feed(event.ToolResult{CallID: "a", Name: "run_shell", Result: c.result, IsError: true})
			viewtest.Text(t, p, 60, 9)
			if got := p.Shown(); got != c.want {
				t.Errorf("%q shows, want %q", got, c.want)
			}
			if n, _ := p.Wanted(false); n > 0 != c.serves {
				t.Errorf("%d panes are wanted", n)
			}
		})
	}
}

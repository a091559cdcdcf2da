package panes

import (
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/app/state"
	"buddy/views/viewtest"
)

// The attach line is shown below the first pane until the next prompt, and on demand.
func TestAttachLineShowsOnce(t *testing.T) {
	s := &state.State{}
	p := newTestPanes(t, s)
	step := func(what string, want bool, events ...event.Event) {
		t.Helper()
		viewtest.Feed(s, events...)
		p.Update(s, state.Panes|state.Tasks)
		if text := viewtest.Text(t, p, 60, 9); strings.Contains(text, "attach: tmux") != want {
			t.Errorf("%s, want the line %v:\n%s", what, want, text)
		}
	}
	shared := event.PaneOpened{Pane: "%1", Title: "shared", Target: "local", Attach: "tmux attach"}
	step("the first pane", true, event.TaskStarted{ID: 1, Kind: event.MainTask}, shared)
	step("its exchange is over", true, event.TaskFinished{ID: 1, Outcome: event.Completed})
	step("a whole exchange later", false, event.TaskStarted{ID: 2, Kind: event.MainTask}, event.TaskFinished{ID: 2, Outcome: event.Completed})
	step("another pane", false, event.TaskStarted{ID: 3, Kind: event.MainTask}, event.PaneOpened{Pane: "%2", Title: "server", Target: "local", Attach: "tmux attach"})
	viewtest.Press(t, p, "pane-attach")
	step("asked for", true)
	viewtest.Press(t, p, "pane-attach")
	step("not wanted any more", false)
}

// The output of a call without a pane is a tab while the call is the newest, and has its own scroll position.
func TestCallsWithoutAPane(t *testing.T) {
	p, feed, _ := twoShared(t)
	feed(starts("a", "%1")...)
	feed(starts("b", "")...)
	feed(event.ToolOutput{CallID: "b", Text: "one\ntwo\n"})
	if text := viewtest.Text(t, p, 60, 9); p.Shown() != state.BarePane || !strings.Contains(text, "▸run_shell ◐") || !strings.Contains(text, "two") {
		t.Errorf("%q shows:\n%s", p.Shown(), text)
	}
	if len(p.Visible()) != 0 || p.BeginTyping() {
		t.Errorf("panes %v are watched for a call that has none, typing %v", p.Visible(), p.typing)
	}
	viewtest.Press(t, p, "scroll-up", "page-up")
	if got := p.printed.(*printed).back; got != 11 {
		t.Errorf("scrolled back by %d, want 11", got)
	}
	if !p.EndScroll() || p.printed.(*printed).back != 0 {
		t.Error("the end does not show again")
	}
	code := 3
	feed(event.ToolResult{CallID: "b", ExitCode: &code})
	if text := viewtest.Text(t, p, 60, 9); !strings.Contains(text, "▸run_shell ✗") || !strings.Contains(text, "two") {
		t.Errorf("after its end:\n%s", text)
	}
	feed(starts("c", "%1")...)
	if viewtest.Text(t, p, 60, 9); p.Shown() != "%1" {
		t.Errorf("%q shows, not the pane in which a command began since", p.Shown())
	}
}

// A long command wraps between words, so that a shell reads it correctly.
func TestAttachLineKeepsWordsWhole(t *testing.T) {
	s := &state.State{}
	p := newTestPanes(t, s)
	viewtest.Feed(s, event.TaskStarted{ID: 1, Kind: event.MainTask}, event.PaneOpened{Pane: "%1", Title: "shared", Target: "local", Attach: "tmux -S /tmp/x/sock attach -t buddy-7e66"})
	p.Update(s, state.Everything)
	if text := viewtest.Text(t, p, 48, 9); !strings.Contains(text, " buddy-7e66") {
		t.Errorf("a word of the command is broken:\n%s", text)
	}
}

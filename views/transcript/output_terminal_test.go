package transcript

import (
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/views/viewtest"
)

// A full-screen program is seen as it draws; what it sends to the terminal is no text.
func TestOutputOfFullScreenPrograms(t *testing.T) {
	s := (&viewtest.Session{}).Feed(
		event.ToolRequested{CallID: "a", Name: "run_shell", Action: action.Action{Kind: action.Shell, Target: "local", Command: "vim x"}},
		event.ToolStarted{CallID: "a", Name: "run_shell", Terminal: true},
		event.ToolOutput{CallID: "a", Stream: "stdout", Text: "\x1b[?1049h\x1b[2;1H~  \x1b[3;1H~  GARBLE"},
	)
	o := NewOutput(viewtest.Dark(t), keymap.Default())
	shows := func() string {
		o.Update(&s.State, state.Everything)
		return viewtest.Text(t, o, 40, 6)
	}
	if text := shows(); strings.Contains(text, "GARBLE") || !strings.Contains(text, "it draws on the screen of its pane") || o.Watched() != "" {
		t.Errorf("without a picture, watching %q:\n%s", o.Watched(), text)
	}
	s.Feed(event.PaneOpened{Pane: "%1", Title: "shared", Target: "local"}) // for this command: it is the first
	if o.Update(&s.State, state.Everything); o.Watched() != "%1" {
		t.Errorf("watches %q", o.Watched())
	}
	s.Feed(event.PaneScreen{Pane: "%1", W: 80, H: 6, Rows: []string{"top", "line 1", "\x1b[1m~", "~", "~", "-- INSERT --"}, Cursor: event.Cursor{Y: 5, Visible: true}})
	if text := shows(); strings.Contains(text, "top") || !strings.Contains(text, "│line 1") && !strings.Contains(text, "│~") || !strings.Contains(text, "│-- INSERT --") {
		t.Errorf("the picture:\n%s", text)
	}
	code := 0
	s.Feed(event.ToolResult{CallID: "a", ExitCode: &code, Result: `{"harness_timestamp":{},"result":{"notices":["left out"]}}`, FullOutput: &event.FullOutput{Path: "/out", Bytes: 999}})
	if text := shows(); strings.Contains(text, "INSERT") || strings.Contains(text, "GARBLE") || !strings.Contains(text, "left out") || o.Watched() != "" {
		t.Errorf("afterwards, watching %q:\n%s", o.Watched(), text)
	}
	s.Feed(event.ToolRequested{CallID: "b", Name: "run_shell"}, event.ToolStarted{CallID: "b", Terminal: true, Pane: "%1"},
		event.ToolResult{CallID: "b", ExitCode: &code, Tail: "last page\n", FullOutput: &event.FullOutput{Path: "/out", Bytes: 999}})
	if text := shows(); !strings.Contains(text, "last page") || strings.Contains(text, "dropped") {
		t.Errorf("a text that is shorter than what was sent:\n%s", text)
	}
}

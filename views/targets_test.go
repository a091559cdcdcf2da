package views

import (
	"strings"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/views/transcript"
	"buddy/views/viewtest"
)

// onTargets is a session with commands on its first target and on others.
func onTargets() *viewtest.Session {
	shell := func(id, target string) event.ToolRequested {
		return event.ToolRequested{CallID: id, Name: "run_shell", Action: action.Action{Kind: action.Shell, Tool: "run_shell", Target: target, Command: "uptime"}}
	}
	return (&viewtest.Session{Now: 100_000}).Feed(
		event.SessionCreated{Target: "local"}, event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "look"},
		shell("a", "local"), event.ToolStarted{CallID: "a"},
		shell("b", "web, db"), event.ApprovalAsked{ID: "1", CallID: "b", Action: action.Action{Tool: "run_shell", Command: "uptime", Target: "web, db"}},
		event.ToolRequested{CallID: "c", Name: "read_file", Action: action.Action{Kind: action.FileRead, Target: "web", Path: "/etc/hosts"}},
		event.TaskStarted{ID: 2, Kind: event.ShellTask, Title: "npm run dev", Pane: "%2"},
		event.TaskStarted{ID: 3, Kind: event.ShellTask, Title: "npm run dev", Pane: "web:%2"},
	)
}

// With several targets, actions on another than the first name it; actions on the first look as usual.
func TestTargetsAreNamed(t *testing.T) {
	s := onTargets()
	has := func(text string, wanted ...string) {
		t.Helper()
		for _, want := range wanted {
			if !strings.Contains(text, want) {
				t.Errorf("%q is missing in\n%s", want, text)
			}
		}
	}
	conversation := transcript.NewConversation(viewtest.Dark(t), keymap.Default())
	conversation.SetNow(func() time.Time { return time.UnixMilli(s.Now) })
	conversation.Update(&s.State, state.Everything)
	has(viewtest.Text(t, conversation, 60, 12), "◐ uptime", "uptime on web, db", "read /etc/hosts on web")
	v := NewTasks(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
	v.Update(&s.State, state.Everything)
	has(viewtest.Text(t, v, 70, 9), "#2 ", "shell    npm run dev", "shell    on web · npm run dev")

	s.Feed(event.ToolStarted{CallID: "c"})
	l := NewStatusLine(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
	s.Feed(event.ApprovalAnswered{ID: "1", CallID: "b", Decision: event.Once, By: "user"})
	l.Update(&s.State, state.Everything)
	has(viewtest.Text(t, l, 80, 1), "Running read_file on web")
	conversation.Update(&s.State, state.Everything)
	if text := viewtest.Text(t, conversation, 60, 12); strings.Contains(text, "on local") {
		t.Errorf("the first target is named:\n%s", text)
	}
}

package ui

import (
	"testing"
	"testing/synctest"

	"buddy/agent/event"
)

// An answer from another screen is shown with that screen's name, an answer from this screen is not; the line
// disappears with the next task.
func TestAnsweredAtAnotherScreen(t *testing.T) {
	const place = "ssh from 10.0.0.5, pts/3"
	question := event.QuestionAsked{ID: "q", CallID: "c1", Text: "Which port?"}
	for _, tt := range []struct {
		name   string
		asked  event.Event
		answer event.Event
		want   string // "" for nothing
	}{
		{"approved", asked, event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Once, By: "user", Screen: place}, "approved on another screen (" + place + ")"},
		{"similar", asked, event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Similar, By: "user", Screen: place}, "approved on another screen (" + place + ")"},
		{"edited", asked, event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Edit, By: "user", Screen: place}, "edited and approved on another screen (" + place + ")"},
		{"denied", asked, event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Deny, By: "user", Screen: place}, "denied on another screen (" + place + ")"},
		{"answered", question, event.QuestionAnswered{ID: "q", Text: "80", By: "user", Screen: place}, "answered on another screen (" + place + ")"},
		{"hostile", question, event.QuestionAnswered{ID: "q", Text: "80", By: "user", Screen: "\x1b[2Jpts/3\n"}, "answered on another screen (␛[2Jpts/3"},
		{"mode", asked, event.ModeChanged{Mode: "all", Screen: place}, "mode all, set on another screen (" + place + ")"},
		{"mode here", asked, event.ModeChanged{Mode: "all", Screen: "pts/1"}, ""},
		{"here", asked, event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Once, By: "user", Screen: "pts/1"}, ""},
		{"answered here", question, event.QuestionAnswered{ID: "q", Text: "80", By: "user", Screen: "pts/1"}, ""},
		{"one screen only", asked, event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Once, By: "user"}, ""},
		{"cancelled", asked, event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Deny, By: "cancel", Screen: place}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range [][2]int{{120, 32}, {80, 24}} {
				synctest.Test(t, func(t *testing.T) {
					x := open(t, size[0], size[1])
					x.u.deps.Later(func() { SetPlace(x.u, "pts/1") })
					x.feed(running...)
					x.feed(tt.asked)
					x.feed(tt.answer)
					if tt.want == "" {
						x.unwanted("another screen")
						return
					}
					x.Want(tt.want)
					x.feed(event.TaskFinished{ID: 1, Outcome: event.Completed})
					x.Want(tt.want) // stays for a user who looks later
					x.feed(event.TaskStarted{ID: 2, Kind: event.MainTask, Title: "next"})
					x.unwanted("another screen")
				})
			}
		})
	}
}

// An unfolded call names the screen that approved it.
func TestCallSaysWhereItWasApproved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running...)
		code := 0
		x.feed(asked, event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Once, By: "user", Screen: "pts/3"},
			event.ToolStarted{CallID: "c1", Name: "run_shell"}, event.ToolResult{CallID: "c1", Name: "run_shell", ExitCode: &code},
			event.TaskFinished{ID: 1, Outcome: event.Completed})
		x.unwanted("answered on")
		x.rest()
		x.Press("Tab", "Enter")
		x.Want("answered on", "pts/3")
	})
}

// An unsent reason for denying is kept when the request is answered at another screen: it moves to the prompt, where
// the next keys go. A sent reason does not.
func TestReasonWhenAnsweredElsewhere(t *testing.T) {
	for name, tt := range map[string]struct {
		draft string
		send  bool
		want  string
	}{
		"typed": {"", false, "not there"}, "beside a draft": {"a draft", false, "a draft\nnot there"}, "sent": {"", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, 120, 32)
				x.feed(running...)
				x.feed(asked)
				x.rest()
				if tt.draft != "" {
					x.Paste(tt.draft)
					x.Press("F8")
					x.rest()
				}
				x.decide("d")
				x.Type("not there")
				x.Want("No, because: not there")
				by := event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Once, By: "user", Screen: "pts/3"}
				if tt.send {
					x.Press("Enter")
					by.Decision, by.Reason = event.Deny, "not there"
				}
				x.feed(by)
				if got := x.u.Prompt().Text(); got != tt.want {
					t.Errorf("the prompt has %q, want %q\n%s", got, tt.want, x.Screen())
				}
			})
		})
	}
}

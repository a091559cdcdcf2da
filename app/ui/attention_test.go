package ui

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/screen"
	"buddy/app/state"
)

func TestTitleSaysWhatHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		title := func(want string) {
			t.Helper()
			if x.Settle(); x.Title() != want {
				t.Errorf("the title is %q, want %q", x.Title(), want)
			}
		}
		title("buddy · shop")
		x.feed(running...)
		title("buddy · working · shop")
		x.feed(asked)
		title("buddy · ‖ approval · shop")
		x.feed(event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Once, By: "user"})
		title("buddy · working · shop")
		x.feed(event.QuestionAsked{ID: "q", Text: "Which?"})
		title("buddy · ‖ question · shop")
		x.feed(event.QuestionAnswered{ID: "q", By: "user"})
		title("buddy · working · shop")
		x.Focus(false)
		x.feed(event.TaskFinished{ID: 1, Outcome: event.Completed})
		title("buddy · ✓ done · shop")
		x.Focus(true)
		title("buddy · shop")
		if err := x.Quit(); err != nil || x.Title() != "" {
			t.Errorf("after the end the title is %q, not the one before (%v)", x.Title(), err)
		}
	})
}

// calls returns the bells and notifications so far.
func (x *testUI) calls() []string {
	return slices.DeleteFunc(x.Strings(), func(s string) bool {
		return s != "bell" && !strings.HasPrefix(s, "9;") && !strings.HasPrefix(s, "777;")
	})
}

func TestCallsOnlyWhoLooksElsewhere(t *testing.T) {
	const hostile = "rm\x1b]52;c;aGk=\x07;x"
	evil := asked
	evil.ID, evil.Action.Command, evil.Action.Why = "a2", hostile, hostile
	for how, want := range map[screen.Call][]string{
		screen.CallBell:   {"bell", "bell"},
		screen.CallOSC9:   {"9;buddy: an approval is waiting for you", "9;buddy: done"},
		screen.CallOSC777: {"777;notify;buddy;buddy: an approval is waiting for you", "777;notify;buddy;buddy: done"},
		screen.CallOff:    nil,
	} {
		t.Run(string(how), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, 120, 32)
				x.u.attention.How = how
				x.feed(running...)
				x.feed(asked)
				x.feed(event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Once, By: "user"})
				x.Focus(false)
				x.feed(evil)
				x.feed(event.Notice{Text: hostile}) // no change, so no second call
				x.feed(event.ApprovalAnswered{ID: "a2", CallID: "c1", Decision: event.Once, By: "user"})
				time.Sleep(11 * time.Second)
				x.feed(event.TaskFinished{ID: 1, Outcome: event.Completed})
				if got := x.calls(); !slices.Equal(got, want) {
					t.Errorf("calls %q, want %q", got, want)
				}
			})
		})
	}
}

func TestNoCallForShortCancelledOrInterruptedTasks(t *testing.T) {
	for name, c := range map[string]struct {
		takes time.Duration
		ends  event.Event
		calls int
	}{
		"short":       {9 * time.Second, event.TaskFinished{ID: 1, Outcome: event.Completed}, 0},
		"cancelled":   {time.Minute, event.TaskFinished{ID: 1, Outcome: event.Cancelled}, 0},
		"interrupted": {time.Minute, event.SessionResumed{Interrupted: true}, 0},
		"failed":      {time.Minute, event.TaskFinished{ID: 1, Outcome: event.Failed}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, 120, 32)
				x.feed(running[:2]...)
				x.Focus(false)
				time.Sleep(c.takes)
				x.feed(c.ends)
				if got := x.calls(); len(got) != c.calls {
					t.Errorf("calls %q, want %d", got, c.calls)
				}
			})
		})
	}
}

func TestTitleHoldsNoUntrustedText(t *testing.T) {
	for path, want := range map[string]string{
		"/home/ann/shop":              "buddy · shop",
		"/tmp/x\x1b]0;evil\x07":       "buddy · x__0_evil_",
		"/tmp/$(reboot)":              "buddy · __reboot_",
		"/tmp/日本 übung_1.2":           "buddy · 日本 übung_1.2",
		"/tmp/\u202egnp":              "buddy · _gnp",
		"/" + strings.Repeat("x", 99): "buddy · " + strings.Repeat("x", 40) + "…",
		"":                            "buddy",
	} {
		var s state.State
		s.Apply(event.Envelope{Payload: event.SessionCreated{Cwd: path}})
		s.Apply(event.Envelope{Payload: event.ModeChanged{Mode: action.ModeAsk}})
		if got := (&attention{}).titleOf(&s); got != want {
			t.Errorf("title of %q = %q, want %q", path, got, want)
		}
	}
}

// TestCallsForKeys: a command that waits for keys notifies an absent user once.
func TestCallsForKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.u.attention.How = screen.CallOSC9
		x.feed(running...)
		x.feed(event.ToolStarted{CallID: "c1", Name: "run_shell", Pane: "%1"})
		x.Focus(false)
		x.feed(event.ToolWaits{CallID: "c1", Waits: true}, event.Notice{Text: "something"})
		if got := x.calls(); !slices.Equal(got, []string{"9;buddy: a command is waiting for your input"}) {
			t.Errorf("called %q", got)
		}
	})
}

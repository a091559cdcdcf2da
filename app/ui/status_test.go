package ui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
)

// overloaded is the n-th failure of a request.
func overloaded(n int) event.Event {
	return event.ModelRetry{
		Attempt: n, Of: 6, WaitMS: 12_000, Why: "api.x: 529 overloaded: Busy", Short: "Overloaded (529)", Raw: "https://api.x/v1 529\n{\"error\":{\"message\":\"Busy\"}}",
	}
}

// failed reports that the last attempt has failed.
var failed = event.Error{
	Text: "api.x: 529 overloaded: Busy (tried 6 times)", NextStep: "choose another model with /model", Code: "task_failed",
	Raw: "https://api.x/v1 529\n{\"error\":{\"message\":\"Busy\"}}",
}

// TestRetryTakesTheFailedAttemptBack: the text of a failed attempt disappears, and one muted line counts the attempts.
func TestRetryTakesTheFailedAttemptBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running[:2]...)
		x.feed(event.ReasoningDelta{Text: "a thought"}, event.TextDelta{Text: "half an answ"})
		x.Want("half an answ")
		x.feed(overloaded(1), event.TextDelta{Text: "a whole answer"})
		x.Want("a whole answer", "↻ Overloaded (529). Answered on attempt 2")
		x.unwanted("half an answ", "thinking", "Busy")
	})
}

// TestWaitsToTryAgain: a request that waits for its next attempt is one line with a countdown. Enter sends it now, Esc
// stops it; one line remains.
func TestWaitsToTryAgain(t *testing.T) {
	for _, size := range sizes {
		synctest.Test(t, func(t *testing.T) {
			x := open(t, size[0], size[1])
			x.feed(running[:2]...)
			x.feed(overloaded(1))
			time.Sleep(4 * time.Second)
			x.Settle()
			x.Want("Overloaded (529). Retrying in 8 s (2 of 6)")
			once(x, "529", "2 of 6", "8 s", "retry now", "Esc: stop")
			x.unwanted("Busy", "{")
			x.golden("retry-waits")
			x.Press("Enter")
			x.wantSent(event.RetryNow{})
			x.feed(event.ModelAlive{})
			x.unwanted("8 s", "retry now", "Esc: stop")
			x.feed(overloaded(2))
			x.Want("Retrying in 12 s (3 of 6)")
			once(x, "529")
			x.Press("Esc")
			x.wantSent(event.Cancel{})
			x.feed(event.Interrupted{Task: 1, Text: "interrupted"}, event.TaskFinished{ID: 1, Outcome: event.Cancelled})
			x.Want("Interrupted while retrying (529)")
			once(x, "529", "nterrupted")
		})
	}
}

// once checks that each text is on the screen exactly once.
func once(x *testUI, texts ...string) {
	x.t.Helper()
	for _, text := range texts {
		if n := strings.Count(x.Screen(), text); n != 1 {
			x.t.Errorf("%q is on the screen %d times:\n%s", text, n, x.Screen())
		}
	}
}

// TestErrorOnce: an error replaces its attempts and is shown once, with a next step; Enter unfolds the provider's
// answer, and folds it again. The stored session shows the same.
func TestErrorOnce(t *testing.T) {
	for _, size := range sizes {
		synctest.Test(t, func(t *testing.T) {
			x := open(t, size[0], size[1])
			x.feed(running[:2]...)
			x.feed(overloaded(1), overloaded(2), failed, event.TaskFinished{ID: 1, Outcome: event.Failed, Error: failed.Text + "; " + failed.NextStep})
			once(x, "529", "tried 6 times", "/model")
			x.unwanted("{", "https://", "attempt 3")
			x.golden("error")
			x.Press("Alt+Up") // the order of panes
			for x.u.arranged.focus.String() != "Conversation" {
				x.Press("Alt+Up")
			}
			x.Press("Enter")
			x.Want(`{"error":{"message":"Busy"}}`, "https://api.x/v1 529")
			x.golden("error-raw")
			x.Press("Enter")
			x.unwanted("{", "https://")
		})
	}
}

// TestRetryElsewhere: when the end of the conversation is not visible, the status line counts.
func TestRetryElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		x.feed(running[:2]...)
		x.feed(event.ModelMessage{Message: model.Message{Content: strings.Repeat("a line\n\n", 50)}})
		x.feed(overloaded(1))
		x.Want("Retrying in 12 s (2 of 6)", "Enter: retry now")
		x.u.v.conversation.Scroll(-30)
		x.feed(event.Notice{Text: "something"})
		time.Sleep(2 * time.Second)
		x.Settle()
		x.Want("↻ Overloaded (529). Retrying in 10 s (2 of 6)", "Esc stops")
		once(x, "529")
	})
}

// TestQueueOnScreen: queued prompts show above the prompt with their text; Up in an empty prompt takes the last one
// back for editing.
func TestQueueOnScreen(t *testing.T) {
	for _, size := range [][2]int{{120, 32}, {80, 24}, {40, 12}} {
		synctest.Test(t, func(t *testing.T) {
			x := open(t, size[0], size[1])
			x.feed(running...)
			for i, text := range []string{"and add a test\nfor the rounding", "then commit", "and push", "and rest"} {
				x.feed(event.PromptSubmitted{ID: 10 + i, Text: text, Queued: true})
			}
			x.golden("queue")
			if size[1] >= 16 {
				x.Want("⏎ queued  and add a test for the rounding", "⏎ queued  then commit")
				x.unwanted("4 queued")
			} else {
				x.Want("4 queued")
			}
			x.Press("Up")
			x.Want("> and rest")
			x.wantSent(event.Unqueue{ID: 13})
			x.feed(event.PromptWithdrawn{ID: 13})
			x.feed(event.PromptSubmitted{ID: 10, Text: "and add a test\nfor the rounding"})
			if size[1] >= 16 {
				x.unwanted("⏎ queued  and add")
				once(x, "⏎ queued  then commit", "⏎ queued  and push")
			}
		})
	}
}

// TestNewModeShowsForAMoment: the new mode is in the status line for two seconds, even while the user types.
func TestNewModeShowsForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.unwanted("Ask mode")
		x.feed(event.ModeChanged{Mode: action.ModeEdits})
		x.Want("Accept-edits mode: files in this folder change without asking")
		time.Sleep(1500 * time.Millisecond)
		x.Type("a")
		x.feed(event.ModeChanged{Mode: action.ModePlan})
		x.Want("Plan mode: read-only until you approve a plan")
		time.Sleep(1500 * time.Millisecond)
		x.Type("b")
		x.Want("Plan mode")
		time.Sleep(600 * time.Millisecond)
		x.Settle()
		x.unwanted("Plan mode")
	})
}

// TestTypeIntoTheCommand: F6 leads from the prompt into the pane of a command that has been running for a moment; every
// key goes there until Ctrl+].
func TestTypeIntoTheCommand(t *testing.T) {
	for _, size := range [][2]int{{120, 32}, {80, 24}} {
		synctest.Test(t, func(t *testing.T) {
			x := open(t, size[0], size[1])
			x.Press("F6")
			x.Want("no command is running in a terminal pane")
			x.feed(running...)
			x.feed(event.PaneOpened{Pane: "%1", Title: "shared", Target: "local"}, event.ToolStarted{CallID: "c1", Name: "run_shell", Pane: "%1"})
			x.Press("F6")
			x.Want("has only just started")
			if got := typed(x, "%1"); got != "" {
				t.Errorf("%q was typed", got)
			}
			time.Sleep(400 * time.Millisecond)
			x.Press("x")
			x.Want("Running ls -la", "F6 types into it", "> x")
			x.Press("F6")
			x.Type("secret\n")
			if got := typed(x, "%1"); got != "secret\n" && got != "secret\r" {
				t.Errorf("typed %q", got)
			}
			x.unwanted("F6 types into it")
			x.Press("Ctrl+]", "Esc", "y")
			x.Want("> xy")
		})
	}
}

// TestIdleHasNoTimer: the loop ticks only while something runs and the terminal has the focus.
func TestIdleHasNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		ticks := func() string { return fmt.Sprint(x.u.busy) }
		if ticks() != "false" {
			t.Error("something runs at first")
		}
		x.feed(running...)
		if ticks() != "true" {
			t.Error("nothing runs while a task does")
		}
		x.feed(event.TaskFinished{ID: 1, Outcome: event.Completed})
		if ticks() != "false" {
			t.Error("something runs after the task")
		}
	})
}

// TestCommandThatWaitsForKeys: the status line shows it with the key that leads into its pane, and an absent user is
// notified once.
func TestCommandThatWaitsForKeys(t *testing.T) {
	for _, size := range sizes {
		synctest.Test(t, func(t *testing.T) {
			x := open(t, size[0], size[1])
			x.feed(running...)
			x.feed(event.PaneOpened{Pane: "%1", Title: "shared", Target: "local"}, event.ToolStarted{CallID: "c1", Name: "run_shell", Pane: "%1"})
			time.Sleep(3 * time.Second)
			x.feed(event.ToolWaits{CallID: "c1", Waits: true})
			x.Want("‖ Waiting for your input: ls -la · 3s", "F6 to type · Esc interrupts")
			x.golden("waits-for-keys")
			x.Press("F6")
			x.Type("y\n")
			if got := typed(x, "%1"); len(got) != 2 || got[0] != 'y' {
				t.Errorf("typed %q", got)
			}
			x.feed(event.ToolWaits{CallID: "c1"})
			x.unwanted("waits for your keys")
			x.Press("Ctrl+]", "Esc")
			x.Want("Running ls -la", "Esc interrupts · F6 types into it")
		})
	}
}

// TestRetryKeysStayWhole: the keys of a waiting request are never broken, and the last row does not offer Enter for
// sending.
func TestRetryKeysStayWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		x.feed(running[:2]...)
		x.Want("Enter send")
		x.feed(event.ModelRetry{Attempt: 1, Of: 6, WaitMS: 12_000, Why: "429", Short: "Rate limited (429): your plan allows so much in a minute"})
		x.Want("(2 of 6)\n   Enter: retry now · Esc: stop")
		x.unwanted("Enter send")
		x.Type("and then")
		x.Want("Enter send")
		x.Press("Ctrl+U")
		x.Press("Enter")
		x.wantSent(event.RetryNow{})
		x.feed(event.ModelAlive{})
		x.Want("Enter send")
	})
}

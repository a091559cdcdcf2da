package ui

import (
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/views/dialog"
)

// While typing, Tab stays in the prompt: it reopens a closed completion list or explains itself.
func TestTabWhileTyping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.Type("/mod")
		x.Want("/model")
		x.Press("Esc")
		x.unwanted("/model")
		x.Press("Tab")
		x.Want("/model")
		x.Press("Tab") // completes the command
		x.Want("> /model")
		x.Press("Ctrl+U")
		x.Type("abc")
		x.Press("Tab")
		x.Want("Nothing to complete. Press Tab again in a second to move to the next pane.")
		x.Type("d")
		x.Want("> abcd")
		x.rest()
		x.Press("Tab", "z") // focuses the conversation
		x.Want("> abcd")
	})
}

// A letter that decides something waits for the next key: another letter makes both text, no key lets the letter
// decide, and Esc right after it discards the decision.
func TestLettersWaitForASentence(t *testing.T) {
	similar := asked
	similar.Context.Similar = "don't ask again for ls"
	yes := event.AnswerApproval{ID: "a1", Decision: event.Once}
	for _, tt := range []struct {
		name string
		keys func(x *testUI)
		text string
		want []event.Command
	}{
		{"a sentence", func(x *testUI) { x.Type("yes but") }, "yes but", nil},
		{"the next letter of a slow typist", func(x *testUI) { x.Press("y"); time.Sleep(320 * time.Millisecond); x.Press("e") }, "ye", nil},
		{"just too early", func(x *testUI) { x.Press("y"); time.Sleep(499 * time.Millisecond); x.Press("e") }, "ye", nil},
		{"a letter that was alone for half a second", func(x *testUI) { x.Press("y"); time.Sleep(500 * time.Millisecond); x.Press("e") }, "e", []event.Command{yes}},
		{"a letter alone", func(x *testUI) { x.decide("y") }, "", []event.Command{yes}},
		{"and Enter", func(x *testUI) { x.Press("y", "Enter") }, "", []event.Command{yes}},
		{"and Esc", func(x *testUI) { x.decide("y", "Esc") }, "y", nil},
		{"and Backspace", func(x *testUI) { x.decide("y", "Backspace") }, "", nil},
		{"and a paste", func(x *testUI) { x.Press("y"); x.Paste("es") }, "yes", nil},
		{"and a click elsewhere", func(x *testUI) { x.Press("y"); x.clickOn("I will look.", 2); time.Sleep(dialog.LetterPause) }, "y", nil},
		{"for the session", func(x *testUI) { x.decide("s") }, "", []event.Command{event.AnswerApproval{ID: "a1", Decision: event.Similar}}},
		{"for the session, and Enter", func(x *testUI) { x.decide("s"); x.Press("Enter") }, "", []event.Command{event.AnswerApproval{ID: "a1", Decision: event.Similar}}},
		{"no choice of this request", func(x *testUI) { x.decide("e") }, "e", nil},
		{"a number of no choice", func(x *testUI) { x.decide("9") }, "9", nil},
		{"a number", func(x *testUI) { x.decide("1") }, "", []event.Command{yes}},
		{"a number of a sentence", func(x *testUI) { x.Type("2 more") }, "2 more", nil},
		{"a number, and Enter", func(x *testUI) { x.Press("2", "Enter") }, "", []event.Command{event.AnswerApproval{ID: "a1", Decision: event.Similar}}},
		{"no, by its number", func(x *testUI) { x.decide("3"); x.Press("Enter") }, "", []event.Command{event.AnswerApproval{ID: "a1", Decision: event.Deny}}},
		{"a reason, by its number", func(x *testUI) { x.decide("3"); x.Type("use make\n") }, "", []event.Command{event.AnswerApproval{ID: "a1", Decision: event.Deny, Reason: "use make"}}},
		{"a reason", func(x *testUI) { x.decide("d"); x.Type("use make"); x.Press("Enter") }, "", []event.Command{event.AnswerApproval{ID: "a1", Decision: event.Deny, Reason: "use make"}}},
		{"a reason at once", func(x *testUI) { x.Type("duse make\n"); time.Sleep(dialog.LetterPause); x.Press("Enter") }, "", []event.Command{event.AnswerApproval{ID: "a1", Decision: event.Deny, Reason: "use make"}}},
		{"a sentence that begins so", func(x *testUI) { x.Type("don't\n"); x.Press("Esc") }, "don't", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, 100, 30)
				x.feed(running...)
				x.feed(similar)
				x.rest()
				tt.keys(x)
				x.wantSent(tt.want...)
				x.inside(func() {
					if got := x.u.v.prompt.Text(); got != tt.text {
						t.Errorf("the prompt holds %q, want %q", got, tt.text)
					}
				})
			})
		})
	}
}

// An arrow right after the digit of a choice belongs to the dialog: the digit is chosen, and the prompt does not recall
// an earlier input.
func TestArrowAfterADigit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.feed(running...)
		x.Type("an earlier prompt\n")
		x.wantSent(event.Submit{Text: "an earlier prompt"})
		x.feed(event.QuestionAsked{ID: "q", Text: "Which port?", Choices: []string{"80", "8080"}})
		x.rest()
		x.Press("2", "Up")
		x.wantSent(event.Answer{ID: "q", Text: "8080"})
		x.unwanted("> an earlier prompt")
	})
}

// When a request ends while a letter waits, the letter goes to the prompt.
func TestLetterOfARequestThatWent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.feed(running...)
		x.feed(asked)
		x.rest()
		x.Press("y")
		second := asked
		second.ID = "a2"
		x.feed(event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Once, By: "rule"}, second)
		time.Sleep(2 * dialog.LetterPause)
		x.wantSent()
		x.Want("> y")
	})
}

// The title names the task that asks unless it is the main one.
func TestTitleSaysWhoAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.feed(running...)
		x.feed(asked)
		x.Want("Run this command?")
		x.feed(event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Once, By: "user"})
		x.feed(event.TaskStarted{ID: 4, Kind: event.BackgroundTask, Title: "other"})
		other := asked
		other.ID, other.CallID = "a2", "b1"
		x.seq++
		x.events <- event.Envelope{Seq: x.seq, Session: "7f3a-0000", Branch: 1, Task: 4, Payload: other}
		x.Settle()
		x.Want("Run this command? · asked by background task #4")
	})
}

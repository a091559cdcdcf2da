package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/views/dialog"
	"buddy/views/draw"
	"buddy/views/markup"
)

// find returns the position of a text on the screen.
func (x *testUI) find(text string) (col, row int) {
	x.t.Helper()
	for y, l := range strings.Split(x.Screen(), "\n") {
		if i := strings.Index(l, text); i >= 0 {
			return utf8.RuneCountInString(l[:i]), y
		}
	}
	x.t.Fatalf("%q is not on the screen:\n%s", text, x.Screen())
	return 0, 0
}

// clickOn clicks on the first occurrence of a text, a few cells into it.
func (x *testUI) clickOn(text string, into int) {
	x.t.Helper()
	col, row := x.find(text)
	x.Click(col+into, row)
}

// dragOver selects a text within one row.
func (x *testUI) dragOver(text string) {
	x.t.Helper()
	col, row := x.find(text)
	x.Mouse("press", col, row)
	x.Mouse("drag", col+2, row)
	x.Mouse("drag", col+utf8.RuneCountInString(text)-1, row)
	x.Mouse("release", col+utf8.RuneCountInString(text)-1, row)
}

// copies checks the text that was copied since the last time.
func (x *testUI) copies(want string) {
	x.t.Helper()
	if x.Settle(); x.copied != want {
		x.t.Errorf("copied %q, want %q\n%s", x.copied, want, x.Screen())
	}
	x.copied = ""
}

// longAsked asks for a command of many lines, the first one too long for a row.
var longAsked = event.ApprovalAsked{ID: "a2", CallID: "c1", Verdict: asked.Verdict, Action: action.Action{
	Kind: action.Shell, Tool: "run_shell", Target: "local",
	Command: "echo " + strings.Repeat("wrapped ", 14) + "end\n" + strings.Repeat("make all\n", 40) + "make last",
}}

func TestApprovalByMouse(t *testing.T) { // a click is no faster and no looser than a key
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running...)
		x.feed(asked)
		x.clickOn("1  Yes", 1) // in the grace period
		x.wantSent()
		col, row := x.find("1  Yes")
		x.Mouse("press", col, row)
		time.Sleep(draw.GracePeriod)
		x.Mouse("release", col, row) // it was pressed too early
		x.wantSent()
		for y := range 31 { // nowhere but on the keys; the last row has other keys
			for c := 0; c < 120; c += 3 {
				if y < row || y > row+4 {
					x.Click(c, y)
				}
			}
		}
		x.wantSent()
		x.Want("Run this command?")
		x.Mouse("press", col, row)
		x.Mouse("drag", col+1, row)
		x.Mouse("release", col+60, row+3) // the pointer moved off the key
		x.wantSent()
		x.clickOn("1  Yes", 5) // a word of the choice works like its key
		x.wantSent(event.AnswerApproval{ID: "a1", Decision: event.Once})
	})
}

func TestApprovalThatOpensUnderThePointer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running...)
		x.feed(asked)
		col, row := x.find("1  Yes")
		x.feed(event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Once, By: "user"})
		x.Mouse("press", col, row) // meant for the request below
		second := asked
		second.ID = "a3"
		x.feed(second)
		time.Sleep(draw.GracePeriod)
		x.Mouse("release", col, row)
		x.wantSent()
		x.Mouse("press", col, row)
		third := asked
		third.ID = "a4"
		x.feed(event.ApprovalAnswered{ID: "a3", CallID: "c1", Decision: event.Once, By: "rule"}, third)
		time.Sleep(draw.GracePeriod)
		x.Mouse("release", col, row) // the request changed since the press
		x.wantSent()
		x.Click(col, row)
		x.wantSent(event.AnswerApproval{ID: "a4", Decision: event.Once})
	})
}

func TestApprovalKeysByMouse(t *testing.T) {
	for name, tt := range map[string]struct {
		click string
		want  []event.Command
		shows string
	}{
		"yes":     {"1  Yes", []event.Command{event.AnswerApproval{ID: "a1", Decision: event.Once}}, ""},
		"reason":  {"No, and tell", nil, "No, because:"},
		"explain": {"details", nil, "You are asked because"},
		"leave":   {"list the files", nil, "Run this command?"}, // outside: nothing
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, 120, 32)
				x.feed(running...)
				x.feed(asked)
				x.Press("F8")
				x.Settle()
				time.Sleep(draw.GracePeriod)
				x.clickOn(tt.click, 1)
				time.Sleep(dialog.LetterPause)
				x.Settle()
				x.wantSent(tt.want...)
				x.Want(tt.shows)
			})
		})
	}
}

func TestApprovalScrollsAndCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.feed(running...)
		x.feed(longAsked)
		time.Sleep(draw.GracePeriod)
		x.Want("more · PgDn")
		x.dragOver("wrapped wrapped")
		x.copies("wrapped wrapped")
		x.Press("Ctrl+C") // copies the selection, does not cancel the task
		x.copies("wrapped wrapped")
		x.wantSent()
		col, row := x.find(" 1 echo")
		col += 3
		_, last := x.find(" 3 make all")
		x.Mouse("press", col, row)
		x.Mouse("drag", col+3, last)
		x.Mouse("release", col+3, last) // without the line numbers, and the first line unwrapped
		x.copies("echo " + strings.Repeat("wrapped ", 14) + "end\nmake all\nmake")
		x.Mouse("wheel down", col, row)
		x.unwanted(" 1 echo")
		x.Mouse("wheel up", 1, 2) // outside the dialog
		x.unwanted(" 1 echo")
		for range 30 {
			x.Mouse("wheel down", col, row)
		}
		x.Want("make last")
		x.clickOn("PgUp", 0)
		x.unwanted("make last")
		x.wantSent()
	})
}

func TestHelpByMouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.clickOn("F1 help", 0) // in the footer
		x.Want("Esc closes", "Alt+Enter")
		x.Mouse("wheel down", 50, 10)
		x.unwanted("│ Prompt")
		x.Mouse("wheel up", 50, 10)
		x.Mouse("wheel up", 0, 0)
		x.Want("Alt+Enter")
		x.dragOver("Alt+Enter")
		x.copies("Alt+Enter")
		time.Sleep(time.Second)
		x.clickOn("Alt+Enter", 2)
		x.clickOn("Alt+Enter", 2) // a double click selects the word
		x.copies("Alt+Enter")
		time.Sleep(time.Second)
		x.clickOn("Alt+Enter", 2)
		x.clickOn("paste a picture", 2) // two clicks in different places
		x.copies("")
		x.Click(0, 5) // outside
		x.Want("Esc closes")
		x.clickOn("Esc closes", 2)
		x.unwanted("Esc closes")
	})
}

func TestFooterByMouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.Type("hello")
		x.clickOn("Enter send", 0)
		x.wantSent(event.Submit{Text: "hello"})
		x.clickOn("newline  / commands", 12)
		x.Want("> /", "/model")
		x.clickOn(" /plan", 2) // in the completion list
		x.Want("▸/plan")
		x.clickOn("/plan", 1)
		x.Want("> /plan\n")
		x.Press("Ctrl+C")
		x.unwanted("Tab next pane")
		x.feed(twoPanes...)
		x.clickOn("Tab next pane", 0)
		x.Want("y copy")
		col, row := x.find("y copy")
		x.Mouse("press", col, row)
		x.Mouse("release", col+30, row)
		x.copies("")
	})
}

func TestPickersByMouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.Type("/model\n")
		x.Want("▸*demo")
		x.clickOn("*demo", 1) // it was selected before: a single click chooses nothing
		x.Want("Models · 3", "▸*demo")
		x.wantSent()
		x.clickOn("gpt-5.3-codex", 1)
		x.Want("▸ fast")
		x.Click(1, 1) // outside
		x.Want("▸ fast")
		x.clickOn("gpt-5.3-codex", 1)
		x.wantSent(event.SwitchModel{Profile: "fast"})
		x.unwanted("Models")
		x.Press("F2")
		x.Want("Commands and actions", "▸ /model")
		x.Mouse("wheel down", 40, 10)
		x.unwanted("▸ /model")
		x.clickOn("Esc close", 0)
		x.unwanted("Commands and actions")
	})
}

func TestSessionBrowserByMouse(t *testing.T) {
	store, ids := savedSessions(t, "first one", "second one")
	synctest.Test(t, func(t *testing.T) {
		x := browserOn(t, 160, 32, store)
		x.Want("▸ second one", "Answer to second one.")
		x.clickOn("first one", 1)
		x.Settle()
		x.Want("▸ first one", "Answer to first one.", "x delete")
		x.dragOver("Answer to first") // in the preview
		x.copies("Answer to first")
		x.clickOn("x delete", 0)
		x.Want(`Move "first one" to the trash?`)
		x.clickOn("n No", 0)
		x.unwanted("to the trash?")
		x.Want("first one")
		x.clickOn("Enter choose", 0)
		if err := x.Ended(); err != nil || x.left.Resume != ids[0] {
			t.Errorf("left for %+v, %v, want %s", x.left, err, ids[0])
		}
	})
}

func TestChangesByMouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.diff = markup.FileMark + "a.txt  +1 -1 lines, 9 bytes\n@@ -1 +1 @@\n-one\n+" + strings.Repeat("two ", 40) + "\n" + strings.Repeat(" more\n", 60)
		x.Type("/diff\n")
		col, row := x.find("- one")
		x.Mouse("press", col+2, row)
		x.Mouse("drag", col+2, row+2)
		x.Mouse("release", col+3, row+2)
		x.Settle()
		if !strings.HasPrefix(x.copied, "one\ntwo two") || strings.Count(x.copied, "\n") != 1 {
			t.Errorf("copied %q, want a whole line that is only wrapped", x.copied)
		}
		x.copied = ""
		x.Press("Ctrl+C") // copies the selection first
		x.Want("Changes in 1 file")
		x.Mouse("press", col, row)
		for range 9 { // held below the last row
			x.Mouse("drag", col, 29)
			x.Mouse("drag", col+1, 29)
		}
		x.Mouse("release", col, 29)
		x.unwanted("- one")
		x.copied = ""
		x.clickOn("y copy", 0)
		x.copies(x.diff)
		x.Click(99, 29) // outside
		x.Want("q close")
		x.clickOn("q close", 3)
		x.unwanted("q close")
	})
}

func TestConfirmByMouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		var got []keymap.Action
		ask := func() {
			x.u.dock.confirm.Ask(dialog.Question{
				Title: "Sure?", Scope: keymap.Confirm, Answer: func(a keymap.Action) { got = append(got, a) },
				Lines: strings.Split(strings.Repeat("a line of it\n", 60), "\n"),
			})
			x.u.deps.Later(func() {})
			x.Settle()
		}
		ask()
		x.Want("Sure?")
		x.Click(50, 10) // on the text
		x.Click(1, 1)   // outside
		x.Want("Sure?")
		x.dragOver("line of")
		x.copies("line of")
		x.Mouse("wheel down", 50, 10)
		x.clickOn("Esc back", 5)
		x.unwanted("Sure?")
		ask()
		x.clickOn("1  Yes", 0)
		if fmt.Sprint(got) != "[confirm-yes]" {
			t.Errorf("answers %v", got)
		}
	})
}

func TestAskedLineByMouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		var got string
		x.u.v.ask.Show("How long?", "so:", func(text string) error {
			if got = text; text == "bad" {
				return errors.New("no time")
			}
			return nil
		})
		x.Type("bad")
		x.clickOn("Enter set", 0)
		x.Want("no time")
		x.clickOn("bad", 1)
		x.Type("o")
		x.clickOn("Enter set", 0)
		if got != "boad" {
			t.Errorf("took %q", got)
		}
		var secret string
		x.u.v.secret.Ask("Key", "for the model", func(s string) { secret = s })
		x.Type("sk-1")
		x.clickOn("••", 1)
		x.dragOver("for the")
		x.copies("")
		x.clickOn("Enter save", 0)
		if secret != "sk-1" {
			t.Errorf("the secret is %q", secret)
		}
	})
}

func TestPagerByMouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		text := "first " + strings.Repeat("long ", 40) + "line\nsecond line\n" + strings.Repeat("more\n", 200)
		x.u.v.pager.Show(dialog.Document{Title: "make", Text: strings.NewReader(text), Size: int64(len(text))})
		x.u.deps.Later(func() {})
		x.Settle()
		x.dragOver("second")
		x.copies("second")
		x.Want("Copied 1 line")
		col, row := x.find("first")
		_, last := x.find("second")
		x.Mouse("press", col, row)
		x.Mouse("drag", col+5, last)
		x.Mouse("release", col+5, last)
		x.copies("first " + strings.Repeat("long ", 40) + "line\nsecond")
		x.Press("y")
		x.copies("first " + strings.Repeat("long ", 40) + "line\nsecond")
		x.Click(col+8, last)
		x.Click(col+8, last)
		x.copies("line")
		x.Press("Esc") // ends the selection first
		x.Want("second line")
		x.Mouse("press", col, row)
		for range 5 { // held at the lower border
			x.Mouse("drag", col, 29)
			x.Mouse("drag", col+1, 29)
		}
		x.unwanted("first long")
		x.Mouse("release", col, 29)
		if x.Settle(); strings.Count(x.copied, "\n") < 20 {
			t.Errorf("copied %q", x.copied)
		}
		x.Mouse("wheel down", 50, 10)
		x.clickOn("q close", 0)
		x.unwanted("second line")
	})
}

// TestServersQuestion: the title names the server that asks, and the steps of its form are no prompts.
func TestServersQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.feed(running...)
		x.feed(event.QuestionAsked{ID: "q1", From: "sh\x1b[31mop", Text: "Which one?", Choices: []string{"Send", "Decline"}})
		time.Sleep(dialog.Pause)
		x.Want("op asks")
		x.Press("1", "Enter")
		x.wantSent(event.Answer{ID: "q1", Text: "Send"})
		x.feed(event.QuestionAnswered{ID: "q1", By: "user", Text: "Send"})
		x.unwanted("Send")
	})
}

// A click on a choice of a question chooses it, as its digit does.
func TestChoicesByMouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.feed(running...)
		x.feed(event.QuestionAsked{ID: "q1", Text: "Which one?\n2  is not a choice", Choices: []string{"the red", "the blue"}})
		time.Sleep(draw.GracePeriod)
		x.clickOn("is not a choice", 2)
		x.Want("Press F8 to answer")
		x.clickOn("2  the blue", 3)
		time.Sleep(dialog.LetterPause)
		x.wantSent(event.Answer{ID: "q1", Text: "the blue"})
	})
}

package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// absent fails the test if the denied command ran.
func (d *dialog) absent(name string) {
	d.t.Helper()
	if _, err := os.Stat(filepath.Join(d.work, name)); err == nil {
		d.t.Errorf("%s is there: what nobody approved ran", name)
	}
}

func onTerminals(t *testing.T, test func(t *testing.T, terminal string)) {
	for _, terminal := range []string{"xterm-256color", "dumb"} {
		t.Run(terminal, func(t *testing.T) { test(t, terminal) })
	}
}

// TestPlainLineBeforeAQuestion: a line that was typed or started before a question belongs to the prompt. It is no
// answer, and is sent when the work is done.
func TestPlainLineBeforeAQuestion(t *testing.T) {
	onTerminals(t, func(t *testing.T, terminal string) {
		d := converse(t, terminal, "--plain")
		d.want("> ")
		d.types("touch a.txt\ry\r")
		d.want("queued (commands that", "Run this command?", "Enter for no): ")
		d.types("n\r")
		d.want("⊘ not run (denied)", "> y", `You said "y".`, "> ")
		d.types("touch b.txt\ry")
		d.want("Waiting for your approval: touch b.txt. Finish this line first: it goes to the prompt", "> y")
		d.types("es please\r")
		d.want("queued (commands that", "Run this command?", "Enter for no): ")
		d.types("d\rno need\r")
		d.want("no, don't save it")
		d.types("\r")
		d.want("⊘ not run (denied: no need)", "> yes please", `You said "yes please".`, "> ")
		d.types("touch c.txt\r\x1b") // Esc starts no line
		d.want("Run this command?", "Enter for no): ")
		d.types("1\r")
		d.want("exit 0", "> ")
		d.types("\x04")
		d.ends()
		d.absent("a.txt")
		d.absent("b.txt")
		if _, err := os.Stat(filepath.Join(d.work, "c.txt")); err != nil {
			t.Error("what was approved after the question did not run: ", err)
		}
	})
}

// TestPlainQuestionInTheMiddleOfALine: a background task asks while a person types. The person can finish the line
// first; an empty prompt makes room at once.
func TestPlainQuestionInTheMiddleOfALine(t *testing.T) {
	onTerminals(t, func(t *testing.T, terminal string) {
		d := converse(t, terminal, "--plain")
		d.want("> ")
		d.types("/bg touch a.txt\rall but tr")
		d.want("Waiting for your approval: touch a.txt. Finish this line first: it goes to the prompt")
		d.types("y\r")
		d.want("Run this command?", "Enter for no): ")
		d.types("n\r")
		d.want("⊘ not run (denied)", "> ")
		d.types("/bg touch b.txt\r")
		d.want("Run this command?", "Enter for no): ")
		d.types("one\\\rtwo\r")
		d.want("nothing was approved or denied", "Enter for no): ")
		d.types("\r")
		d.want("⊘ not run (denied)", "> ")
		d.types("\x04")
		d.ends()
		d.absent("a.txt")
		d.absent("b.txt")
		sent := false
		for _, r := range d.server.Requests() {
			sent = sent || promptIn(lastMessage(r).Content) == "all but try"
		}
		if !sent {
			t.Error("the line that was begun before the question was not sent whole")
		}
	})
}

// TestPlainInterruptedApproval: Ctrl-C at an approval cancels the task and is not recorded as a denial.
func TestPlainInterruptedApproval(t *testing.T) {
	onTerminals(t, func(t *testing.T, terminal string) {
		d := converse(t, terminal, "--plain")
		d.want("> ")
		d.types("touch a.txt\r")
		d.want("Enter for no): ")
		d.types("\x03")
		d.want("cancelling", "⊘ not run (cancelled)", "> ")
		d.types("still there\r")
		d.want(`You said "still there".`, "> ")
		d.types("\x04")
		d.ends()
		d.absent("a.txt")
	})
}

// TestPlainQuestionOfTheModel: a question is answered by a number or in free text, never by an empty line or text typed
// before it.
func TestPlainQuestionOfTheModel(t *testing.T) {
	onTerminals(t, func(t *testing.T, terminal string) {
		d := converse(t, terminal, "--plain")
		d.want("> ")
		d.types("ask me\r1\r")
		d.want("queued (commands", "? Which one?", "  1  red", "  2  blue", "Answer: ")
		d.types("\r")
		d.want("not answered", "Answer: ")
		d.types("/ps\r")
		d.want("#1", "Answer: ")
		d.types("green, if you can\r")
		d.want("It said: green, if you can", "> 1", `You said "1".`, "> ")
		d.types("\x04")
		d.ends()
	})
}

// TestPlainCommandsWhileWorking: some commands run at once while a task works, all others wait for its end; Ctrl-C
// returns them to the prompt.
func TestPlainCommandsWhileWorking(t *testing.T) {
	onTerminals(t, func(t *testing.T, terminal string) {
		d := converse(t, terminal, "--plain")
		d.want("> ")
		d.types("wait\r")
		d.want("I am waiting.")
		d.types("/ps\r")
		d.want("#1", "wait")
		d.types("/approve plan\r")
		d.want("approvals: plan")
		d.types("/context\r")
		d.want("Instruction files")
		d.types("/status\r")
		d.want("Permissions")
		d.types("/timeout 1h\r")
		d.want("1h")
		d.types("later\r")
		d.want("queued (commands that run immediately: /ps /kill")
		d.types("/kill\r")
		d.want("cancelled", "> later", `You said "later".`, "> ")
		d.types("wait\r")
		d.want("I am waiting.")
		d.types("not now\r")
		d.want("queued (commands")
		d.types("\x03")
		d.want("cancelling", "1 queued line not sent", "> ")
		d.types("/quit\r")
		d.ends()
	})
}

// TestPlainEditOfACommand: a command to approve can be changed in the person's editor. It is shown and asked about
// again, and runs as changed.
func TestPlainEditOfACommand(t *testing.T) {
	editor := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nsed -i s/a.txt/b.txt/ \"$1\"; echo 'echo edited' >>\"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("EDITOR", editor)
	t.Setenv("VISUAL", "")
	onTerminals(t, func(t *testing.T, terminal string) {
		d := converse(t, terminal, "--plain")
		d.want("> ")
		d.types("touch a.txt\r")
		d.want("e  edit", "Enter for no): ")
		d.types("e\r")
		d.want("With your edits:", "| touch b.txt", "| echo edited", "1  Yes, with your edits", "Enter for no): ")
		d.types("y\r")
		d.want("edited", "exit 0", "> ")
		d.types("\x04")
		d.ends()
		d.absent("a.txt")
		if _, err := os.Stat(filepath.Join(d.work, "b.txt")); err != nil {
			t.Error("what was edited did not run: ", err)
		}
	})
}

// TestExecAsksOnTheTerminal: exec shows the whole command and accepts only text typed after its question, one question
// after another; other words than y and n are the reason of a denial.
func TestExecAsksOnTheTerminal(t *testing.T) {
	d := converse(t, "xterm-256color", "exec", "touch a.txt\ntouch b.txt")
	d.types("y\r") // too early
	d.want("Run this command?", "| touch a.txt", "| touch b.txt", "Enter for no): ")
	d.types("use make\r")
	d.want("no, don't save it", "Number: ")
	d.types("\r")
	d.want("⊘ not run (denied: use make)", "Reason: use make")
	d.ends()
	d.absent("a.txt")

	d = converse(t, "xterm-256color", "exec", "touch twice")
	d.want("| touch one", "Enter for no): ")
	d.types("y\ry\r") // the second does not answer the next question
	d.want("| touch two", "Enter for no): ")
	d.types("\r")
	d.want("⊘ not run (denied)")
	d.ends()
	d.absent("two")
	if _, err := os.Stat(filepath.Join(d.work, "one")); err != nil {
		t.Error("what was approved did not run: ", err)
	}
}

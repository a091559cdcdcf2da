package ui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/app/slash"
)

func TestCopyFlow(t *testing.T) {
	const text = "Run this:\n\n```sh\nmake build\nmake test\n```\n\nand then\n\n```sh\nmake run\n```\n"
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		copied := func(want, hint string) {
			t.Helper()
			if x.Want(hint); x.copied != want {
				t.Errorf("copied %q, want %q", x.copied, want)
			}
			x.copied = ""
		}
		command := func(line string) {
			x.Paste(line)
			x.Press("Enter")
		}
		command("/copy")
		copied("", "/copy: there is no answer yet")
		x.feed(event.PromptSubmitted{ID: 1, Text: "how?"}, answer(text))
		command("/copy")
		copied(text, "Copied 12 lines")
		command("/copy code")
		copied("make run", "Copied 1 line")
		command("/copy all")
		copied("> how?\n\n"+text, "Copied 14 lines")
		command("/copy it")
		copied("", `/copy: unknown argument "it" (have: code`)
		x.rest()
		x.Press("Tab", "y")
		copied(text, "Copied 12 lines")
		x.Press("Tab", "c")
		copied("make build\nmake test", "Copied 2 lines")
		x.Press("Tab", "k", "c")
		copied("", "nothing to copy here")
		x.Press("Esc")
		x.feed(event.ToolRequested{CallID: "c1", Name: "run_shell", Action: ls})
		x.rest()
		x.Press("Tab", "G", "c")
		copied("ls -la", "Copied 1 line")
		x.feed(answer("plain"))
		command("/copy code")
		copied("", "/copy: the last answer has no code block")
		x.feed(answer(strings.Repeat("x", slash.MaxCopy+1)))
		command("/copy")
		copied("", "not copied: 1024 KB")
	})
}

func TestSelectAndCopyOnScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		copied := func(want string) {
			t.Helper()
			if x.Settle(); x.copied != want {
				t.Errorf("copied %q, want %q\n%s", x.copied, want, x.Screen())
			}
			x.copied = ""
		}
		x.feed(running...)
		x.feed(answer("one two three\n\nfour five"))
		x.Want("one two three")
		y := 2
		for !strings.Contains(x.Row(y), "one two three") {
			y++
		}
		x.Mouse("press", 5, y)
		x.Mouse("drag", 7, y)
		x.Mouse("drag", 4, y+2)
		x.Mouse("release", 4, y+2)
		copied("two three\n\nfour")
		x.Want("Copied 3 lines")
		if _, style, _ := x.Cell(6, y); !strings.Contains(style, "7") {
			t.Errorf("the selection has the style %q, not reversed", style)
		}
		x.Press("Ctrl+C") // copies the selection, does not cancel the task
		copied("two three\n\nfour")
		x.wantSent()
		x.Press("Ctrl+C")
		x.wantSent(event.Cancel{Task: 1})
		x.feed(event.TaskFinished{ID: 1, Outcome: event.Cancelled})
		x.Click(7, y)
		x.Click(7, y)
		copied("two")
		x.Press("Esc")
		if _, style, _ := x.Cell(7, y); strings.Contains(style, "7") {
			t.Errorf("after Esc the style is %q", style)
		}
		x.rest()
		x.Press("Tab", "v", "w", "h", "y")
		copied("one ")
		x.Mouse("press", 6, y)
		x.Mouse("drag", 6, 0) // above the pane, which scrolls until the button is released
		x.Mouse("release", 6, 0)
		if x.Written(); x.copied == "" {
			t.Error("nothing copied")
		}
		time.Sleep(time.Hour)
		if _, writes := x.Written(); writes != 0 {
			t.Errorf("%d writes in an idle hour", writes)
		}
	})
}

package app

import (
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
)

func TestCopyFlow(t *testing.T) { // UX "Conversation"
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
		x.tell(event.PromptSubmitted{ID: 1, Text: "how?"}, answer(text))
		command("/copy")
		copied(text, "copied 12 lines")
		command("/copy code")
		copied("make run", "copied 1 line")
		command("/copy all")
		copied("", `/copy: "all" is not known (have: code`)
		x.Press("Tab", "y")
		copied(text, "copied 12 lines")
		x.Press("c")
		copied("make build\nmake test", "copied 2 lines")
		x.Press("k", "c")
		copied("", "nothing to copy here")
		x.Press("Esc")
		x.tell(event.ToolRequested{CallID: "c1", Name: "run_shell", Action: ls})
		x.Press("Tab", "G", "c")
		copied("ls -la", "copied 1 line")
		x.Press("Esc")
		x.tell(answer("plain"))
		command("/copy code")
		copied("", "/copy: the last answer has no code block")
		x.tell(answer(strings.Repeat("x", maxCopy+1)))
		command("/copy")
		copied("", "not copied: 1024 KB")
	})
}

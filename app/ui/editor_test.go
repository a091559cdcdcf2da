package ui

import (
	"errors"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
)

func TestPromptAndBlocksInTheEditor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		var name, given string
		var fails error
		x.u.deps.Edit = func(n, text string) (string, error) {
			name, given = n, text
			return "line 1\nline 2\n", fails
		}
		x.Type("a draft")
		x.Press("Ctrl+G")
		x.Want("> line 1", "line 2")
		if name != "prompt.md" || given != "a draft" {
			t.Errorf("the editor got %q with %q", name, given)
		}
		x.Press("Ctrl+_")
		x.Want("> a draft") // the edit can be undone
		fails = errors.New("no editor")
		x.Press("Ctrl+G")
		x.Want("no editor", "> a draft")
		x.Press("Ctrl+C")
		fails = nil
		x.Type("/edit\n")
		x.Want("> line 1")
		x.Press("Ctrl+C")
		x.feed(event.PromptSubmitted{ID: 1, Text: "how?"}, answer("**so**"))
		x.rest()
		x.Press("Tab", "e")
		if name != "block.md" || given != "**so**" {
			t.Errorf("the editor got %q with %q", name, given)
		}
	})
}

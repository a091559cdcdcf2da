package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
)

func TestEditText(t *testing.T) { // UX "Prompt"
	t.Setenv("TMPDIR", t.TempDir()) // others edit, too
	script := filepath.Join(t.TempDir(), "my editor")
	body := "#!/bin/sh\nls -l \"$2\" | cut -c1-10 >>\"$2\"\necho \"$1\" >>\"$2\"\n"
	if err := os.WriteFile(script, []byte(body), 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := editText("prompt.md", "draft\n", "'"+script+"' --wait")
	if want := "draft\n-rw-------\n--wait\n"; got != want || err != nil {
		t.Errorf("edited %q, %v, want %q", got, err, want)
	}
	if _, err := editText("x", "draft", "false"); err == nil || !strings.Contains(err.Error(), `editor "false": exit status 1; the text is as it was`) {
		t.Errorf("an editor that fails: %v", err)
	}
	if _, err := editText("x", "draft", "rm"); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("an editor that removes the file: %v", err)
	}
	if _, err := editText("x", "", "head -c 9000000 /dev/zero >"); err == nil || !strings.Contains(err.Error(), "more than 8 MB") {
		t.Errorf("an editor that leaves too much: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "buddy-edit-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestPromptAndBlocksInTheEditor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		var name, given string
		var fails error
		x.u.deps.edit = func(n, text string) (string, error) {
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
		x.Want("> a draft") // it can be undone
		fails = errors.New("no editor")
		x.Press("Ctrl+G")
		x.Want("no editor", "> a draft")
		x.Press("Ctrl+C")
		fails = nil
		x.Type("/edit\n")
		x.Want("> line 1")
		x.Press("Ctrl+C")
		x.tell(event.PromptSubmitted{ID: 1, Text: "how?"}, answer("**so**"))
		x.Press("Tab", "e")
		if name != "block.md" || given != "**so**" {
			t.Errorf("the editor got %q with %q", name, given)
		}
	})
}

package host

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"buddy/agent/event"
	"buddy/app/compose"
)

// lists reports whether an event lists the commands, with or without one of a name.
func lists(name string, there bool) func(event.Event) bool {
	return func(e event.Event) bool {
		p, ok := e.(event.CommandsListed)
		return ok && there == slices.ContainsFunc(p.Commands, func(c event.CustomCommand) bool { return c.Name == name })
	}
}

// TestNewFilesAreSeen: a command that is written, changed, moved and removed while the session
// runs is offered as it is, also in a folder that was not there, and a screen that comes later
// knows it.
func TestNewFilesAreSeen(t *testing.T) {
	h := openHost(t, compose.Options{})
	v := look(t, h)
	v.until("what is built in", lists("review", true))
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(".claude/commands/hi.md", "Say hi")
	v.until("a new command", lists("hi", true))
	late := look(t, h)
	defer late.leave()
	hello, err := late.Hello(t.Context())
	if err != nil || !slices.ContainsFunc(hello.Open, func(env event.Envelope) bool { return lists("hi", true)(env.Payload) }) {
		t.Errorf("a screen that comes later does not know it: %v", err)
	}
	write(".claude/commands/hi.md", "---\ndescription: Greets\n---\nSay hi")
	v.until("its description", func(e event.Event) bool {
		p, ok := e.(event.CommandsListed)
		return ok && slices.ContainsFunc(p.Commands, func(c event.CustomCommand) bool { return c.Help == "Greets" })
	})
	write(".claude/commands/git/pr.md", "Look")
	v.until("a command in a new folder", lists("git:pr", true))
	if err := os.Rename(".claude/commands/git", ".claude/commands/hub"); err != nil {
		t.Fatal(err)
	}
	v.until("the folder's new name", lists("hub:pr", true))
	write(".buddy/skills/mine/SKILL.md", "Text")
	v.until("a skill", lists("mine", true))
	if err := os.RemoveAll(".buddy"); err != nil {
		t.Fatal(err)
	}
	v.until("that it is gone", lists("mine", false))
	write(".buddy/skills/mine/SKILL.md", "Text")
	v.until("that it is there again", lists("mine", true))
	v.leave()
}

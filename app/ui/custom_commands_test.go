package ui

import (
	"testing"
	"testing/synctest"

	"buddy/agent/event"
)

// TestCustomCommands: commands of the user and the project complete with their hint and origin and are sent as typed,
// with their text folded below; a wrong name goes back to the prompt.
func TestCustomCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.Type("/rel")
		x.unwanted("/release-notes")
		x.feed(event.CommandsListed{Commands: []event.CustomCommand{
			{Name: "release-notes", Args: "[VERSION]", Help: "Write the notes\x1b[31m of a version", Origin: "project"},
			{Name: "git:pr", Help: "Look at a pull request", Origin: "person"},
		}})
		x.Want("▸/release-notes", "of a version · [VERSION] (project)")
		x.Press("Tab")
		x.Type("1.4.0")
		x.Press("Enter")
		x.wantSent(event.Submit{Text: "/release-notes 1.4.0"})
		x.feed(event.PromptSubmitted{ID: 1, Text: "/release-notes 1.4.0", Kind: event.Opening},
			event.SkillLoaded{Name: "release-notes", Args: "1.4.0", Origin: "project", File: "/w/SKILL.md", By: event.ByPerson, Line: "/release-notes 1.4.0", Text: "Write the notes\nof 1.4.0"},
			event.SkillLoaded{Name: "other", By: event.ByModel})
		x.Want("▌ /release-notes 1.4.0", "▸ /release-notes 1.4.0  4 lines")
		x.unwanted("of 1.4.0\n", "/w/SKILL.md")
		x.Type("/gitt:pr")
		x.Press("Enter")
		x.wantSent()
		x.Want("Unknown command /gitt:pr (did you mean /git:pr?)", "> /gitt:pr")
		x.feed(event.CommandsListed{})
		x.Press("Ctrl+U")
		x.Type("/release-notes")
		x.Press("Enter")
		x.wantSent()
		x.Want("Unknown command /release-notes")
	})
}

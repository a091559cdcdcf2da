package feature

import (
	"strings"
	"testing"

	"buddy/app/show"
	"buddy/extensions"
)

// TestFileLists: a row about a file that was left out explains why, also in plain text; a name shows the details of a
// row, and open opens its file on this machine.
func TestFileLists(t *testing.T) {
	list := func() *FileList {
		l := &FileList{Command: "skills", List: show.List{Title: "Skills", Columns: []string{"name", "kind", "state"}}}
		l.Add(show.Row{ID: "pdf", Cells: []string{"/pdf", "skill", "on"}, More: []string{"fills", "forms"}}, "/f/pdf/SKILL.md")
		l.Add(show.Row{ID: "commit", Cells: []string{"/commit", "skill", "on"}}, "skills/commit")
		l.AddProblems([]extensions.Problem{{Kind: extensions.Agent, File: "/f/bad.md", Line: 3, Reason: "it has no text\x1b[31m"}, {Kind: extensions.Skill, File: "/f/odd", Reason: "odd", Used: true}})
		return l
	}()
	want := "Skills:\n  1  /pdf     skill  on\n  2  /commit  skill  on\n  3  bad.md   agent  left out\n       /f/bad.md:3: left out: it has no text␛[31m\n  4  odd      skill  partly used\n       /f/odd: odd"
	if got := (show.Answer{List: &list.List}).String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	run := func(args ...string) string {
		a, err := list.Answer(args)
		switch {
		case err != nil:
			return err.Error()
		case a.Open != "":
			return "open " + a.Open
		}
		return a.String()
	}
	for args, want := range map[string]string{
		"pdf": "fills\nforms", "/pdf": "fills\nforms", "open pdf": "open /f/pdf/SKILL.md", "open commit": "the file of commit is not on this machine",
		"open " + list.Rows[2].ID: "open /f/bad.md", "nothing": `"nothing" is not in the list (/skills shows it)`, "open": `"open" is not in the list (/skills shows it)`,
	} {
		if got := run(strings.Split(args, " ")...); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
	far := FileList{Command: "skills", Away: true}
	if far.Add(show.Row{ID: "pdf"}, "/f/pdf/SKILL.md"); far.files[0] != "" || len(far.Rows[0].Deeds) > 0 {
		t.Errorf("a file of another machine: %+v", far)
	}
}

package commands

import (
	"context"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/agent/skills"
	"buddy/app/compose"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/extensions"
	"buddy/extensions/skill"
)

// here is a session on this machine.
func here() *Session {
	return &Session{Program: &compose.Program{Setup: compose.Setup{Target: slash.ThisMachine}}}
}

// TestSkillRows: a row says what a skill costs and what it can't do; its deed switches it, and one of a project that is not
// trusted names the command that trusts it.
func TestSkillRows(t *testing.T) {
	item := func(name string, origin extensions.Origin, base string) extensions.Item {
		return extensions.Item{Kind: extensions.Skill, Name: name, Origin: origin, File: "/f/" + name, Base: base}
	}
	for _, tt := range []struct {
		e    skills.Entry
		want string
		deed string
	}{
		{skills.Entry{Skill: skill.Skill{Item: item("pdf", extensions.Person, ""), Description: "Fills forms"}, Cost: 40, Size: 1200, Used: 2}, "/pdf|skill|person|40|in the model's list", "off pdf"},
		{skills.Entry{Skill: skill.Skill{Item: item("git:pr", extensions.Plugin, "")}, Off: true}, "/git:pr|skill|plugin|–|off", "on git:pr"},
		{skills.Entry{Skill: skill.Skill{Item: item("ts", extensions.Project, "/w"), Listed: true, Asleep: true, Paths: []string{"*.ts"}}}, "/ts|skill|project|–|in the model's list once a file of *.ts is used", "off ts"},
		{skills.Entry{Skill: skill.Skill{Item: item("x", extensions.Project, "/w"), Effects: skill.Effects{Model: "m"}}, Cost: 9}, "/x|skill|project|9|in the model's list · not trusted, so its commands and grants are off (buddy trust)", "off x"},
		{skills.Entry{Skill: skill.Skill{Item: item("y", extensions.Project, "/w/sub"), Effects: skill.Effects{Model: "m"}, Changed: true, Withheld: "odd"}}, "/y|skill|project|–|not in the model's list · the model doesn't get its description: odd · changed since you trusted it, so its commands and grants are off (buddy trust sub)", "off y"},
	} {
		r := skillRow(tt.e, trustLine("/w", tt.e.Base))
		if got := strings.Join(r.Cells, "|"); got != tt.want || textOf(r.Deeds[0].Run) != "skills "+tt.deed || r.More[len(r.More)-1] != "/f/"+tt.e.Name {
			t.Errorf("%s, want %s\n%+v", got, tt.want, r)
		}
	}
}

// TestFileLists: a file that was left out is a row that says why, also in plain text; a name says all about a row, and open
// opens its file where that is on this machine.
func TestFileLists(t *testing.T) {
	s := here()
	list := func(_ *testing.T) fileList {
		l := fileList{List: show.List{Title: "Skills", Columns: []string{"name", "kind", "state"}}}
		l.add(s, "skills", show.Row{ID: "pdf", Cells: []string{"/pdf", "skill", "on"}, More: []string{"fills", "forms"}}, "/f/pdf/SKILL.md")
		l.add(s, "skills", show.Row{ID: "commit", Cells: []string{"/commit", "skill", "on"}}, "skills/commit")
		l.addProblems(s, "skills", []extensions.Problem{{Kind: extensions.Agent, File: "/f/bad.md", Line: 3, Reason: "it has no text\x1b[31m"}, {Kind: extensions.Skill, File: "/f/odd", Reason: "odd", Used: true}})
		return l
	}(t)
	want := "Skills:\n  1  /pdf     skill  on\n  2  /commit  skill  on\n  3  bad.md   agent  left out\n       /f/bad.md:3: left out: it has no text␛[31m\n  4  odd      skill  partly used\n       /f/odd: odd"
	if got := (show.Answer{List: &list.List}).String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	run := func(args ...string) string {
		a, err := overFiles("skills", listOnly(list))(t.Context(), s, args)
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
	s.Program.Target = "web-02"
	far := fileList{}
	if far.add(s, "skills", show.Row{ID: "pdf"}, "/f/pdf/SKILL.md"); far.files[0] != "" || len(far.Rows[0].Deeds) > 0 {
		t.Errorf("a file of another machine: %+v", far)
	}
}

// TestSwitchingSkills sends one name, in the form that skills have.
func TestSwitchingSkills(t *testing.T) {
	var sent []event.Command
	s := here()
	s.Send = func(c event.Command) { sent = append(sent, c) }
	for args, want := range map[string]event.Command{"off pdf": event.SwitchSkill{Name: "pdf"}, "on /Git:PR": event.SwitchSkill{Name: "git:pr", On: true}, "off": nil} {
		sent = nil
		_, err := Run(t.Context(), s, append([]string{"skills"}, strings.Split(args, " ")...)...)
		if want == nil && (err == nil || sent != nil) || want != nil && (err != nil || len(sent) != 1 || sent[0] != want) {
			t.Errorf("/skills %s: sent %v, %v", args, sent, err)
		}
	}
}

func listOnly(l fileList) func(context.Context, *Session) (fileList, error) {
	return func(context.Context, *Session) (fileList, error) { return l, nil }
}

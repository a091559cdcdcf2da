package skills

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/agent/stream"
	"buddy/agent/turn"
	"buddy/extensions"
	"buddy/extensions/skill"
	"buddy/features/feature"
)

// TestSkillRows: a row shows the costs and restrictions of a skill; its action switches it, and the row of an untrusted
// skill names the command that trusts it.
func TestSkillRows(t *testing.T) {
	item := func(name string, origin extensions.Origin, base string) extensions.Item {
		return extensions.Item{Kind: extensions.Skill, Name: name, Origin: origin, File: "/f/" + name, Base: base}
	}
	for _, tt := range []struct {
		e    entry
		want string
		deed string
	}{
		{entry{Skill: skill.Skill{Item: item("pdf", extensions.Person, ""), Description: "Fills forms"}, Cost: 40, Used: 2}, "/pdf|skill|person|40|in the model's list", "off pdf"},
		{entry{Skill: skill.Skill{Item: item("git:pr", extensions.Plugin, "")}, Off: true}, "/git:pr|skill|plugin|–|off", "on git:pr"},
		{entry{Skill: skill.Skill{Item: item("ts", extensions.Project, "/w"), Listed: true, Asleep: true, Paths: []string{"*.ts"}}}, "/ts|skill|project|–|in the model's list once a file of *.ts is used", "off ts"},
		{entry{Skill: skill.Skill{Item: item("x", extensions.Project, "/w"), Effects: skill.Effects{Model: "m"}}, Cost: 9}, "/x|skill|project|9|in the model's list · not trusted, so its commands, allowed-tools and model have no effect (to trust it, run: buddy trust)", "off x"},
		{entry{Skill: skill.Skill{Item: item("y", extensions.Project, "/w/sub"), Effects: skill.Effects{Model: "m"}, Changed: true, Withheld: "odd"}}, "/y|skill|project|–|not in the model's list · the model doesn't get its description: odd · it changed since you trusted it, so its commands, allowed-tools and model have no effect (to trust it, run: buddy trust sub)", "off y"},
	} {
		r := tt.e.row(trustLine("/w", tt.e.Base))
		if got := strings.Join(r.Cells, "|"); got != tt.want || strings.Join(r.Deeds[0].Run, " ") != "skills "+tt.deed || r.More[len(r.More)-1] != "/f/"+tt.e.Name {
			t.Errorf("%s, want %s\n%+v", got, tt.want, r)
		}
	}
}

// TestSwitchingSkills: the command accepts one name, in any spelling of a skill.
func TestSwitchingSkills(t *testing.T) {
	var work sync.WaitGroup
	b := New(Options{Read: func(context.Context) (Set, error) {
		return Set{Skills: []skill.Skill{{Item: extensions.Item{Name: "pdf"}}, {Item: extensions.Item{Name: "git:pr"}}}}, nil
	}})
	events := stream.New("s", time.Now, nil)
	b.Begin(turn.Session{Context: t.Context(), Work: &work, Stream: events})
	events.Publish(0, 0, event.SessionCreated{})
	work.Wait()
	run := func(line string) string {
		if _, err := run(t.Context(), feature.Asked{Part: b}, strings.Split(line, " ")); err != nil {
			return err.Error()
		}
		return ""
	}
	for _, c := range []struct{ line, want, on string }{
		{"off pdf", "", "git:pr"},
		{"off /Git:PR", "", ""},
		{"on /Git:PR", "", "git:pr"},
		{"on pdf", "", "pdf git:pr"},
		{"off", "use off NAME or on NAME, or nothing for a list", "pdf git:pr"},
		{"off none", `there is no skill "none" (/skills lists them all)`, "pdf git:pr"},
	} {
		got := run(c.line)
		var on []string
		for _, s := range b.on() {
			on = append(on, s.Name)
		}
		if got != c.want || strings.Join(on, " ") != c.on {
			t.Errorf("/skills %s: %q, on are %q", c.line, got, on)
		}
	}
	if _, err := Feature.Commands[0].Run(t.Context(), feature.Asked{}, nil); !errors.Is(err, feature.ErrNoSession) {
		t.Errorf("without a session: %v", err)
	}
}

package commands

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"buddy/agent"
	"buddy/agent/event"
	"buddy/agent/skills"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/features/feature"
	"buddy/texts"
)

func init() {
	add(slash.Command{
		Name: "skills", Means: []string{"plugins"}, Args: "[NAME|off NAME|on NAME|open NAME]", Brief: "skills and custom commands",
		Help: "skills and custom commands: what each costs, what was left out and why; switches one off or on for this session",
	}, onSkills)
}

// onSkills lists the skills and custom commands, or switches one off or on in this session.
func onSkills(ctx context.Context, s *Session, args []string) (show.Answer, error) {
	if len(args) > 0 && (args[0] == "on" || args[0] == "off") {
		name := strings.ToLower(strings.TrimPrefix(textOf(args[1:]), "/"))
		switch {
		case name == "":
			return show.Answer{}, errors.New("say off NAME or on NAME, or nothing for a list")
		case s.Send == nil:
			return show.Answer{}, feature.ErrNoSession
		}
		s.Send(event.SwitchSkill{Name: name, On: args[0] == "on"})
		return show.Answer{}, nil
	}
	return overFiles("skills", listSkills)(ctx, s, args)
}

func listSkills(ctx context.Context, s *Session) (fileList, error) {
	found, err := ask(ctx, s, func(r *agent.Runtime) skills.Listing { return agent.Skills(ctx, r) })
	list := fileList{List: show.List{
		Title: "Skills and commands", Columns: []string{"name", "kind", "from", "tokens", "state"}, Empty: "there are no skills and no custom commands",
		Usage: "/skills off NAME and /skills on NAME switch one for this session, [skills] off in your settings for all; /skills NAME says all about one",
	}}
	if found.Cost > 0 {
		list.Note = fmt.Sprintf("The model's list of them costs about %d tokens, once in a conversation.", found.Cost)
	}
	for _, e := range found.Entries {
		list.add(s, "skills", skillRow(e, trustLine(found.Workspace, e.Base)), e.File)
	}
	list.addProblems(s, "skills", found.Problems)
	return list, err
}

// skillRow is a skill in the list; trust is the command that trusts it.
func skillRow(e skills.Entry, trust string) show.Row {
	states, cost, turn := skillStates(e, trust), "–", "off"
	if e.Cost > 0 {
		cost = strconv.Itoa(e.Cost)
	}
	if e.Off {
		turn = "on"
	}
	r := show.Row{
		ID: e.Name, Cells: []string{e.Call(), e.Kind.One(), string(e.Origin), cost, strings.Join(states, " · ")},
		Mark: !e.Off, Find: e.Name + " " + e.Description + " " + string(e.Origin),
		Deeds: []show.Deed{{Label: "switch it " + turn + " for this session", Run: []string{"skills", turn, e.Name}}},
	}
	for _, text := range []string{e.Description, e.When} {
		if text != "" {
			r.More = append(r.More, text)
		}
	}
	r.More = append(r.More, "Its text has "+texts.Count(e.Size)+" tokens, its line in the model's list "+cost+".")
	if e.Used > 0 {
		r.More = append(r.More, "Used "+texts.Plural(e.Used, "time")+" in this session.")
	}
	r.More = append(append(r.More, states...), e.File)
	return r
}

// skillStates says who can use a skill, and what it can't do.
func skillStates(e skills.Entry, trust string) (states []string) {
	switch {
	case e.Off:
		states = append(states, "off")
	case e.Listed && e.Asleep:
		states = append(states, "in the model's list once a file of "+strings.Join(e.Paths, ", ")+" is used")
	case e.Cost > 0:
		states = append(states, "in the model's list")
	default:
		states = append(states, "not in the model's list")
	}
	if e.Withheld != "" {
		states = append(states, "the model doesn't get its description: "+e.Withheld)
	}
	if e.WantsTrust() && !e.Acts {
		why := "not trusted"
		if e.Changed {
			why = "changed since you trusted it"
		}
		states = append(states, why+", so its commands and grants are off ("+trust+")")
	}
	return states
}

// trustLine returns the command that trusts what a folder holds, which is the workspace or one below it.
func trustLine(workspace, folder string) string {
	if rel, ok := strings.CutPrefix(folder, workspace+"/"); ok {
		return "buddy trust " + rel
	}
	return "buddy trust"
}

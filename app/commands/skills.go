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
			return show.Answer{}, errNoSession
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
	states := skillStates(e, trust)
	cost := "–"
	if e.Cost > 0 {
		cost = strconv.Itoa(e.Cost)
	}
	r := show.Row{
		ID: e.Name, Cells: []string{e.Call(), e.Kind.One(), string(e.Origin), cost, strings.Join(states, " · ")},
		Mark: !e.Off, Find: strings.Join([]string{e.Name, e.Description, string(e.Origin)}, " "),
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
	if states[0] == skillOn {
		states = states[1:]
	}
	r.More = append(append(r.More, states...), e.File)
	deed := show.Deed{Label: "switch it off for this session", Run: []string{"skills", "off", e.Name}}
	if e.Off {
		deed = show.Deed{Label: "switch it on for this session", Run: []string{"skills", "on", e.Name}}
	}
	r.Deeds = []show.Deed{deed}
	return r
}

// skillOn is the state of a skill that the model is told of.
const skillOn = "on"

// skillStates says who can use a skill, and what it can't do.
func skillStates(e skills.Entry, trust string) (states []string) {
	switch {
	case e.Off:
		states = append(states, "off")
	case e.Listed && e.Asleep:
		states = append(states, "on once a file of "+strings.Join(e.Paths, ", ")+" is used")
	case e.Cost > 0:
		states = append(states, skillOn)
	default:
		states = append(states, "not in the model's list")
	}
	if e.Withheld != "" {
		states = append(states, "the model doesn't get its description: "+e.Withheld)
	}
	switch {
	case !e.WantsTrust() || e.Acts:
	case e.Changed:
		states = append(states, "changed since you trusted it, so its commands and grants are off ("+trust+")")
	default:
		states = append(states, "not trusted, so its commands and grants are off ("+trust+")")
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

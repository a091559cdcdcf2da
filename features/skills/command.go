package skills

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"buddy/app/show"
	"buddy/extensions/skill"
	"buddy/features/feature"
	"buddy/texts"
)

// startTime limits how long a command waits for the skills of a session that starts.
const startTime = 10 * time.Second

// run lists skills and custom commands, or switches one on or off in this session.
func run(ctx context.Context, a feature.Asked, args []string) (show.Answer, error) {
	switches, name := len(args) > 0 && (args[0] == "on" || args[0] == "off"), ""
	if switches {
		name = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(strings.Join(args[1:], " ")), "/"))
	}
	b, ok := a.Part.(*Book)
	switch {
	case switches && name == "":
		return show.Answer{}, errors.New("use off NAME or on NAME, or nothing for a list")
	case !ok:
		return show.Answer{}, feature.ErrNoSession
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	select {
	case <-b.first:
	case <-ctx.Done():
		return show.Answer{}, errors.New("the session is still loading")
	}
	if switches {
		return show.Answer{}, b.Switch(name, args[0] == "on")
	}
	return b.files(ctx).Answer(args)
}

// perToken is the estimated number of bytes in a token.
const perToken = 4

func tokens(bytes int) int { return (bytes + perToken - 1) / perToken }

// entry is a skill with its state in the session.
type entry struct {
	skill.Skill
	Off  bool
	Cost int // tokens of its line in the model's list; 0: not listed
	Used int // number of uses
}

// files lists the skills.
func (b *Book) files(ctx context.Context) *feature.FileList {
	b.await(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	list := &feature.FileList{Command: "skills", Away: b.o.Away, List: show.List{
		Title: "Skills and commands", Columns: []string{"name", "kind", "from", "tokens", "state"}, Empty: "there are no skills and no custom commands",
		Usage: "/skills on|off NAME switches one on or off for this session, [skills] off in your settings for all sessions; /skills NAME shows its details",
	}}
	cost, sum := make(map[string]int), 0
	for _, line := range skill.Lines(b.on(), b.s.Selection.KnownWindow(), b.used) {
		cost[line.Name] = tokens(len(line.String()) + 1)
		sum += cost[line.Name]
	}
	if sum > 0 {
		list.Note = fmt.Sprintf("The model's list of skills and commands costs about %d tokens, once per conversation.", sum+tokens(len(skill.Head)))
	}
	for _, s := range b.set.Skills {
		list.Add(entry{s, b.off(s.Name), cost[s.Name], b.used[s.Name]}.row(trustLine(b.s.Workspace, s.Base)), s.File)
	}
	list.AddProblems(b.set.Problems)
	return list
}

// row returns the list row of the skill; trust is the command that trusts it.
func (e entry) row(trust string) show.Row {
	states, cost, turn := e.states(trust), "–", "off"
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
	r.More = append(r.More, "Its text has "+texts.Count(tokens(len(e.Body)))+" tokens, its line in the model's list "+cost+".")
	if e.Used > 0 {
		r.More = append(r.More, "Used "+texts.Plural(e.Used, "time")+" in this session.")
	}
	r.More = append(append(r.More, states...), e.File)
	return r
}

// states describes who can use the skill, and its restrictions.
func (e entry) states(trust string) (states []string) {
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
			why = "it changed since you trusted it"
		}
		states = append(states, why+", so its commands, allowed-tools and model have no effect (to trust it, run: "+trust+")")
	}
	return states
}

// trustLine returns the command that trusts a folder, the workspace or one below it.
func trustLine(workspace, folder string) string {
	if rel, ok := strings.CutPrefix(folder, workspace+"/"); ok {
		return "buddy trust " + rel
	}
	return "buddy trust"
}

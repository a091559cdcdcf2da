package commands

import (
	"context"
	"fmt"

	"buddy/agent"
	"buddy/agent/event"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/texts"
)

func init() {
	add(slash.Command{
		Name: "goal", Means: []string{"loop", "until"}, Args: "[TEXT [--check COMMAND] [--check-outside] [--verdict] [--turns N] [--cost DOLLARS] [--time 30m]|pause|resume|off]", Brief: "work until a check says it is done",
		Help:   "work until a check says that the goal is met: a command that exits with 0, or else the verdict of a subagent; alone, how far it is",
		Events: slash.One(slash.Goal),
	}, showGoal)
}

// showGoal shows the goal and how far it is.
func showGoal(ctx context.Context, s *Session, _ []string) (show.Answer, error) {
	g, err := ask(ctx, s, agent.GoalOf)
	if err != nil || g.Now.State == "" {
		return show.Say("No goal. /goal TEXT --check COMMAND works until the command exits with 0."), err
	}
	return show.Answer{Document: goalDocument(g)}, nil
}

// goalDeeds hold what can be done with a goal, by its state.
var goalDeeds = map[event.GoalState][]show.Deed{
	event.GoalActive: {{Label: "pause it", Run: []string{"goal", "pause"}}, {Label: "end it", Run: []string{"goal", "off"}}},
	event.GoalPaused: {{Label: "continue it", Run: []string{"goal", "resume"}}, {Label: "end it", Run: []string{"goal", "off"}}},
}

// goalDocument describes a goal.
func goalDocument(g agent.Goal) *show.Document {
	d := &show.Document{Title: "Goal"}
	state := show.Value{Label: "State", Text: string(g.Now.State), Deeds: goalDeeds[g.Now.State]}
	if g.Now.Reason != "" {
		state.Text += ": " + g.Now.Reason
	}
	if len(state.Deeds) > 0 {
		state.Line, d.Usage = "The goal is "+state.Text, "/goal pause, /goal resume and /goal off steer it"
	}
	values := []show.Value{{Label: "Goal", Text: texts.OneLine(g.Set.Goal)}, state}
	if g.Set.Check != "" {
		where := ""
		if g.Set.Outside {
			where = ", also outside the sandbox"
		}
		values = append(values, show.Value{Label: "Check", Text: texts.OneLine(g.Set.Check) + " exits with 0" + where})
	}
	if g.Set.Verdict {
		values = append(values, show.Value{Label: "Verdict", Text: "of the agent judge"})
	}
	used, limit := g.Now.Used, g.Now.Limit
	d.Sections = []show.Section{{Values: append(values,
		show.Value{Label: "Turns", Text: fmt.Sprint(used.Turns) + of(limit.Turns > 0, fmt.Sprint(limit.Turns))},
		show.Value{Label: "Cost", Text: used.Cost.String() + of(limit.Cost > 0, limit.Cost.String())},
		show.Value{Label: "Time", Text: used.Time() + of(limit.TimeMS > 0, limit.Time())},
	)}}
	return d
}

// of returns " of LIMIT" for a limit that there is.
func of(there bool, limit string) string {
	if !there {
		return ""
	}
	return " of " + limit
}

// Package goal lets the user set a goal, which the session works on until a check succeeds: a command that exits with
// 0, or the verdict of a subagent.
package goal

import (
	"context"
	"fmt"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/turn"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/config"
	"buddy/features/feature"
	"buddy/texts"
)

// Feature adds goals to sessions.
var Feature = &feature.Feature{
	Commands: []feature.Command{{
		Command: slash.Command{
			Name: "goal", Means: []string{"until"}, Args: "[TEXT [--check COMMAND] [--check-outside] [--verdict] [--turns N] [--cost DOLLARS] [--time 30m]|pause|resume|off]", Brief: "work until a check passes",
			Help:   "work until a check says that the goal is met: a command that exits with 0, or else the verdict of a subagent; without arguments, show the progress",
			Events: slash.One(parse),
		},
		Run: showGoal,
	}},
	Part: func(s feature.Session) turn.Part { return New(Settings.In(s.Config)) },
}

// Limits holds the default limits of goals; 0 is no limit.
type Limits struct {
	Turns        int
	Cost         model.Money
	Minutes      int
	CheckMinutes int // minutes for each run of the check command
}

// Settings is the section [goal].
var Settings = config.Own("goal", "Goals that the agent works on until a check says that they are met (`/goal`). These limits apply to goals without limits of their own.",
	Limits{Turns: 100, Cost: 5 * model.Dollar, Minutes: 120, CheckMinutes: 10},
	config.Field[Limits]{
		Name: "turns", Short: "0 or more", Limit: true, At: func(l *Limits) any { return &l.Turns },
		Doc: "The number of turns after which work on a goal pauses; `/goal resume` grants as many again. 0 means no limit. A project's file may only lower it.",
	},
	config.Field[Limits]{
		Name: "cost", Short: "dollars, 0 or more", Limit: true, At: func(l *Limits) any { return &l.Cost },
		Doc: "The cost, including subagents, at which work on a goal pauses; 0 means no limit. Only requests with a known price count. A project's file may only lower it.",
	},
	config.Field[Limits]{
		Name: "minutes", Short: "0 or more", Limit: true, At: func(l *Limits) any { return &l.Minutes },
		Doc: "The time after which work on a goal pauses, including the time that approvals wait for your answer; 0 means no limit. A project's file may only lower it.",
	},
	config.Field[Limits]{
		Name: "check_minutes", Short: "0 or more", Limit: true, At: func(l *Limits) any { return &l.CheckMinutes },
		Doc: "The time limit for each run of a goal's command; a run that reaches it counts as not met. 0 means no limit. A project's file may only lower it.",
	},
)

// showGoal shows the goal and its progress.
func showGoal(ctx context.Context, a feature.Asked, _ []string) (show.Answer, error) {
	if err := a.Settle(ctx); err != nil {
		return show.Answer{}, err
	}
	set, now := a.Part.(*Part).keeper.Goal()
	if now.State == "" {
		return show.Say("No goal. /goal TEXT --check COMMAND works until the command exits with 0."), nil
	}
	return show.Answer{Document: document(set, now)}, nil
}

// deeds lists the actions on a goal, by its state.
var deeds = map[event.GoalState][]show.Deed{
	event.GoalActive: {{Label: "pause it", Run: []string{"goal", "pause"}}, {Label: "end it", Run: []string{"goal", "off"}}},
	event.GoalPaused: {{Label: "continue it", Run: []string{"goal", "resume"}}, {Label: "end it", Run: []string{"goal", "off"}}},
}

// document describes a goal.
func document(set event.GoalSet, now event.GoalChanged) *show.Document {
	d := &show.Document{Title: "Goal"}
	state := show.Value{Label: "State", Text: string(now.State), Deeds: deeds[now.State]}
	if now.Reason != "" {
		state.Text += ": " + now.Reason
	}
	if len(state.Deeds) > 0 {
		state.Line, d.Usage = "The goal is "+state.Text, "/goal pause, /goal resume and /goal off control it"
	}
	values := []show.Value{{Label: "Goal", Text: texts.OneLine(set.Goal)}, state}
	if set.Check != "" {
		where := ""
		if set.Outside {
			where = ", also outside the sandbox"
		}
		values = append(values, show.Value{Label: "Check", Text: texts.OneLine(set.Check) + " exits with 0" + where})
	}
	if set.Verdict {
		values = append(values, show.Value{Label: "Verdict", Text: "of the agent judge"})
	}
	used, limit := now.Used, now.Limit
	d.Sections = []show.Section{{Values: append(values,
		show.Value{Label: "Turns", Text: fmt.Sprint(used.Turns) + of(limit.Turns > 0, fmt.Sprint(limit.Turns))},
		show.Value{Label: "Cost", Text: used.Cost.String() + of(limit.Cost > 0, limit.Cost.String())},
		show.Value{Label: "Time", Text: used.Time() + of(limit.TimeMS > 0, limit.Time())},
	)}}
	return d
}

// of returns " of LIMIT", or "" if there is no limit.
func of(there bool, limit string) string {
	if !there {
		return ""
	}
	return " of " + limit
}

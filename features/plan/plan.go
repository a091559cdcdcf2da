// Package plan implements plan mode, in which the model can only read, and write a plan to a file, until the user
// approves the plan. [buddy/agent/plan] parses plans, and [buddy/agent/approval] switches the mode.
package plan

import (
	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/turn"
	"buddy/app/slash"
	"buddy/features/feature"
)

// Feature adds plan mode to sessions.
var Feature = &feature.Feature{
	Commands: []feature.Command{{Command: slash.Command{
		Name: "plan", Means: []string{"readonly"}, Use: 6, Args: "[PROMPT]", Brief: "only read until you approve a plan",
		Help: "plan mode: only read until you approve a plan; with a prompt, start with the prompt", Events: enter,
	}}},
	Part: func(s feature.Session) turn.Part { return Part(FileIn(s.Dir)) },
}

// enter starts plan mode, and a prompt if there is one.
func enter(prompt string) ([]event.Command, error) {
	all := []event.Command{event.SetMode{Mode: action.ModePlan}}
	if prompt != "" {
		all = append(all, event.Submit{Text: prompt})
	}
	return all, nil
}

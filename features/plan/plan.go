// Package plan has plan mode, in which the model only reads and writes a plan, a file of the session, until the person has approved
// it. [buddy/agent/plan] reads what is in a plan, package approval begins and ends the mode.
package plan

import (
	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/turn"
	"buddy/app/slash"
	"buddy/features/feature"
)

// Feature has plan mode.
var Feature = &feature.Feature{
	Commands: []feature.Command{{Command: slash.Command{
		Name: "plan", Means: []string{"readonly"}, Use: 6, Args: "[PROMPT]", Brief: "only read until you approve a plan",
		Help: "plan mode: only read until you approve a plan; with a prompt, start with the prompt", Events: begin,
	}}},
	Part: func(s feature.Session) turn.Part { return Part(FileIn(s.Dir)) },
}

// begin starts plan mode, and the work on a prompt if there is one.
func begin(prompt string) ([]event.Command, error) {
	all := []event.Command{event.SetMode{Mode: action.ModePlan}}
	if prompt != "" {
		all = append(all, event.Submit{Text: prompt})
	}
	return all, nil
}

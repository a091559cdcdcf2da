package goal

import (
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/show"
)

// TestDocument: it shows the progress of the goal, with actions while the goal is active or paused.
func TestDocument(t *testing.T) {
	set := event.GoalSet{ID: 1, Goal: "make the\ntests pass", Check: "make test", Outside: true, Verdict: true}
	now := event.GoalChanged{ID: 1, State: event.GoalPaused, Reason: "you interrupted it", Used: event.GoalUse{Turns: 3, Cost: model.Dollar / 4, TimeMS: 90_000}, Limit: event.GoalUse{Turns: 20, TimeMS: 1_800_000}}
	want := `Goal

  Goal     make the tests pass
  State    paused: you interrupted it
  Check    make test exits with 0, also outside the sandbox
  Verdict  of the agent judge
  Turns    3 of 20
  Cost     $0.25
  Time     1m30s of 30m
/goal pause, /goal resume and /goal off control it`
	if got := (show.Answer{Document: document(set, now)}).String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for state, want := range map[event.GoalState]string{event.GoalPaused: "goal resume, goal off", event.GoalActive: "goal pause, goal off", event.GoalMet: "", event.GoalOff: ""} {
		now.State = state
		got := ""
		for _, d := range document(set, now).Sections[0].Values[1].Deeds {
			if got != "" {
				got += ", "
			}
			got += strings.Join(d.Run, " ")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
}

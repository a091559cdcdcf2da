package state

import (
	"fmt"
	"slices"
	"testing"

	"buddy/agent/event"
	"buddy/agent/record"
)

// After each event, the screen and the record agree on pending requests, queued prompts and running tasks.
func TestScreenAgreesWithTheRecord(t *testing.T) {
	for name, envs := range map[string][]event.Envelope{"watched": realistic(), "stored": durable(realistic())} {
		var s State
		var r record.Record
		seen := 0
		for _, env := range envs {
			s.Apply(env)
			r.Apply(env)
			screen, recorded := openOnScreen(&s), openInRecord(&r)
			if seen = max(seen, len(screen)); !slices.Equal(screen, recorded) {
				t.Fatalf("%s, after %T: the screen has %q, the record %q", name, env.Payload, screen, recorded)
			}
		}
		if seen < 3 {
			t.Errorf("%s: at most %d things were open at once, which shows nothing", name, seen)
		}
	}
}

func openOnScreen(s *State) (all []string) {
	for _, a := range s.Approvals {
		all = append(all, "approval "+a.ID)
	}
	for _, q := range s.Questions {
		all = append(all, "question "+q.ID)
	}
	for _, p := range s.Queued {
		all = append(all, fmt.Sprint("prompt ", p.ID))
	}
	for _, task := range s.Tasks {
		if task.State != TaskDone && task.Started != 0 {
			all = append(all, fmt.Sprint("task ", task.ID))
		}
	}
	slices.Sort(all)
	return all
}

func openInRecord(r *record.Record) (all []string) {
	for _, env := range r.Asked {
		switch p := env.Payload.(type) {
		case event.ApprovalAsked:
			all = append(all, "approval "+p.ID)
		case event.QuestionAsked:
			all = append(all, "question "+p.ID)
		}
	}
	for id, env := range r.Queued {
		if env.Branch == 0 {
			all = append(all, fmt.Sprint("prompt ", id))
		}
	}
	for id, task := range r.Tasks {
		if !task.Lost {
			all = append(all, fmt.Sprint("task ", id))
		}
	}
	slices.Sort(all)
	return all
}

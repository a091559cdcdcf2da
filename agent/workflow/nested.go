package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/extensions/workflow"
)

// maxNested limits how many runs may be above a run.
const maxNested = 3

// nested does a step that is a run of another workflow. Its calls, gates and states are those of that
// run; one that was cut off goes on where it was.
func (r *Run) nested(ctx context.Context, s *workflow.Step, n int, item string) {
	if got := r.at(s, n).got; got != nil { // it ended, and the step did not
		state := event.WorkflowFailed
		if got.ok {
			state = event.WorkflowCompleted
		}
		r.endUnit(s, n, state, got.problem)
		return
	}
	if err := r.tell(event.WorkflowStepped{Run: r.rec.Run, Step: s.ID, Item: n, State: event.WorkflowRunning}); err != nil {
		r.stop(err)
		return
	}
	child, err := r.child(ctx, s, n, item)
	if err != nil {
		r.endUnit(s, n, event.WorkflowFailed, err.Error())
		return
	}
	outcome, err := child.Do(ctx)
	if r.over(ctx) {
		if !r.p.Ended() {
			r.endUnit(s, n, event.WorkflowCancelled, "")
		}
		return
	}
	state, why := event.WorkflowCompleted, ""
	if outcome != event.Completed {
		state = event.WorkflowFailed
		if err != nil {
			why = err.Error()
		}
	}
	r.endUnit(s, n, state, why)
}

// child begins the run of a step, or takes it up again.
func (r *Run) child(ctx context.Context, s *workflow.Step, n int, item string) (*Run, error) {
	r.book.mu.Lock()
	number, above := 0, 0
	for _, rec := range r.book.runs {
		if rec.Parent == r.rec.Run && rec.Step == s.ID && rec.Item == n && !rec.State.Ended() {
			number = rec.Run
		}
	}
	for rec := r.rec; rec != nil && rec.Parent != 0; rec = r.book.find(rec.Parent) {
		above++
	}
	r.book.mu.Unlock()
	if number != 0 {
		return r.book.Resume(number, r.p)
	}
	if above >= maxNested {
		return nil, fmt.Errorf("workflows are nested more than %d deep", maxNested)
	}
	arguments, err := s.Arguments(r.scope(item))
	if err != nil {
		return nil, err
	}
	var args struct {
		Name   string         `json:"name"`
		Inputs map[string]any `json:"inputs"`
	}
	if err := json.Unmarshal(arguments, &args); err != nil {
		return nil, err
	}
	if r.p.Find == nil {
		return nil, errors.New("there are no other workflows here")
	}
	def, err := r.p.Find(ctx, args.Name)
	if err != nil {
		return nil, err
	}
	given := make(map[string]string, len(args.Inputs))
	for name, v := range args.Inputs {
		given[name] = asInput(v)
	}
	return r.book.start(def, given, r.p, event.WorkflowStarted{Parent: r.rec.Run, Step: s.ID, Item: n})
}

// asInput writes a value as who starts a workflow gives it.
func asInput(v any) string {
	items, many := v.([]any)
	if !many {
		return fmt.Sprint(v)
	}
	var all []string
	for _, item := range items {
		all = append(all, fmt.Sprint(item))
	}
	return strings.Join(all, ",")
}

// outputsOf returns the outputs of a run as one text.
func outputsOf(child *Record) *outcome {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(child.Outputs)) {
		lines = append(lines, name+": "+child.Outputs[name])
	}
	text := strings.Join(lines, "\n")
	return &outcome{ok: child.State == event.WorkflowCompleted, output: text, stdout: text, problem: child.Why}
}

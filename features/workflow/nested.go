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

// maxNested limits the nesting of runs.
const maxNested = 3

// errStepTimeout is the cause when a nested run exceeds the step's time limit.
var errStepTimeout = errors.New("the step reached its time limit")

// nested executes a step that runs another workflow, until a run succeeds or no further run is allowed. An interrupted
// run continues.
func (r *run) nested(ctx context.Context, s *workflow.Step, n int, item string) {
	for first := true; !r.over(ctx); first = false {
		open, tries := r.children(s, n)
		got := r.at(s, n).got
		switch {
		case open != 0 || got == nil:
		case got.ok:
			r.endUnit(s, n, event.WorkflowCompleted, "")
			return
		case tries > s.OnError.Retry || got.final:
			r.endUnit(s, n, event.WorkflowFailed, got.problem)
			return
		case !first && !pause(ctx, s.OnError.Wait):
			return
		}
		if err := r.publish(event.WorkflowStepped{Run: r.rec.Run, Step: s.ID, Item: n, State: event.WorkflowRunning, Attempt: tries + 1}); err != nil {
			r.stop(err)
			return
		}
		if err := r.try(ctx, s, n, item, open); err != nil {
			r.endUnit(s, n, event.WorkflowFailed, err.Error())
			return
		}
	}
}

// try executes the open run of a step, or a new one, within the step's time limit. The error is the reason why the run
// could not start.
func (r *run) try(ctx context.Context, s *workflow.Step, n int, item string, open int) error {
	child, err := r.child(ctx, s, n, item, open)
	if err != nil {
		return err
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if s.Timeout > 0 {
		limited, cancel = context.WithTimeoutCause(ctx, s.Timeout, errStepTimeout)
	}
	defer cancel()
	_, _ = child.do(limited) // the outcome is in its record
	late := errors.Is(context.Cause(limited), errStepTimeout)
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	u := r.rec.steps[s.ID].units[n]
	switch {
	case u.got == nil || u.got.ok: // the session ended, or the run has completed
	case late:
		u.got.problem = fmt.Sprintf("stopped after %s, the step's time limit", duration(s.Timeout))
	default:
		u.got.final = child.refused.Load() || child.rec.State == event.WorkflowCancelled
		if u.got.final {
			r.refused.Store(true)
		}
	}
	return nil
}

// children returns the open run of a step, or 0, and the number of its ended runs.
func (r *run) children(s *workflow.Step, n int) (open, ended int) {
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	for _, rec := range r.book.runs {
		switch {
		case rec.Parent != r.rec.Run || rec.Step != s.ID || rec.Item != n:
		case rec.State.Ended():
			ended++
		default:
			open = rec.Run
		}
	}
	return open, ended
}

// child starts a run for a step, or resumes the open one.
func (r *run) child(ctx context.Context, s *workflow.Step, n int, item string, open int) (*run, error) {
	if open != 0 {
		return r.book.resume(open, r.p)
	}
	r.book.mu.Lock()
	above := 0
	for rec := r.rec; rec != nil && rec.Parent != 0; rec = r.book.find(rec.Parent) {
		above++
	}
	r.book.mu.Unlock()
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

// asInput formats a value as a person types it.
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

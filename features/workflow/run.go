// Package workflow runs workflows, which package extensions/workflow parses. Each step is an ordinary tool call. The
// progress is stored as events, so that a later process can continue an interrupted run.
//
// The id of a call is stored before the call starts, and its result before anything that depends on the result
// starts. So an interrupted run does not repeat a call that has ended, and asks the user before it repeats one that
// may have ended. One goroutine drives a run; each step has a goroutine of its own.
//
//	run, err := book.start(definition, inputs, working, event)
//	outcome, err := run.do(ctx)
package workflow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"buddy/agent/event"
	"buddy/agent/turn"
	"buddy/extensions/workflow"
	"buddy/texts"
)

// working holds the part and the calls of a run.
type working struct {
	*Part
	steps *turn.Steps
}

// run is an active run of a workflow. Use start or resume.
type run struct {
	book   *Book
	def    *workflow.Workflow
	inputs workflow.Values
	p      working
	rec    *Record // guarded by the lock of its book

	refused atomic.Bool // a person, the policy or a hook denied a call

	mu      sync.Mutex // guards all below
	stopped error      // why no further step starts; nil: steps start
	failed  []string   // failed steps that the run skipped
	panes   map[string]int
}

// start starts a run. given holds the inputs as text; e names the run and the step that started this run, if any. After
// an error nothing has started.
func (b *Book) start(def *workflow.Workflow, given map[string]string, p working, e event.WorkflowStarted) (*run, error) {
	inputs, err := def.Values(given)
	if err != nil {
		return nil, fmt.Errorf("workflow %s: %w", def.Name, err)
	}
	e.Name, e.File, e.Source, e.Inputs = def.Name, def.File, def.Source, given
	for _, s := range def.Steps {
		e.Steps = append(e.Steps, event.WorkflowStepDef{ID: s.ID, Tool: s.Tool, Why: s.Why})
	}
	rec, err := b.add(p.steps.Task(), e)
	if err != nil {
		return nil, fmt.Errorf("workflow %s: nothing ran, because the session can't be saved: %w", def.Name, err)
	}
	return &run{book: b, def: def, inputs: inputs, p: p, rec: rec, panes: make(map[string]int)}, nil
}

// resume continues a paused run.
func (b *Book) resume(number int, p working) (*run, error) {
	b.mu.Lock()
	rec := b.find(number)
	b.mu.Unlock()
	if rec == nil {
		return nil, fmt.Errorf("there is no run %d of a workflow in this session", number)
	}
	if rec.State.Ended() {
		return nil, fmt.Errorf("run %d of the workflow %s has ended: it is %s", number, rec.Name, rec.State)
	}
	def, mistakes := workflow.Parse([]byte(rec.Source))
	if len(mistakes) > 0 {
		return nil, fmt.Errorf("run %d: this version of buddy can't read the workflow %s: %s", number, rec.Name, mistakes[0])
	}
	inputs, err := def.Values(rec.Inputs)
	if err != nil {
		return nil, fmt.Errorf("run %d: %w", number, err)
	}
	r := &run{book: b, def: &def, inputs: inputs, p: p, rec: rec, panes: make(map[string]int)}
	r.restore()
	return r, r.publish(event.WorkflowChanged{Run: number, State: event.WorkflowRunning})
}

// restore sets the run's state from its recorded steps: no step has started in this process, and a failed step stops
// the run unless its on_error skips it.
func (r *run) restore() {
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	r.rec.Task = r.p.steps.Task()
	for _, s := range r.def.Steps {
		rec := r.rec.steps[s.ID]
		rec.started = false
		switch {
		case rec.state != event.WorkflowFailed:
		case s.OnError.Skip && !strings.HasPrefix(rec.why, denied):
			r.failed = append(r.failed, s.ID)
		default:
			r.stopped = fmt.Errorf("step %s failed: %s", s.ID, rec.why)
		}
	}
}

// do executes the run until it or ctx ends.
func (r *run) do(ctx context.Context) (event.Outcome, error) {
	ends := make(chan string)
	for running := 0; ; running-- {
		for _, s := range r.ready(ctx) {
			running++
			go func() {
				defer func() { ends <- s.ID }()
				r.step(ctx, s)
			}()
		}
		if running == 0 {
			return r.end(ctx)
		}
		<-ends
	}
}

// ready returns the steps that can start now, and marks them as started.
func (r *run) ready(ctx context.Context) []*workflow.Step {
	r.mu.Lock()
	stopped := r.stopped != nil
	r.mu.Unlock()
	if stopped || r.over(ctx) {
		return nil
	}
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	var all []*workflow.Step
	for i := range r.def.Steps {
		s := &r.def.Steps[i]
		over := func(id string) bool { return r.rec.steps[id].state.Ended() }
		if rec := r.rec.steps[s.ID]; !rec.started && !rec.state.Ended() && !slices.ContainsFunc(s.Needs, func(id string) bool { return !over(id) }) {
			rec.started = true
			all = append(all, s)
		}
	}
	return all
}

// over reports whether the run was cancelled or the session is closing. Then no step may start or record its end,
// because a closing session denies open questions, which would look like the user's answers.
func (r *run) over(ctx context.Context) bool { return ctx.Err() != nil || r.p.Closing() }

// end publishes how the run ended.
func (r *run) end(ctx context.Context) (event.Outcome, error) {
	r.mu.Lock()
	stopped, failed := r.stopped, r.failed
	r.mu.Unlock()
	switch {
	case r.p.Closing():
		_ = r.publish(event.WorkflowChanged{Run: r.rec.Run, State: event.WorkflowPaused, Why: "the session ended"})
		return event.Cancelled, nil
	case r.over(ctx):
		_ = r.publish(event.WorkflowChanged{Run: r.rec.Run, State: event.WorkflowCancelled})
		return event.Cancelled, nil
	case stopped != nil:
		given := r.outputs() // empty output of skipped steps must not look like "nothing found"
		maps.DeleteFunc(given, func(_, text string) bool { return strings.TrimSpace(text) == "" })
		err := r.publish(event.WorkflowChanged{Run: r.rec.Run, State: event.WorkflowFailed, Why: stopped.Error(), Outputs: given})
		return event.Failed, errors.Join(fmt.Errorf("workflow %s: %w", r.rec.Name, stopped), err)
	}
	why := ""
	if len(failed) > 0 {
		why = "it continued without the failed steps: " + strings.Join(failed, ", ")
	}
	return event.Completed, r.publish(event.WorkflowChanged{Run: r.rec.Run, State: event.WorkflowCompleted, Why: why, Outputs: r.outputs()})
}

// maxOutput limits an output of a run, in bytes.
const maxOutput = 16 << 10

// outputs returns the outputs of the workflow.
func (r *run) outputs() map[string]string {
	if len(r.def.Outputs) == 0 {
		return nil
	}
	sc := r.scope("")
	all := make(map[string]string, len(r.def.Outputs))
	for _, o := range r.def.Outputs {
		all[o.Name] = clip(o.Text.Text(sc), maxOutput)
	}
	return all
}

// publish publishes an event of the run.
func (r *run) publish(e event.Event) error { return r.book.publish(r.p.steps.Task(), e) }

// stop prevents further steps. The first reason counts.
func (r *run) stop(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped == nil {
		r.stopped = err
	}
}

// scope returns the values for templates and conditions of a step and item.
func (r *run) scope(item string) workflow.Scope {
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	sc := workflow.Scope{Inputs: r.inputs, Steps: make(map[string]workflow.Result, len(r.rec.steps)), Item: item}
	for id, s := range r.rec.steps {
		if s.keeps && s.state.Ended() {
			sc.Steps[id] = s.result()
		}
	}
	return sc
}

// step executes a step.
func (r *run) step(ctx context.Context, s *workflow.Step) {
	defer func() {
		if p := recover(); p != nil {
			r.endStep(s, event.WorkflowFailed, fmt.Sprintf("internal error: %v", p))
		}
	}()
	items, again := r.itemsOf(s)
	if !again {
		var end pass
		if items, end = r.wanted(ctx, s); !end.ok {
			r.endStep(s, end.state, end.why)
			return
		}
	}
	if s.Gate != nil && !s.Gate.PerItem && !again {
		if pass := r.gate(ctx, s, 0, ""); !pass.ok {
			if !r.over(ctx) {
				r.endStep(s, pass.state, pass.why)
			}
			return
		}
	}
	if r.over(ctx) {
		return
	}
	if err := r.publish(event.WorkflowStepped{Run: r.rec.Run, Step: s.ID, State: event.WorkflowRunning, Items: items}); err != nil {
		r.stop(err)
		return
	}
	if s.Each == nil {
		r.unit(ctx, s, 1, "")
	} else {
		r.units(ctx, s, items)
	}
	r.conclude(ctx, s)
}

// wanted returns the items for which a step runs. If the step must not start, for example because its condition is not
// met, pass has its final state.
func (r *run) wanted(ctx context.Context, s *workflow.Step) ([]string, pass) {
	sc := r.scope("")
	ok, err := s.Condition.Holds(sc, func(path string) (bool, error) { return r.p.Exists(ctx, s.On(sc), path) })
	switch {
	case err != nil:
		return nil, pass{state: event.WorkflowFailed, why: "condition: " + err.Error()}
	case !ok:
		return nil, pass{state: event.WorkflowSkipped, why: "its condition is not met: " + s.Condition.String()}
	case s.Each == nil:
		return nil, pass{ok: true}
	}
	items, err := s.Items(sc)
	switch {
	case err != nil:
		return nil, pass{state: event.WorkflowFailed, why: err.Error()}
	case len(items) == 0:
		return nil, pass{state: event.WorkflowSkipped, why: "its list is empty"}
	}
	return items, pass{ok: true}
}

// itemsOf returns a step's recorded items, and whether the step started in an earlier process, after its condition and
// its gate.
func (r *run) itemsOf(s *workflow.Step) (items []string, began bool) {
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	rec := r.rec.steps[s.ID]
	if rec.each {
		items = rec.items
	}
	return items, rec.passed
}

// units executes a step for its items, AtOnce at a time, until too many have failed.
func (r *run) units(ctx context.Context, s *workflow.Step, items []string) {
	var all sync.WaitGroup
	slots := make(chan struct{}, max(s.AtOnce, 1))
	for i, item := range items {
		slots <- struct{}{}
		if r.over(ctx) || r.enough(s) {
			break
		}
		all.Go(func() {
			defer func() { <-slots }()
			r.unit(ctx, s, i+1, item)
		})
	}
	all.Wait()
}

// enough reports whether so many items have failed that no further one starts.
func (r *run) enough(s *workflow.Step) bool {
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	_, failed, _ := r.rec.steps[s.ID].counts()
	return s.StopAfter > 0 && failed >= s.StopAfter
}

// conclude ends a step after its calls.
func (r *run) conclude(ctx context.Context, s *workflow.Step) {
	if r.over(ctx) {
		if !r.p.Closing() {
			_ = r.publish(event.WorkflowStepped{Run: r.rec.Run, Step: s.ID, State: event.WorkflowCancelled})
		}
		return
	}
	r.book.mu.Lock()
	rec := r.rec.steps[s.ID]
	done, failed, of := rec.counts()
	one := unit{state: event.WorkflowFailed, why: "it was not recorded"}
	if rec.units[1] != nil {
		one = *rec.units[1]
	}
	r.book.mu.Unlock()
	switch {
	case s.Each == nil:
		r.endStep(s, one.state, one.why)
	case failed > 0:
		why := fmt.Sprintf("%d of %d failed", failed, of)
		if left := of - done - failed; left > 0 {
			why += fmt.Sprintf(", %d not started", left)
		}
		r.endStep(s, event.WorkflowFailed, why)
	default:
		r.endStep(s, event.WorkflowCompleted, "")
	}
}

// endStep ends a step, and stops the run if it can't continue without the step.
func (r *run) endStep(s *workflow.Step, state event.WorkflowState, why string) {
	why = texts.Clip(texts.OneLine(why), maxWhy)
	if err := r.publish(event.WorkflowStepped{Run: r.rec.Run, Step: s.ID, State: state, Why: why}); err != nil {
		r.stop(err)
	}
	refused := strings.HasPrefix(why, denied)
	if state != event.WorkflowFailed {
		return
	}
	if refused {
		r.refused.Store(true)
	}
	if s.OnError.Skip && !refused {
		r.mu.Lock()
		r.failed = append(r.failed, s.ID)
		r.mu.Unlock()
		return
	}
	r.stop(fmt.Errorf("step %s failed: %s", s.ID, why))
}

// maxWhy limits the reason of a state, in characters.
const maxWhy = 300

// summary describes for a model how the run ended, with its outputs.
func (r *run) summary() string {
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	lines := []string{"It is " + status(r.rec.State, r.rec.Why) + ". Its steps:"}
	lines = append(lines, r.rec.stepLines()...)
	for _, name := range slices.Sorted(maps.Keys(r.rec.Outputs)) {
		lines = append(lines, "Output "+name+":\n"+r.rec.Outputs[name])
	}
	return strings.Join(lines, "\n")
}

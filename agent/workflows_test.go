package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/policy"
	"buddy/agent/turn"
	format "buddy/extensions/workflow"
	"buddy/features/workflow"
	"buddy/tools"
)

// effects is a tool that records its calls: {"do":"x","fail":["web-2"],"item":"web-2"} does x for an item, and fails
// for some.
type effects struct {
	mu   sync.Mutex
	done []string
	free bool // needs no approval
	most int  // maximum number in parallel
	now  int
}

func (*effects) Definition() model.ToolDef {
	return model.ToolDef{Name: "do", Parameters: json.RawMessage(`{"type":"object"}`)}
}

type effectArgs struct {
	Do, Item, Target string
	Fail             []string
	Seconds          int
	Times            int // failures before it succeeds
	Says             string
	Quiet            []string // items without output
}

func (f *effects) Plan(c tools.Call) (action.Action, error) {
	if f.free {
		return action.Action{Kind: action.Internal, Tool: "do", Mutation: true}, nil
	}
	return action.Action{Kind: action.Shell, Tool: "do", Command: c.Arguments}, nil
}

func (f *effects) Run(ctx context.Context, c tools.Call) tools.Result {
	var a effectArgs
	if err := json.Unmarshal([]byte(c.Arguments), &a); err != nil {
		return tools.Failure(err)
	}
	f.mu.Lock()
	f.now++
	f.most = max(f.most, f.now)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.now--
	}()
	select {
	case <-time.After(time.Duration(a.Seconds) * time.Second):
	case <-ctx.Done():
		return tools.Result{Content: "operation cancelled by user", IsError: true}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	what := strings.TrimSpace(a.Do + " " + a.Item)
	f.done = append(f.done, what)
	times := 0
	for _, d := range f.done {
		if d == what {
			times++
		}
	}
	if slices.Contains(a.Fail, a.Item) || times <= a.Times {
		return tools.Failure(errors.New("it broke"))
	}
	if slices.Contains(a.Quiet, a.Item) {
		return tools.Success("", "")
	}
	return tools.Success(what, what+a.Says)
}

// runWorkflow runs a workflow, or continues the one in a journal, and returns its final state and the events. ask
// answers its gates and questions, "" leaves one open.
func runWorkflow(t *testing.T, o Options, tool *effects, ask func(event.QuestionAsked) string, first ...event.Command) (event.WorkflowChanged, []event.Envelope) {
	t.Helper()
	o.Tools, o.Session = tools.NewRegistry(tool), "s"
	if o.Model == nil {
		o.Model = &script{}
	}
	if o.Mode == "" {
		o.Mode = action.ModeAll
	}
	o.Policy = policy.Policy{Workspace: "/w"}
	r := New(o)
	defer func() { _ = r.Close(context.Background()) }()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events := r.Subscribe(ctx)
	r.Start()
	for _, c := range first {
		synctest.Wait()
		r.Send(c)
	}
	var all []event.Envelope
	var last event.WorkflowChanged
	for env := range events {
		all = append(all, env)
		switch p := env.Payload.(type) {
		case event.QuestionAsked:
			if said := ask(p); said != "" {
				r.Send(event.Answer{ID: p.ID, Text: said})
			}
		case event.WorkflowChanged:
			last = p
		case event.TaskFinished:
			if last.State != "" && last.State != event.WorkflowPaused || p.Outcome != event.Completed {
				return last, all
			}
		case event.Error:
			if p.Code == "bad_command" {
				t.Fatal(p.Text)
			}
		}
	}
	t.Fatal("the session ended")
	return last, all
}

// workflowsOf returns a part that offers workflows.
func workflowsOf(t testing.TB, sources ...string) turn.Features {
	t.Helper()
	var set workflow.Set
	for _, source := range sources {
		w, mistakes := format.Parse([]byte(source))
		if len(mistakes) > 0 {
			t.Fatal(mistakes)
		}
		w.Source = source
		set.All = append(set.All, w)
	}
	return turn.Features{Parts: []turn.Part{workflow.New(workflow.Options{
		All:    func(context.Context) (workflow.Set, error) { return set, nil },
		Exists: func(_ context.Context, _, path string) (bool, error) { return path == "there", nil },
	})}}
}

func approves(event.QuestionAsked) string { return event.GatePass }

const rollout = `name: rollout
description: A test.
version: 1
inputs:
  rest: {type: list}
steps:
  - {id: before, tool: do, params: {do: look}}
  - id: roll
    tool: do
    each: "{{ inputs.rest }}"
    at_once: 1
    stop_after: 1
    on_error: skip
    gate: {type: approval_required, message: "Go on with {{ inputs.rest }}?", timeout: 1h}
    params: {do: install, item: "{{ item }}", fail: [b]}
  - id: back
    tool: do
    each: "{{ steps.roll.failed }}"
    condition: 'steps.roll.ok == false'
    gate: {type: approval_required, message: "Roll back {{ steps.roll.failed }}?"}
    params: {do: undo, item: "{{ item }}"}
outputs: {done: "{{ steps.roll.done }}", failed: "{{ steps.roll.failed }}"}
`

var runRollout = event.RunWorkflow{Name: "rollout", Inputs: map[string]string{"rest": "a,b,c,d,e"}}

// When the second of five items fails, the others stay untouched, and only that one is offered for rollback.
func TestWorkflowStopsAFleetAndRollsBackWhatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := &effects{}
		var asked []string
		end, _ := runWorkflow(t, Options{Features: workflowsOf(t, rollout)}, tool, func(q event.QuestionAsked) string {
			asked = append(asked, strings.SplitN(q.Text, "\n", 2)[0])
			return event.GatePass
		}, runRollout)
		if want := []string{"look", "install a", "install b", "undo b"}; !slices.Equal(tool.done, want) {
			t.Errorf("done: %q, want %q", tool.done, want)
		}
		if want := []string{"Go on with a, b, c, d, e?", "Roll back b?"}; !slices.Equal(asked, want) {
			t.Errorf("asked: %q, want %q", asked, want)
		}
		if end.State != event.WorkflowCompleted || end.Outputs["done"] != "a" || end.Outputs["failed"] != "b" {
			t.Errorf("ended: %+v", end)
		}
	})
}

// A gate without an answer in time is denied, and so is one when nobody can be asked.
func TestWorkflowGateDeniesWithoutAnAnswer(t *testing.T) {
	for name, ask := range map[string]func(event.QuestionAsked) string{
		"in time": func(event.QuestionAsked) string { return "" },
		"denied":  func(event.QuestionAsked) string { return event.GateDeny },
		"a text":  func(event.QuestionAsked) string { return "approve it tomorrow" },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tool, began := &effects{}, time.Now()
				end, _ := runWorkflow(t, Options{Features: workflowsOf(t, rollout)}, tool, ask, runRollout)
				if !slices.Equal(tool.done, []string{"look"}) || end.State != event.WorkflowFailed {
					t.Errorf("done %q, ended %+v", tool.done, end)
				}
				if took := time.Since(began); name == "in time" && took != time.Hour {
					t.Errorf("denied after %v, want 1h", took)
				}
			})
		})
	}
}

// A step may run another workflow, with its own gates and states.
const outer = `name: outer
description: A test.
version: 1
inputs:
  rest: {type: list}
steps:
  - {id: inner, tool: workflow, params: {name: rollout, inputs: {rest: "{{ inputs.rest }}"}}}
  - {id: after, tool: do, params: {do: "{{ steps.inner.output }}"}}
`

func TestWorkflowWithinAWorkflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := &effects{}
		end, _ := runWorkflow(t, Options{Features: workflowsOf(t, outer, rollout)}, tool, approves, runOuter)
		if want := []string{"look", "install a", "install b", "undo b", "done: a\nfailed: b"}; !slices.Equal(tool.done, want) || end.Run != 1 || end.State != event.WorkflowCompleted {
			t.Errorf("done: %q, want %q; ended %+v", tool.done, want, end)
		}
	})
}

// A nested run is retried like a call, from its beginning; not after a person's denial, and not beyond the step's
// time limit.
func TestWorkflowWithinAWorkflowIsTriedAgain(t *testing.T) {
	const inner = "name: inner\ndescription: A test.\nversion: 1\nsteps:\n  - {id: x, tool: do, params: {do: x, seconds: 2}}\n  - {id: y, tool: do, GATE params: {do: y, times: 2}}\n"
	const outer = "name: outer\ndescription: A test.\nversion: 1\nsteps:\n  - {id: inner, tool: workflow, EXTRA on_error: {retry: RETRY, wait: 10s}, params: {name: inner}}\n  - {id: after, tool: do, params: {do: after}}\n"
	gate := "gate: {type: approval_required, message: \"Go on?\"},"
	for _, tt := range []struct {
		name, gate, extra, retry, answer string
		done                             []string
		state                            event.WorkflowState
		took                             time.Duration
	}{
		{"until it succeeds", "", "", "3", "", []string{"x", "y", "x", "y", "x", "y", "after"}, event.WorkflowCompleted, 26 * time.Second},
		{"too often", "", "", "1", "", []string{"x", "y", "x", "y"}, event.WorkflowFailed, 14 * time.Second},
		{"denied", gate, "", "3", event.GateDeny, []string{"x"}, event.WorkflowFailed, 2 * time.Second},
		{"approved", gate, "", "3", event.GatePass, []string{"x", "y", "x", "y", "x", "y", "after"}, event.WorkflowCompleted, 26 * time.Second},
		{"too slow", "", "timeout: 1s,", "1", "", nil, event.WorkflowFailed, 12 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := workflowsOf(t, strings.Replace(inner, "GATE", tt.gate, 1), strings.NewReplacer("EXTRA", tt.extra, "RETRY", tt.retry).Replace(outer))
				tool, began := &effects{}, time.Now()
				end, _ := runWorkflow(t, Options{Features: o}, tool, func(event.QuestionAsked) string { return tt.answer }, event.RunWorkflow{Name: "outer"})
				if took := time.Since(began); !slices.Equal(tool.done, tt.done) || end.State != tt.state || end.Run != 1 || took != tt.took {
					t.Errorf("done %q in %v, ended %+v", tool.done, took, end)
				}
			})
		})
	}
}

// The retries of a nested run are counted across processes.
func TestTriesOfAWorkflowOutliveTheirProcess(t *testing.T) {
	const inner = "name: inner\ndescription: A test.\nversion: 1\nsteps:\n  - {id: y, tool: do, params: {do: y, times: 9}}\n"
	const outer = "name: outer\ndescription: A test.\nversion: 1\nsteps:\n  - {id: inner, tool: workflow, on_error: {retry: 2}, params: {name: inner}}\n"
	var whole []event.Envelope
	synctest.Test(t, func(t *testing.T) {
		journal := &heldJournal{}
		runWorkflow(t, Options{Features: workflowsOf(t, inner, outer), Journal: journal}, &effects{}, approves, event.RunWorkflow{Name: "outer"})
		whole = journal.events
	})
	ended := 0 // nested runs
	for cut, env := range whole {
		p, ok := env.Payload.(event.WorkflowChanged)
		if !ok || p.Run == 1 {
			continue
		}
		ended++
		synctest.Test(t, func(t *testing.T) {
			tool := &effects{}
			end, _ := runWorkflow(t, Options{Features: workflowsOf(t, inner, outer), Replay: whole[:cut+1], ModeAsked: true}, tool, approves, event.Continue{})
			if len(tool.done) != 3-ended || end.State != event.WorkflowFailed {
				t.Errorf("after %d tries: %d more, ended %+v", ended, len(tool.done), end)
			}
		})
	}
	if ended != 3 {
		t.Errorf("%d tries", ended)
	}
}

var runOuter = event.RunWorkflow{Name: "outer", Inputs: runRollout.Inputs}

// For a kill after any event: nothing with side effects runs twice unless the person wants it, and the run finishes.
func TestWorkflowResumesFromEveryEvent(t *testing.T) {
	for _, run := range []event.RunWorkflow{runRollout, runOuter} {
		t.Run(run.Name, func(t *testing.T) { resumeFromEveryEvent(t, run) })
	}
}

func resumeFromEveryEvent(t *testing.T, run event.RunWorkflow) {
	var whole []event.Envelope
	synctest.Test(t, func(t *testing.T) {
		journal := &heldJournal{}
		runWorkflow(t, Options{Features: workflowsOf(t, rollout, outer), Journal: journal}, &effects{}, approves, run)
		whole = journal.events
	})
	first := slices.IndexFunc(whole, func(e event.Envelope) bool { return event.Type(e.Payload) == "workflow.started" })
	last := slices.IndexFunc(whole, func(e event.Envelope) bool {
		p, ok := e.Payload.(event.WorkflowChanged)
		return ok && p.Run == 1
	})
	if first < 0 || last-first < 25 {
		t.Fatalf("there are too few events: %d to %d", first, last)
	}
	unknown := 0
	for cut := first + 1; cut <= last; cut++ {
		synctest.Test(t, func(t *testing.T) {
			before := startedIn(whole[:cut])
			tool := &effects{}
			end, _ := runWorkflow(t, Options{Features: workflowsOf(t, rollout, outer), Replay: whole[:cut], ModeAsked: true}, tool, func(q event.QuestionAsked) string {
				if strings.Contains(q.Text, "outcome is unknown") {
					unknown++
					return "treat it as failed"
				}
				return event.GatePass
			}, event.Continue{})
			at := fmt.Sprintf("killed after event %d (%s)", cut, event.Type(whole[cut-1].Payload))
			for i, did := range tool.done {
				if slices.Contains(before, did) || slices.Contains(tool.done[:i], did) {
					t.Errorf("%s: %q was done twice", at, did)
				}
			}
			if !end.State.Ended() || end.Run != 1 {
				t.Errorf("%s: ended as %+v", at, end)
			}
			if len(before) == 0 && !slices.Contains(tool.done, "look") {
				t.Errorf("%s: done %q", at, tool.done)
			}
		})
	}
	if unknown < 3 {
		t.Errorf("nobody was asked about calls that were cut off: %d", unknown)
	}
}

// startedIn returns the effects that had started by the end of some events.
func startedIn(events []event.Envelope) []string {
	asked := make(map[string]string)
	var all []string
	for _, env := range events {
		switch p := env.Payload.(type) {
		case event.ToolRequested:
			var a effectArgs
			_ = json.Unmarshal([]byte(p.Arguments), &a)
			asked[p.CallID] = strings.TrimSpace(a.Do + " " + a.Item)
		case event.ToolStarted:
			all = append(all, asked[p.CallID])
		}
	}
	return all
}

func TestWorkflowSteps(t *testing.T) {
	tests := []struct {
		name, steps string
		done        []string
		state       event.WorkflowState
		took        time.Duration
		most        int
	}{
		{"in order", "  - {id: a, tool: do, params: {do: a, seconds: 1}}\n  - {id: b, tool: do, params: {do: b, seconds: 1}}\n", []string{"a", "b"}, event.WorkflowCompleted, 2 * time.Second, 1},
		{"side by side", "  - {id: a, tool: do, params: {do: a, seconds: 2}}\n  - {id: b, tool: do, needs: [], params: {do: b, seconds: 1}}\n  - {id: c, tool: do, needs: [a, b], params: {do: c}}\n", []string{"b", "a", "c"}, event.WorkflowCompleted, 2 * time.Second, 2},
		{"a failure ends it", "  - {id: a, tool: do, params: {do: a, times: 1}}\n  - {id: b, tool: do, params: {do: b}}\n", []string{"a"}, event.WorkflowFailed, 0, 1},
		{"a failure is skipped", "  - {id: a, tool: do, on_error: skip, params: {do: a, times: 1}}\n  - {id: b, tool: do, params: {do: b}}\n", []string{"a", "b"}, event.WorkflowCompleted, 0, 1},
		{"tried again", "  - {id: a, tool: do, on_error: {retry: 3, wait: 10s}, params: {do: a, times: 2}}\n", []string{"a", "a", "a"}, event.WorkflowCompleted, 20 * time.Second, 1},
		{"tried too often", "  - {id: a, tool: do, on_error: {retry: 1, wait: 10s}, params: {do: a, times: 2}}\n", []string{"a", "a"}, event.WorkflowFailed, 10 * time.Second, 1},
		{"too slow", "  - {id: a, tool: do, timeout: 5s, params: {do: a, seconds: 10}}\n", nil, event.WorkflowFailed, 5 * time.Second, 1},
		{"a condition", "  - {id: a, tool: do, condition: 'exists(\"there\")', params: {do: a}}\n  - {id: b, tool: do, condition: 'exists(\"not there\")', params: {do: b}}\n", []string{"a"}, event.WorkflowCompleted, 0, 1},
		{"no item printed", "  - {id: a, tool: do, each: [x, y], params: {do: a, item: \"{{ item }}\", quiet: [x, y]}}\n  - {id: b, tool: do, condition: 'steps.a.stdout != \"\"', params: {do: b}}\n", []string{"a x", "a y"}, event.WorkflowCompleted, 0, 1},
		{"one item printed", "  - {id: a, tool: do, each: [x, y], params: {do: a, item: \"{{ item }}\", quiet: [x]}}\n  - {id: b, tool: do, params: {do: \"{{ steps.a.stdout }}\"}}\n", []string{"a x", "a y", "── y\na y"}, event.WorkflowCompleted, 0, 1},
		{"what failed printed nothing", "  - {id: a, tool: do, on_error: skip, params: {do: a, times: 1}}\n  - {id: b, tool: do, condition: 'steps.a.stdout != \"\"', params: {do: b}}\n  - {id: c, tool: do, params: {do: \"{{ steps.a.output }}\"}}\n", []string{"a", "it broke"}, event.WorkflowCompleted, 0, 1},
		{"two at once", "  - {id: a, tool: do, each: [x, y, z, w], at_once: 2, params: {do: a, item: \"{{ item }}\", seconds: 1}}\n", nil, event.WorkflowCompleted, 2 * time.Second, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tool, began := &effects{}, time.Now()
				end, _ := runWorkflow(t, Options{Features: workflowsOf(t, "name: w\ndescription: A test.\nversion: 1\nsteps:\n"+tt.steps)}, tool, approves, event.RunWorkflow{Name: "w"})
				if tt.done != nil && !slices.Equal(tool.done, tt.done) || end.State != tt.state || tool.most != tt.most {
					t.Errorf("done %q, %d at once, ended %+v", tool.done, tool.most, end)
				}
				if took := time.Since(began); took != tt.took {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
			})
		})
	}
}

// The outputs of a failed run do not claim that steps succeeded, or found nothing, when they did not run.
func TestFailedWorkflowGivesNoOutputsOfWhatDidNotRun(t *testing.T) {
	const source = "name: w\ndescription: A test.\nversion: 1\nsteps:\n  - {id: a, tool: do, params: {do: a}}\n  - {id: b, tool: do, params: {do: b, times: 1}}\n" +
		"  - {id: c, tool: do, params: {do: c}}\noutputs: {first: \"{{ steps.a.stdout }}\", found: \"{{ steps.b.stdout }}\", later: \"{{ steps.c.stdout }}\", done: \"{{ steps.c.ok }}\"}\n"
	synctest.Test(t, func(t *testing.T) {
		end, _ := runWorkflow(t, Options{Features: workflowsOf(t, source)}, &effects{}, approves, event.RunWorkflow{Name: "w"})
		if want := map[string]string{"first": "a", "done": "none"}; end.State != event.WorkflowFailed || !maps.Equal(end.Outputs, want) {
			t.Errorf("ended %+v, want the outputs %v", end, want)
		}
	})
}

// A workflow is cancelled like any task; effects of its calls stay, and nothing more starts.
func TestWorkflowIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := &effects{}
		source := "name: w\ndescription: A test.\nversion: 1\nsteps:\n  - {id: a, tool: do, params: {do: a}}\n  - {id: b, tool: do, params: {do: b, seconds: 60}}\n  - {id: c, tool: do, params: {do: c}}\n"
		end, all := runWorkflow(t, Options{Features: workflowsOf(t, source)}, tool, approves, event.RunWorkflow{Name: "w"}, event.CancelWorkflow{})
		if !slices.Equal(tool.done, []string{"a"}) || end.State != event.WorkflowCancelled {
			t.Errorf("done %q, ended %+v", tool.done, end)
		}
		if f, ok := all[len(all)-1].Payload.(event.TaskFinished); !ok || f.Outcome != event.Cancelled {
			t.Errorf("the task ended as %+v", all[len(all)-1].Payload)
		}
	})
}

// When the session is closed, a run is paused, whatever it waits for, and continues later.
func TestWorkflowIsPausedWithItsSession(t *testing.T) {
	for name, waits := range map[string]struct {
		mode action.Mode
		stop func(event.Event) bool
	}{
		"for an approval": {action.ModeAsk, func(e event.Event) bool { _, ok := e.(event.ApprovalAsked); return ok }},
		"for its gate":    {action.ModeAll, func(e event.Event) bool { _, ok := e.(event.QuestionAsked); return ok }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				journal := &heldJournal{}
				o := Options{Features: workflowsOf(t, rollout), Journal: journal, Mode: waits.mode, Model: &script{}, Session: "s", Policy: policy.Policy{Workspace: "/w"}}
				o.Tools = tools.NewRegistry(&effects{})
				r := New(o)
				events := r.Subscribe(t.Context())
				r.Start()
				r.Send(runRollout)
				for env := range events {
					if waits.stop(env.Payload) {
						break
					}
				}
				if err := r.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				var last event.WorkflowChanged
				for _, env := range journal.events {
					if p, ok := env.Payload.(event.WorkflowChanged); ok {
						last = p
					}
				}
				if last.State != event.WorkflowPaused {
					t.Fatalf("the run is %+v", last)
				}
				tool := &effects{}
				end, _ := runWorkflow(t, Options{Features: workflowsOf(t, rollout), Replay: journal.events, ModeAsked: true}, tool, approves, event.Continue{})
				if end.State != event.WorkflowCompleted || !slices.Contains(tool.done, "undo b") {
					t.Errorf("done %q, ended %+v", tool.done, end)
				}
			})
		})
	}
}

// The policy and the person judge each call of a step.
func TestWorkflowAsksAboutItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := &effects{}
		end, all := runWorkflow(t, Options{Features: workflowsOf(t, rollout), Mode: action.ModeNone}, tool, approves, runRollout)
		if len(tool.done) > 0 || end.State != event.WorkflowFailed {
			t.Errorf("done %q, ended %+v", tool.done, end)
		}
		if !slices.ContainsFunc(all, func(e event.Envelope) bool {
			p, ok := e.Payload.(event.ToolResult)
			return ok && p.IsError && strings.Contains(p.Result, "Denied by the policy")
		}) {
			t.Error("no call was denied")
		}
	})
}

// manySteps is a workflow with 50 steps for 20 items each, whose calls print 2 KB.
func manySteps(b *testing.B) (Options, event.RunWorkflow) {
	var steps strings.Builder
	for i := range 50 {
		fmt.Fprintf(&steps, "  - {id: s%d, tool: do, each: \"{{ inputs.on }}\", at_once: 8, params: {do: s%d, item: \"{{ item }}\", says: \"{{ inputs.long }}\"}}\n", i, i)
	}
	source := "name: w\ndescription: A test.\nversion: 1\ninputs:\n  on: {type: list}\n  long: {type: string}\nsteps:\n" + steps.String()
	var items []string
	for i := range 20 {
		items = append(items, fmt.Sprintf("t%d", i))
	}
	return Options{Session: "s", Model: &script{}, Mode: action.ModeAll, Features: workflowsOf(b, source)},
		event.RunWorkflow{Name: "w", Inputs: map[string]string{"long": strings.Repeat("x", 2000), "on": strings.Join(items, ",")}}
}

// runMany runs manySteps, and calls seen after each result.
func runMany(b *testing.B, o Options, run event.RunWorkflow, seen func(results int)) {
	tool := &effects{free: true}
	o.Tools = tools.NewRegistry(tool)
	r := New(o)
	events := r.Subscribe(b.Context())
	r.Start()
	r.Send(run)
	results := 0
	for env := range events {
		switch p := env.Payload.(type) {
		case event.ToolResult:
			results++
			seen(results)
		case event.TaskFinished:
			if p.Outcome != event.Completed || results != 1000 {
				b.Fatal(results, p.Error)
			}
			_ = r.Close(b.Context())
			return
		}
	}
}

// BenchmarkWorkflow measures the cost of a step without its tool.
func BenchmarkWorkflow(b *testing.B) {
	o, run := manySteps(b)
	for b.Loop() {
		runMany(b, o, run, func(int) {})
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "µs/step")
}

// BenchmarkWorkflowMemory measures the additional memory after 1,000 calls compared with 100.
func BenchmarkWorkflowMemory(b *testing.B) {
	o, run := manySteps(b)
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	var early, late float64
	for b.Loop() {
		runMany(b, o, run, func(results int) {
			switch results {
			case 100:
				early = heap()
			case 1000:
				late = heap()
			}
		})
	}
	b.ReportMetric(early/1000, "KB-after-100")
	b.ReportMetric(late/1000, "KB-after-1000")
}

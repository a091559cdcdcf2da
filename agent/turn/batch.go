package turn

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"buddy/agent/action"
	"buddy/agent/approval"
	"buddy/agent/decision"
	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/model"
	"buddy/tools"
)

var errSibling = errors.New("a command in the same answer failed")

// ErrTimedOut is the cause of a context that ended because the person's time limit for the task was over.
var ErrTimedOut = errors.New("the task's time limit is over")

// timedOut is the start of the results of calls that ErrTimedOut ended.
const timedOut = "timed out: the user's time limit for this task is over"

// batch runs the calls of one answer. Calls that need no approval may start while the answer still streams, see early.
// All others wait for the end of the answer and for the calls before them. Calls overlap if they change nothing and
// need no approval; others run alone. The loop's goroutine drives the batch; only jobs run in others.
type batch struct {
	loop    *Loop
	x       *Exchange
	turn    int
	whole   context.Context // ends with the exchange
	ctx     context.Context // for calls that overlap; a failed command cancels it
	cancel  context.CancelCauseFunc
	jobs    sync.WaitGroup  // jobs that overlap
	slots   chan struct{}   // holds one value per running job
	seen    map[string]bool // calls that were started, by name and arguments
	early   early
	settled chan struct{}   // closed when it is known which early calls are in the whole answer
	text    decision.Output // the model's text before the calls of the whole answer
}

// job holds one call until it has a result.
type job struct {
	call     tools.Call
	asked    model.ToolCall // as the model wrote it, with the provider's id
	tool     tools.Tool
	err      error // why the call could not be planned
	parallel bool
	early    bool                // started while the answer streamed
	text     string              // of the answer before an early call
	said     decision.Output     // the end of the model's text before the call
	edited   bool                // a person has changed the arguments
	waited   bool                // a person was asked about it
	unasked  bool                // it runs although no person has approved it
	marked   func()              // ends the mark on the workspace: the call changes nothing more
	after    func(*tools.Result) // gives the result to the parts
	typed    bool                // a person made the call
	reopened bool                // its approval was open when an earlier process ended
	result   event.ToolResult    // as stored
	began    time.Time
	ran      bool               // the tool was allowed to run, so the result is its output
	live     *runningCall       // publishes the live output
	kept     bool               // an early call that is also in the stored answer
	cancel   context.CancelFunc // cancels an early call
	numbered func()             // is called when the task of its subagent has a number; nil: nobody waits
	guarded  guarded
	changed  []tools.Before       // files that the call changes
	hosts    *hostAsks            // host approvals of a command in the sandbox
	rules    []event.DecisionRule // rules that decided about the call
	trial    Trial                // its changes are kept instead of running the call; nil: the call runs

	// Set by [Asking.Teaches].
	known  func(action.Action) action.Memory
	denied func(context.Context, tools.Call, event.ApprovalAnswered)
}

func (j *job) key() string { return j.call.Name + "\x00" + j.call.Arguments }

func (l *Loop) newBatch(ctx context.Context, x *Exchange, turn int) *batch {
	b := &batch{
		loop: l, x: x, turn: turn, whole: ctx,
		slots: make(chan struct{}, l.o.MaxParallel), seen: make(map[string]bool), settled: make(chan struct{}),
	}
	b.ctx, b.cancel = context.WithCancelCause(ctx)
	return b
}

// planOne plans a call that is in no answer, in a batch of its own.
func (l *Loop) planOne(ctx context.Context, x *Exchange, id, tool string, args map[string]any) (*batch, *job) {
	text, _ := json.Marshal(args) // strings and numbers always encode
	b := l.newBatch(ctx, x, 0)
	return b, b.plan(model.ToolCall{ID: id, Name: tool, Arguments: string(text)})
}

func (b *batch) publish(e event.Event) { b.loop.p.Stream.Publish(b.x.task, b.turn, e) }

// plan resolves a call and finds out what it would do; nothing runs yet.
func (b *batch) plan(c model.ToolCall) *job {
	p := b.loop.p
	j := &job{asked: c, began: b.loop.o.Now()}
	j.call = tools.Call{
		ID: c.ID, Name: c.Name, Arguments: c.Arguments,
		Ask: b.ask(c.ID), Page: b.loop.page(), Planning: b.whole,
		Begin: func(w tools.Task) int { return p.Begin(b.x.conv, w) },
	}
	j.call.Keep = func(files []tools.Before) error {
		j.changed = append(j.changed, files...)
		return p.Changes.Keep(b.x.task, b.turn, j.call, files)
	}
	j.call.Agent = func(ctx context.Context, call tools.Call, s tools.Subagent) tools.Result {
		return b.runAgent(ctx, call, s, j.numbered)
	}
	asking := Asking{Access{b.loop, b.x, b.turn}, j}
	asking.Teaches(func(action.Action) (none action.Memory) { return none }, func(context.Context, tools.Call, event.ApprovalAnswered) {})
	for _, p := range b.loop.o.Parts {
		p.Equip(asking, &j.call)
	}
	j.call.Reader, j.call.OwnPane = b.x.conv.Branch(), b.loop.agent.Label
	b.openOutput(j)
	j.hosts = newHostAsks(b, j)
	j.call.Reach = j.hosts.ask
	if j.tool, j.call, j.err = p.Selection.Tools().Resolve(j.call); j.err != nil {
		return j
	}
	if j.call.Planned, j.err = tools.PlanSafely(j.tool, j.call); j.err != nil {
		return j
	}
	j.parallel = b.overlaps(j)
	return j
}

// page returns how many bytes of a file the current model gets at once.
func (l *Loop) page() int { return tools.PageOf(l.p.Selection.KnownWindow(), l.o.Calls.Page) }

// openOutput connects the live output of a call to the stream.
func (b *batch) openOutput(j *job) {
	j.live = newLive(b.loop.p.Stream, b.loop.o.Redact, b.x.task, b.turn, j.call.ID)
	j.call.Output = j.live.write
}

// execute runs the calls of the whole answer and stores one result for each, even when it is cancelled in between.
// The history keeps the results in call order.
func (b *batch) execute(calls []model.ToolCall) {
	b.settle()
	var next []*job // consecutive calls that may overlap; their hooks run at the same time
	for _, c := range calls {
		if b.started(c.ID) {
			continue
		}
		j := b.plan(c)
		j.said = b.text
		b.request(j)
		next = append(next, j)
		if j.parallel && len(next) < cap(b.slots) && (len(next) > 1 || b.waitsForHooks(j)) {
			continue
		}
		b.start(next)
		next = nil
	}
	b.start(next)
	b.jobs.Wait()
	b.cancel(nil)
}

// start asks the hooks about the calls that may overlap, and launches those that still may after the hooks' answers.
// The others run alone, in call order; hooks are asked about each one after all calls before it have ended.
func (b *batch) start(all []*job) {
	b.guard(b.whole, slices.DeleteFunc(slices.Clone(all), func(j *job) bool { return !j.parallel })...)
	for _, j := range all {
		if j.parallel && !b.seen[j.key()] {
			b.launch(j)
			continue
		}
		b.jobs.Wait()
		b.renew()
		b.alone(j)
	}
}

// renew lets later calls overlap again after a sibling failed. No job runs then.
func (b *batch) renew() {
	if errors.Is(context.Cause(b.ctx), errSibling) {
		b.ctx, b.cancel = context.WithCancelCause(b.whole)
	}
}

func (b *batch) started(id string) bool {
	for _, j := range b.early.all {
		if j.call.ID == id {
			return true
		}
	}
	return false
}

func (b *batch) request(j *job) {
	c := j.call
	b.publish(event.ToolRequested{CallID: c.ID, Name: c.Name, Corrected: c.Corrected, Renamed: c.Renamed, Arguments: c.Arguments, Action: c.Planned, Target: c.Planned.Target})
}

// alone runs a call while no other call of the batch runs.
func (b *batch) alone(j *job) { b.aloneUnless(b.whole, j) }

// aloneUnless runs a call like alone, but starts it only while ctx is open. ctx ends with the exchange or earlier.
func (b *batch) aloneUnless(ctx context.Context, j *job) {
	res := b.admit(ctx, j)
	if res == nil {
		end := b.x.releasable(j)
		result := b.run(b.whole, j)
		end()
		res = &result
	}
	b.finish(j, *res)
}

// launch runs a call concurrently with others as soon as a slot is free. Subagents get their numbers in call order.
func (b *batch) launch(j *job) {
	beside := tools.IsBeside(j.tool, j.call)
	b.seen[j.key()] = true
	b.slots <- struct{}{}
	ctx, cancel := context.WithCancel(contextOf(b, j))
	j.cancel = cancel
	res := b.admit(ctx, j)
	numbered := make(chan struct{})
	j.numbered = sync.OnceFunc(func() { close(numbered) })
	b.jobs.Go(func() {
		defer cancel()
		defer j.numbered()
		if res == nil {
			end := b.x.releasable(j)
			result := b.run(ctx, j)
			end()
			if j.parallel && j.call.Planned.Kind.IsCommand() && (result.IsError || result.ExitCode != nil && *result.ExitCode != 0) {
				b.cancel(errSibling)
			}
			res = &result
		}
		<-b.slots
		if j.early {
			defer left(b, j)
			if !reports(b, j) {
				b.publish(discarded(j.call.ID, j.call.Name))
				return
			}
		}
		b.finish(j, *res)
	})
	if beside {
		<-numbered
	}
}

// discarded returns the result that subscribers get for a call whose answer was not completed.
func discarded(id, name string) event.ToolResult {
	return event.ToolResult{CallID: id, Name: name, Result: "discarded: the model's answer failed, or no longer contained this call", IsError: true}
}

// unanswered returns the result of a cancelled call.
func unanswered(ctx context.Context) tools.Result {
	if errors.Is(context.Cause(ctx), errSibling) {
		return tools.Problem("cancelled, because " + errSibling.Error())
	}
	if errors.Is(context.Cause(ctx), ErrTimedOut) {
		return failure(timedOut)
	}
	if errors.Is(context.Cause(ctx), approval.ErrSuperseded) {
		return failure(dropped)
	}
	if hook, ok := errors.AsType[*HookTerminated](context.Cause(ctx)); ok {
		return failure("Stopped by a hook, nothing ran: " + hook.Reason)
	}
	return failure(history.Unanswered)
}

// ask returns the function with which a call asks the person; nil when nobody can answer. A person who has answered in
// an earlier process is not asked again.
func (b *batch) ask(callID string) func(context.Context, tools.Question) (string, error) {
	if !b.loop.p.Approvals.Interactive() || b.loop.agent.Type != "" {
		return nil
	}
	return func(ctx context.Context, q tools.Question) (string, error) {
		if was, ok := b.loop.p.Questions.TakeAnswered(callID); ok && was.Text == b.loop.o.Redact.Text(q.Text) {
			return was.Answer.Text, nil
		}
		reply, err := Access{b.loop, b.x, b.turn}.Ask(ctx, "buddy asks a question", event.QuestionAsked{CallID: callID, From: q.From, Text: q.Text, Choices: q.Choices})
		return reply.Text, err
	}
}

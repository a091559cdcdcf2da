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

// batch is the calls of one answer. What changes nothing and needs no
// approval starts while the answer still streams, and such calls overlap; all others
// wait for its end and for the calls before them, and run alone. The goroutine of the
// loop drives it; only jobs run elsewhere.
type batch struct {
	loop    *Loop
	x       *Exchange
	turn    int
	whole   context.Context // of the exchange
	ctx     context.Context // of the calls that overlap
	cancel  context.CancelCauseFunc
	jobs    sync.WaitGroup  // that overlap
	slots   chan struct{}   // one for each that runs
	seen    map[string]bool // what was started, by name and arguments
	early   []*job
	waits   bool          // a call waits for the end of the answer, so all after it do
	settled chan struct{} // closed when it is known what becomes of the early ones
	said    decision.Said // by the model before the call that is started now
}

// job is one call on its way to a result.
type job struct {
	call     tools.Call
	asked    model.ToolCall // as the model wrote it; providers reuse ids
	tool     tools.Tool
	err      error // why there is no plan
	parallel bool
	early    bool             // started while the answer streamed
	edited   bool             // a person has changed the arguments
	waited   bool             // a person was asked about it
	unasked  bool             // it runs although no person has approved it
	marked   func()           // says that it changes nothing more
	typed    bool             // a person made the call
	reopened bool             // its approval was open when an earlier process ended
	result   event.ToolResult // as it was stored
	began    time.Time
	ran      bool               // what its result says is what the tool said
	live     *runningCall       // where its output goes
	kept     bool               // an early one that is in the whole answer, too
	cancel   context.CancelFunc // of an early one
	begun    func()             // the task of its subagent has its number; nil: nobody waits for that
	guarded  guarded
	changed  []tools.Before       // files
	hosts    *hostAsks            // of a command in the fence
	rules    []event.DecisionRule // that decided about it

	// See [Asking.Teaches].
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

// planOne plans a call that no answer makes, in a batch of its own.
func (l *Loop) planOne(ctx context.Context, x *Exchange, id, tool string, args map[string]any) (*batch, *job) {
	text, _ := json.Marshal(args) // texts and numbers can be encoded
	b := l.newBatch(ctx, x, 0)
	return b, b.plan(model.ToolCall{ID: id, Name: tool, Arguments: string(text)})
}

// publish publishes an event of the turn.
func (b *batch) publish(e event.Event) { b.loop.p.Stream.Publish(b.x.task, b.turn, e) }

// plan finds out what a call would do; nothing happens yet.
func (b *batch) plan(c model.ToolCall) *job {
	p := b.loop.p
	j := &job{asked: c, began: b.loop.o.Now()}
	j.call = tools.Call{
		ID: c.ID, Name: c.Name, Arguments: c.Arguments,
		Ask: b.ask(c.ID), Page: b.loop.page(), Planning: b.whole,
		Begin: func(w tools.Task) int { return p.Begin(b.x.talk, w) },
	}
	j.call.Keep = func(files []tools.Before) error {
		j.changed = append(j.changed, files...)
		return p.Changes.Keep(b.x.task, b.turn, j.call, files)
	}
	j.call.Agent = func(ctx context.Context, call tools.Call, s tools.Subagent) tools.Result {
		return b.runAgent(ctx, call, s, j.begun)
	}
	asking := Asking{Access{b.loop, b.x, b.turn}, j}
	asking.Teaches(func(action.Action) (none action.Memory) { return none }, func(context.Context, tools.Call, event.ApprovalAnswered) {})
	for _, p := range b.loop.o.Parts {
		p.Equip(asking, &j.call)
	}
	j.call.Reader, j.call.OwnPane = b.x.talk.Branch(), b.loop.agent.Label
	b.shows(j)
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

// page returns how many bytes of a file the model that answers now gets at once.
func (l *Loop) page() int { return tools.PageOf(l.p.Selection.KnownWindow(), l.o.Calls.Page) }

// shows gives the output of a call its place in the stream.
func (b *batch) shows(j *job) {
	j.live = newLive(b.loop.p.Stream, b.loop.o.Redact, b.x.task, b.turn, j.call.ID)
	j.call.Output = j.live.write
}

// offer starts a call of an answer that still streams, if that is harmless. saved is
// called before anything of it is seen.
func (b *batch) offer(c model.ToolCall, saved func()) {
	if b.waits || b.ctx.Err() != nil {
		return
	}
	j := b.plan(c)
	if b.waits = !j.parallel || tools.IsBeside(j.tool, j.call) || b.waitsForHooks(j) || b.seen[j.key()] || len(b.slots) == cap(b.slots); b.waits {
		return
	}
	saved()
	j.call.ID = b.loop.uniqueID(b.x, c.ID)
	b.shows(j)
	j.early = true
	b.early = append(b.early, j)
	b.request(j)
	b.launch(j)
}

// identify gives the calls of the whole answer their ids: those under which they run
// already, or new ones that no other call of the session has.
func (b *batch) identify(calls []model.ToolCall) []model.ToolCall {
	for i, c := range calls {
		id := ""
		for _, j := range b.early {
			if !j.kept && j.asked.ID == c.ID && j.asked.Name == c.Name && j.asked.Arguments == c.Arguments {
				j.kept, id = true, j.call.ID
				break
			}
		}
		if id == "" {
			id = b.loop.uniqueID(b.x, c.ID)
		}
		calls[i].ID = id
	}
	return calls
}

// drop cancels what was started for an answer that failed and forgets its results.
func (b *batch) drop() {
	for _, j := range b.early {
		j.kept = false
	}
	b.settle()
	b.cancel(nil)
	b.jobs.Wait()
}

// settle lets the early calls report.
func (b *batch) settle() {
	for _, j := range b.early {
		if !j.kept {
			j.cancel()
		}
	}
	close(b.settled)
}

// execute runs the calls of the whole answer and stores one result for each, also when
// it is cancelled in between. The history keeps them in call order.
func (b *batch) execute(calls []model.ToolCall) {
	b.settle()
	var next []*job // calls in a row that may overlap, whose hooks are asked at the same time
	for _, c := range calls {
		if b.started(c.ID) {
			continue
		}
		j := b.plan(c)
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

// start asks the hooks about the calls that may overlap, and starts those that still may. The others
// run alone, each in its place; hooks are asked about them when all before them have ended.
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

// renew lets calls overlap again that were not there when a sibling failed. No job runs.
func (b *batch) renew() {
	if errors.Is(context.Cause(b.ctx), errSibling) {
		b.ctx, b.cancel = context.WithCancelCause(b.whole)
	}
}

func (b *batch) started(id string) bool {
	for _, j := range b.early {
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

// alone runs a call while no other of the batch runs.
func (b *batch) alone(j *job) { b.aloneUnless(b.whole, j) }

// aloneUnless is alone for a call that may start only as long as ctx, which ends with the
// exchange or before, has not ended.
func (b *batch) aloneUnless(ctx context.Context, j *job) {
	res := b.admit(ctx, j)
	if res == nil {
		end := b.x.releasable(j)
		got := b.run(b.whole, j)
		end()
		res = &got
	}
	b.finish(j, *res)
}

// launch runs a call concurrently with others as soon as a slot is free. Subagents get their numbers in the order of their calls.
func (b *batch) launch(j *job) {
	b.seen[j.key()] = true
	b.slots <- struct{}{}
	whole := b.ctx
	if tools.IsBeside(j.tool, j.call) {
		whole = b.whole
	}
	ctx, cancel := context.WithCancel(whole)
	j.cancel = cancel
	res := b.admit(ctx, j)
	begun := make(chan struct{})
	j.begun = sync.OnceFunc(func() { close(begun) })
	b.jobs.Go(func() {
		defer cancel()
		defer j.begun()
		if res == nil {
			end := b.x.releasable(j)
			got := b.run(ctx, j)
			end()
			if j.call.Planned.Kind.IsCommand() && (got.IsError || got.ExitCode != nil && *got.ExitCode != 0) {
				b.cancel(errSibling)
			}
			res = &got
		}
		<-b.slots
		<-b.settled // a result comes after the answer that holds its call
		if j.early && !j.kept {
			b.publish(discarded(j.call.ID, j.call.Name))
			return
		}
		b.finish(j, *res)
	})
	if tools.IsBeside(j.tool, j.call) {
		<-begun
	}
}

// discarded closes a call that is in no answer, for those who watch.
func discarded(id, name string) event.ToolResult {
	return event.ToolResult{CallID: id, Name: name, Result: "discarded: the answer that called it was not completed", IsError: true}
}

// unanswered is the result of a call that was cancelled.
func unanswered(ctx context.Context) tools.Result {
	if errors.Is(context.Cause(ctx), errSibling) {
		return tools.Problem("cancelled, because " + errSibling.Error())
	}
	if errors.Is(context.Cause(ctx), approval.ErrSuperseded) {
		return failure(dropped)
	}
	if hook, ok := errors.AsType[*HookTerminated](context.Cause(ctx)); ok {
		return failure("Stopped by a hook, nothing ran: " + hook.Reason)
	}
	return failure(history.Unanswered)
}

// ask returns how a call asks the person; nil when nobody is there.
func (b *batch) ask(callID string) func(context.Context, tools.Question) (string, error) {
	if !b.loop.p.Approvals.Interactive() || b.loop.agent.Type != "" {
		return nil
	}
	return func(ctx context.Context, q tools.Question) (string, error) {
		got, err := Access{b.loop, b.x, b.turn}.Ask(ctx, "buddy asks a question", event.QuestionAsked{CallID: callID, From: q.From, Text: q.Text, Choices: q.Choices})
		return got.Text, err
	}
}

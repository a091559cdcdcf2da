// Package turn runs exchanges. An exchange asks the model, runs the tools that the answer calls, and repeats this
// turn until an answer calls none.
//
// Every call in a stored answer gets exactly one result, in call order, so that the history can be sent after every
// turn. No call has a side effect before the policy or the user has allowed it and its start is in the journal. One
// goroutine drives an [Exchange]; the state that overlapping calls share has its own lock.
//
//	loop := turn.New(turn.Options{…}, turn.Parts{…})
//	x := turn.NewExchange(task, conv, room, cancel)
//	outcome, err := loop.Run(ctx, x)
package turn

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"buddy/agent/approval"
	"buddy/agent/compact"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/hooks"
	"buddy/agent/model"
	"buddy/agent/redact"
	"buddy/agent/reminder"
	"buddy/agent/selection"
	"buddy/agent/settings"
	"buddy/agent/stream"
	"buddy/agent/undo"
	"buddy/agent/usage"
	"buddy/tools"
)

// Options configure turns. Now and the numeric fields are required.
type Options struct {
	Features
	Calls settings.Calls
	// Models returns the model of a profile, see [Access.AnswerWith]; nil: there are no other models.
	Models      func(profile, effort string) (model.Model, error)
	Learnt      func(model.Needs) // gets the parts of requests that a server has refused; may be nil
	Dates       *time.Location    // time zone of the date in requests; nil: no date
	Redact      *redact.Redactor  // removes secrets from tools' output
	Breakpoints []int             // of each request, see [model.Request]
	MaxParallel int               // limit of parallel calls of one answer
	MaxRepeats  int               // see [settings.Limits]
	NoCache     bool              // see [model.Request]
	NoEarly     bool              // no call starts before its answer is complete
	Strict      bool              // a failed tool ends the exchange, unless its result asks for another try
	OutDir      string            // where tools keep whole outputs, one folder per call
	Target      string            // name of the first target, whose instruction files are read
	Now         func() time.Time
}

// Features take part in turns. The zero value has none.
type Features struct {
	Hooks     []Hook        // called in this order
	Programs  *hooks.Runner // hooks of the person and the project
	Durable   Durable       // nil: the journal records what was done
	Reminders *reminder.Set // reminders before each request; nil: none, and no kind is switched off
	Parts     []Part        // called around a call in this order; their owner ends them
}

// Parts holds the dependencies of turns. All are required.
type Parts struct {
	Stream       *stream.Stream
	Approvals    *approval.Broker
	Questions    *approval.Questions
	Ledger       *usage.Ledger
	Selection    *selection.Selection
	Compactor    *compact.Compactor
	Instructions *conversation.Instructions
	Changes      *undo.Log
	// Begin turns background work of a call into a task, and returns its number.
	Begin func(conv *conversation.Conversation, w tools.Task) (task int)
	// Running returns the background work except for the given task: first prompts, then commands. It never returns nil.
	Running func(but int) []hooks.BackgroundTask
	// RunAgent runs a subagent for a call and returns the call's result. It returns when the work is done, or at once
	// if the subagent works in the background.
	RunAgent func(ctx context.Context, by Caller, call tools.Call, s tools.Subagent) tools.Result
}

// Loop runs exchanges, which may overlap on different conversations, and numbers their turns, calls and outputs. It
// is safe for concurrent use; use New.
type Loop struct {
	o      Options
	p      Parts
	n      *numbers
	briefs []Part // parts in the order of briefOrder
	agent  Agent  // whose turns it runs; the zero value is the main agent
}

// numbers holds the counters of a session's loops. It is safe for concurrent use.
type numbers struct {
	turns    atomic.Int64
	calls    atomic.Int64
	outs     atomic.Int64 // output folders
	rest     resting      // the fallback of the session's model
	pictures atomic.Bool  // the person was warned that a model accepts none

	mu       sync.Mutex      // guards finishes
	finishes map[string]bool // unknown finish reasons that were reported
}

// strange reports whether an unknown finish reason is new. It remembers ten, in case a server makes them up.
func (n *numbers) strange(reason string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.finishes[reason] || len(n.finishes) == 10 {
		return false
	}
	if n.finishes == nil {
		n.finishes = make(map[string]bool)
	}
	n.finishes[reason] = true
	return true
}

// New returns a loop.
func New(o Options, p Parts) *Loop {
	return &Loop{o: o, p: p, n: &numbers{}, briefs: inOrder(o.Parts)}
}

// Replay processes a stored event, so that numbering continues after it.
func (l *Loop) Replay(env event.Envelope) {
	l.n.turns.Store(max(l.n.turns.Load(), int64(env.Turn)))
	switch p := env.Payload.(type) {
	case event.ToolStarted:
		l.n.outs.Add(1)
	case event.ContextHealed:
		l.n.pictures.Store(l.n.pictures.Load() || model.TextOnly(p.Remedies))
	}
}

// Turns returns how many turns the session has had.
func (l *Loop) Turns() int { return int(l.n.turns.Load()) }

// Exchange is the work of one task on a conversation, up to its outcome. One goroutine drives it; use NewExchange.
type Exchange struct {
	task int
	conv *conversation.Conversation
	room *compact.Room
	stop context.CancelCauseFunc

	prompts           []event.PromptSubmitted // prompts that no hook has seen yet
	unsent            []int                   // ids of prompts that no model has answered yet
	newPrompts        []event.PromptSubmitted // the person's prompts since the last request
	now               []model.Message         // reminders for the next request only
	hookContinuations int                     // how often hooks kept the exchange from ending
	used              usage.Task              // guarded by the lock of its ledger
	turns             int                     // complete turns
	hooked            int                     // the turn that hooks were called for, from 1
	response          string                  // the text of the last answer
	compacted         *event.ContextCompacted // compaction in the last step
	moves             int                     // compactions since the last answer
	overflows         int                     // requests that the provider found too long
	retry             atomic.Pointer[func()]  // ends the wait before a retry; nil: there was none

	mu       sync.Mutex        // guards the fields below
	model    model.Model       // answers instead of the session's model, see [Access.AnswerWith]; may be nil
	fallback *fallback         // may be nil
	ids      map[string]bool   // ids of calls
	failed   map[string]failed // calls that failed, by name and arguments
	setbacks setbacks
	results  results
	dialogs  int               // number of dialogs about hosts
	waits    map[string]func() // moves a running call to the background, by id
}

// results holds the output of a turn's calls that is not in the history.
type results struct {
	given     []given
	images    []model.Image
	touched   []string // files that calls read or wrote
	hookTexts []string // hook texts about results
	answer    string   // ends the exchange
}

// NewExchange returns an exchange of a task on a conversation. stop cancels its context.
func NewExchange(task int, conv *conversation.Conversation, room *compact.Room, stop context.CancelCauseFunc) *Exchange {
	return &Exchange{task: task, conv: conv, room: room, stop: stop, ids: make(map[string]bool), waits: make(map[string]func()), failed: make(map[string]failed), setbacks: setbacks{last: make(map[string]string), row: make(map[string]int), hinted: make(map[string]bool)}}
}

// Say passes prompts that are already in the conversation to the prompt hooks.
func (x *Exchange) Say(prompts []event.PromptSubmitted) { x.prompts = append(x.prompts, prompts...) }

// Tell adds a text of a kind to the conversation.
func (x *Exchange) Tell(kind, text string) { x.tellOnce(0, kind, text) }

// Made reports whether an answer of the exchange made a call, including an incomplete answer. Any goroutine may call
// it.
func (x *Exchange) Made(call string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.ids[call]
}

// Response returns the text of the last answer, which may be incomplete.
func (x *Exchange) Response() string { return x.response }

// Talk returns the conversation of the exchange.
func (x *Exchange) Talk() *conversation.Conversation { return x.conv }

// Turns returns the number of complete turns: answered, and with all calls done.
func (x *Exchange) Turns() int { return x.turns }

// Used returns the usage of the exchange.
func (x *Exchange) Used() *usage.Task { return &x.used }

// CountUnder makes the exchange's usage count for the given task as well. maxTurns limits the exchange's turns; 0 means
// the ledger's limit.
func (x *Exchange) CountUnder(above *usage.Task, maxTurns int) { x.used.CountUnder(above, maxTurns) }

// TakeCompacted returns, once, the compaction of the last step; nil if there was none.
func (x *Exchange) TakeCompacted() *event.ContextCompacted {
	did := x.compacted
	x.compacted = nil
	return did
}

// Hurry ends the wait before a retry. It reports whether a request was to be retried, which may have been sent
// already. Any goroutine may call it.
func (x *Exchange) Hurry() bool {
	now := x.retry.Load()
	if now == nil || *now == nil {
		return false
	}
	(*now)()
	return true
}

// work returns the exchange in the form that compactions use.
func (x *Exchange) work() compact.Work {
	return compact.Work{Task: x.task, Conv: x.conv, Room: x.room, Used: &x.used}
}

// Run repeats turns until the model answers without calling tools.
func (l *Loop) Run(ctx context.Context, x *Exchange) (event.Outcome, error) {
	for {
		if outcome, err := l.Step(ctx, x); outcome != "" {
			return outcome, err
		}
	}
}

// Step runs one turn of an exchange. The outcome is "" if another turn follows.
func (l *Loop) Step(ctx context.Context, x *Exchange) (event.Outcome, error) {
	if ctx.Err() != nil {
		return event.Cancelled, nil
	}
	if outcome := l.p.Ledger.Exhausted(x.task, &x.used, x.turns); outcome != "" {
		return outcome, nil
	}
	if err := l.runPromptHooks(ctx, x); err != nil {
		if ctx.Err() != nil && terminated(ctx) == nil {
			return event.Cancelled, nil
		}
		return event.Failed, err
	}
	l.addContext(ctx, x)
	if x.hooked == x.turns { // a step that only compacted is no turn
		x.hooked++
		l.runHooks(ctx, x, LoopIteration{Turn: x.hooked})
	}
	if stop := terminated(ctx); stop != nil {
		return event.Failed, stop
	}
	switch fitting, did := l.p.Compactor.Fit(ctx, x.work(), l.Turns()); fitting {
	case compact.Full:
		return event.ContextLimit, overLimit(l, x, nil)
	case compact.Moved:
		if x.moves++; x.moves > maxMoves {
			return event.ContextLimit, overLimit(l, x, nil)
		}
		l.moved(ctx, x, did)
		return "", nil
	}
	done, err := l.turn(ctx, x)
	if err != nil && ctx.Err() == nil && l.overflowed(ctx, x, err) {
		return "", nil
	}
	outcome, err := l.outcome(ctx, x, done, err)
	if outcome != "" {
		l.p.Compactor.PublishUsage(x.conv, x.task, l.Turns()) // includes the answer, which no request has sent yet
	}
	return outcome, err
}

// outcome returns the outcome of a turn, "" if another turn follows.
func (l *Loop) outcome(ctx context.Context, x *Exchange, done bool, err error) (event.Outcome, error) {
	stop := terminated(ctx)
	switch {
	case stop != nil:
		return event.Failed, stop
	case ctx.Err() != nil:
		return event.Cancelled, nil
	case err != nil:
		l.failed(ctx, x, err)
		if e, ok := errors.AsType[*model.Error](err); ok && e.Kind == model.ContextError {
			return event.ContextLimit, overLimit(l, x, err)
		}
		return event.Failed, err
	}
	x.turns++
	x.unsent, x.moves = nil, 0
	if done && !l.continuedByHook(ctx, x) {
		return event.Completed, nil
	}
	return "", nil
}

// addContext adds the context that the model needs for its next request.
func (l *Loop) addContext(ctx context.Context, x *Exchange) {
	x.conv.AttachNews(x.task)
	l.p.Instructions.Await(ctx)
	l.p.Instructions.Again(ctx, x.conv, x.task, l.Turns(), l.o.Target)
	for _, p := range l.briefs {
		p.Brief(ctx, Briefing{Access{l, x, 0}})
	}
	x.newPrompts = nil
	l.remind(ctx, x)
}

// turn sends one request and runs the called tools. done means that there were none.
func (l *Loop) turn(ctx context.Context, x *Exchange) (done bool, err error) {
	number := int(l.n.turns.Add(1))
	id := stream.NewUUID()
	l.p.Compactor.PublishUsage(x.conv, x.task, number)
	l.p.Stream.Publish(x.task, number, event.TurnStarted{TurnID: id, Number: number})
	finished := event.TurnFinished{TurnID: id, Number: number}
	before := l.p.Ledger.Own(&x.used)

	unread := conversation.Unread(x.conv)
	answer, err := l.ask(ctx, x, number)
	if err != nil && refusedContent(err) {
		err = withhold(l, x, number, unread, err)
	}
	if err == nil {
		finished.StopReason, finished.Usage = answer.finish, answer.usage
		done = !answer.called && answer.finish != model.FinishCompaction
		if answer.finish == model.FinishCompaction { // the provider compacted, and does not report how much
			x.compacted = &event.ContextCompacted{}
		}
		answer.batch.execute(answer.calls)
		done = x.ended() || done
		l.capResults(x, number)
		l.show(x, number)
		l.relay(x, number)
		l.p.Instructions.Below(ctx, x.conv, x.task, number, take(x, &x.results.touched))
	}
	finished.Cost = l.p.Ledger.Own(&x.used) - before
	l.p.Stream.Publish(x.task, number, finished)
	return done, err
}

// MaxImages limits the pictures of one message.
const MaxImages = 8

// show adds the pictures that tools have read, after all results: not every protocol accepts pictures between
// results.
func (l *Loop) show(x *Exchange, turn int) {
	images := take(x, &x.results.images)
	if len(images) == 0 || l.model(x).Info().TextOnly {
		return
	}
	images = images[:min(len(images), MaxImages)]
	x.conv.Attach(x.task, turn, event.ReminderAttached{
		Kinds: []string{reminder.Images}, Text: reminder.Wrap("The pictures that your tools have just read."), Images: images,
	})
}

// answerWith makes a model answer instead of the session's from the next request on.
func (x *Exchange) answerWith(m model.Model) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.model = m
}

// model returns the model that answers in an exchange.
func (l *Loop) model(x *Exchange) model.Model {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.fallback != nil:
		return x.fallback.model
	case x.model != nil:
		return x.model
	}
	m := l.p.Selection.Model()
	if f := l.n.rest.of(m.Info().Profile); f != nil {
		return f.model
	}
	return m
}

// ended reports whether a call has ended the exchange with an answer.
func (x *Exchange) ended() bool {
	answer := take(x, &x.results.answer)
	if answer != "" {
		x.response = answer
	}
	return answer != ""
}

// take empties a field that the exchange's lock guards, and returns its previous value.
func take[T any](x *Exchange, field *T) (was T) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var none T
	was, *field = *field, none
	return was
}

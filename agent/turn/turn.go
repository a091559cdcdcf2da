// Package turn runs exchanges: it asks the model, runs the tools that the answer calls, and
// repeats that turn until there is an answer that calls none.
//
// Its invariant: every call of a stored answer gets exactly one result, in the order of the
// calls, and no call has a side effect before the policy or a person has allowed it and its
// start is in the journal. So the history is valid to send whenever no turn is under way. One
// goroutine drives an [Exchange]; what calls that overlap share of it has a lock of its own.
//
//	loop := turn.New(turn.Options{…}, turn.Parts{…})
//	x := turn.NewExchange(task, talk, room, cancel)
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

// Options configure how turns are run. Now is required, and so are the numbers.
type Options struct {
	Features
	Calls settings.Calls
	// Models returns the model of a profile, see [Access.AnswerWith]; nil: there are no others.
	Models      func(profile, effort string) (model.Model, error)
	Learnt      func(model.Needs) // gets what a server refused of a model; nil: nothing does
	Dates       *time.Location    // of the date that the model is told; nil: none
	Redact      *redact.Redactor  // what is taken out of tools' output
	Breakpoints []int             // of each request, see [model.Request]
	MaxParallel int               // how many calls of one answer run at once
	MaxRepeats  int               // see [settings.Limits]
	Strict      bool              // a tool that fails ends the exchange, unless its result asks for another try
	OutDir      string            // where tools keep whole outputs, one folder a call
	Target      string            // the first one, whose instruction files are read
	Now         func() time.Time
}

// Features take part in turns. The zero value has none of them.
type Features struct {
	Hooks     []Hook        // told of each turn, in this order
	Programs  *hooks.Runner // hooks of the person and the project
	Durable   Durable       // nil: the journal records what was done
	Reminders *reminder.Set // what the model is told besides, before each request; nil: nothing, and no kind is switched off
	Parts     []Part        // around a call in this order; who made a part ends it
}

// Parts holds what turns work with. All are required.
type Parts struct {
	Stream       *stream.Stream
	Approvals    *approval.Broker
	Questions    *approval.Questions
	Ledger       *usage.Ledger
	Selection    *selection.Selection
	Compactor    *compact.Compactor
	Instructions *conversation.Instructions
	Changes      *undo.Log
	// Begin makes work that a call began in a conversation a task of its own, and returns its number.
	Begin func(talk *conversation.Conversation, w tools.Task) (task int)
	// Running returns what works in the background, but for the task with a number: prompts, then commands. It is not nil.
	Running func(but int) []hooks.BackgroundTask
	// RunAgent lets a subagent work for a call and returns what the call gives. It returns when the work is done, or at once
	// if it works in the background.
	RunAgent func(ctx context.Context, by Caller, call tools.Call, s tools.Subagent) tools.Result
}

// Loop runs exchanges, which may overlap on different conversations. It numbers what they
// make. It is safe for concurrent use; use New.
type Loop struct {
	o      Options
	p      Parts
	n      *numbers
	briefs []Part // in the order in which they tell the model something
	agent  Agent  // whose turns it runs; the zero value is the session's main one
}

// numbers counts what the loops of a session make. It is safe for concurrent use.
type numbers struct {
	turns    atomic.Int64
	calls    atomic.Int64
	outs     atomic.Int64 // folders of outputs
	pictures atomic.Bool  // the person knows that a model takes none

	mu       sync.Mutex      // guards finishes
	finishes map[string]bool // reasons of providers that are not known and were told
}

// strange reports whether a reason is a new one. A few are remembered, of a server that makes them up.
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

// Replay feeds a stored event of an earlier process, so that numbers continue from there.
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

// Exchange is the work of one task on a conversation, up to its outcome. One goroutine
// drives it; use NewExchange.
type Exchange struct {
	task int
	talk *conversation.Conversation
	room *compact.Room
	stop context.CancelCauseFunc

	said              []event.PromptSubmitted // that no hook has seen yet
	unsent            []int                   // ids of prompts that no model has answered yet
	heard             []event.PromptSubmitted // by the person, since the last request
	now               []model.Message         // of the next request only
	hookContinuations int                     // how often hooks kept the exchange from ending
	used              usage.Task              // its ledger's lock guards it
	turns             int                     // that are complete
	begun             int                     // the turn that hooks were told of, from 1
	response          string                  // the text of the last answer
	compacted         *event.ContextCompacted // by the last step
	moves             int                     // compactions since the last answer
	overflows         int                     // requests that the provider found too long
	retry             atomic.Pointer[func()]  // ends the wait before a request is sent again; nil: there was none

	mu       sync.Mutex        // guards all below
	model    model.Model       // that answers instead of the session's, see [Access.AnswerWith]; nil: none
	fallback *fallback         // nil: no other one answers in its place
	ids      map[string]bool   // of calls
	failed   map[string]failed // calls that failed, by name and arguments
	setbacks setbacks
	got      results
	dialogs  int               // in which a person was asked about hosts
	waits    map[string]func() // by the id of a call that runs: sends it to the background
}

// results holds what the calls of a turn gave beside what is in the history.
type results struct {
	given   []given
	images  []model.Image
	touched []string // files
	told    []string // by hooks, about results
	answer  string   // with which the exchange ends
}

// NewExchange returns an exchange that a task has on a conversation. stop ends its context.
func NewExchange(task int, talk *conversation.Conversation, room *compact.Room, stop context.CancelCauseFunc) *Exchange {
	return &Exchange{task: task, talk: talk, room: room, stop: stop, ids: make(map[string]bool), waits: make(map[string]func()), failed: make(map[string]failed), setbacks: setbacks{last: make(map[string]string), row: make(map[string]int), hinted: make(map[string]bool)}}
}

// Say adds prompts that are in the conversation already, for the hooks that look at prompts.
func (x *Exchange) Say(prompts []event.PromptSubmitted) { x.said = append(x.said, prompts...) }

// Tell tells the model something of a kind that stays in its conversation.
func (x *Exchange) Tell(kind, text string) { x.tellOnce(0, kind, text) }

// Made reports whether an answer of the exchange made a call, also one that is not complete yet. Any
// goroutine may call it.
func (x *Exchange) Made(call string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.ids[call]
}

// Response returns the text of the last answer, which may be incomplete.
func (x *Exchange) Response() string { return x.response }

// Talk returns the conversation that the exchange is on.
func (x *Exchange) Talk() *conversation.Conversation { return x.talk }

// Turns returns how many turns are complete: answered, and their calls done.
func (x *Exchange) Turns() int { return x.turns }

// Used returns what the exchange used, for its ledger.
func (x *Exchange) Used() *usage.Task { return &x.used }

// CountUnder makes the exchange a part of what calls it: what it uses counts there, too. maxTurns limits
// its turns, 0 for no limit of its own.
func (x *Exchange) CountUnder(above *usage.Task, maxTurns int) { x.used.CountUnder(above, maxTurns) }

// TakeCompacted returns the compaction of the last step, once; nil if there was none.
func (x *Exchange) TakeCompacted() *event.ContextCompacted {
	did := x.compacted
	x.compacted = nil
	return did
}

// Hurry ends the wait before a request is sent again. It reports whether there was a request
// to wait for, which may have been sent already. Any goroutine may call it.
func (x *Exchange) Hurry() bool {
	now := x.retry.Load()
	if now == nil || *now == nil {
		return false
	}
	(*now)()
	return true
}

// work returns the exchange as compactions see it.
func (x *Exchange) work() compact.Work {
	return compact.Work{Task: x.task, Talk: x.talk, Room: x.room, Used: &x.used}
}

// Run repeats turns until the model answers without calling tools.
func (l *Loop) Run(ctx context.Context, x *Exchange) (event.Outcome, error) {
	for {
		if outcome, err := l.Step(ctx, x); outcome != "" {
			return outcome, err
		}
	}
}

// Step is one turn of an exchange. The outcome is "" when another one has to follow.
func (l *Loop) Step(ctx context.Context, x *Exchange) (event.Outcome, error) {
	if ctx.Err() != nil {
		return event.Cancelled, nil
	}
	if outcome := l.p.Ledger.Exhausted(x.task, &x.used, x.turns); outcome != "" {
		return outcome, nil
	}
	if err := l.runPromptHooks(ctx, x); err != nil {
		return event.Failed, err
	}
	l.addContext(ctx, x)
	if x.begun == x.turns { // a step that only compacted is none
		x.begun++
		l.tell(ctx, x, LoopIteration{Turn: x.begun})
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
		l.p.Compactor.PublishUsage(x.talk, x.task, l.Turns()) // with the answer, which no request has had yet
	}
	return outcome, err
}

// outcome says what became of a turn; "" when another one has to follow.
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
	if done && !l.goesOn(ctx, x) {
		return event.Completed, nil
	}
	return "", nil
}

// addContext tells the model what it has to know before its next request.
func (l *Loop) addContext(ctx context.Context, x *Exchange) {
	x.talk.TellNews(x.task)
	l.p.Instructions.Await(ctx)
	l.p.Instructions.Again(ctx, x.talk, x.task, l.Turns(), l.o.Target)
	for _, p := range l.briefs {
		p.Brief(ctx, Briefing{Access{l, x, 0}})
	}
	x.heard = nil
	l.remind(ctx, x)
}

// turn is one request and the tools that it calls. done means that there were none.
func (l *Loop) turn(ctx context.Context, x *Exchange) (done bool, err error) {
	number := int(l.n.turns.Add(1))
	id := stream.NewUUID()
	l.p.Compactor.PublishUsage(x.talk, x.task, number)
	l.p.Stream.Publish(x.task, number, event.TurnStarted{TurnID: id, Number: number})
	finished := event.TurnFinished{TurnID: id, Number: number}
	before := l.p.Ledger.Own(&x.used)

	unread := conversation.Unread(x.talk)
	answer, err := l.ask(ctx, x, number)
	if err != nil && refusedContent(err) {
		err = withhold(l, x, number, unread, err)
	}
	if err == nil {
		finished.StopReason, finished.Usage = answer.finish, answer.usage
		done = len(answer.calls) == 0 && answer.finish != model.FinishCompaction
		if answer.finish == model.FinishCompaction { // by the provider, which does not say how much
			x.compacted = &event.ContextCompacted{}
		}
		answer.batch.execute(answer.calls)
		done = x.ended() || done
		l.capResults(x, number)
		l.show(x, number)
		l.relay(x, number)
		l.p.Instructions.Below(ctx, x.talk, x.task, number, take(x, &x.got.touched))
	}
	finished.Cost = l.p.Ledger.Own(&x.used) - before
	l.p.Stream.Publish(x.task, number, finished)
	return done, err
}

// MaxImages limits the pictures of one message.
const MaxImages = 8

// show hands the model the pictures that its tools have read, after all their results:
// no protocol takes them in between everywhere.
func (l *Loop) show(x *Exchange, turn int) {
	images := take(x, &x.got.images)
	if len(images) == 0 || l.model(x).Info().TextOnly {
		return
	}
	images = images[:min(len(images), MaxImages)]
	x.talk.Attach(x.task, turn, event.ReminderAttached{
		Kinds: []string{reminder.Images}, Text: reminder.Wrap("The pictures that your tools have just read."), Images: images,
	})
}

// answerWith lets a model answer instead of the session's from the next request of the exchange on.
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
	return l.p.Selection.Model()
}

// ended reports whether a call of the turn has ended the exchange with an answer.
func (x *Exchange) ended() bool {
	answer := take(x, &x.got.answer)
	if answer != "" {
		x.response = answer
	}
	return answer != ""
}

// take empties a field that the lock of the exchange guards, and returns what was in it.
func take[T any](x *Exchange, field *T) (was T) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var none T
	was, *field = *field, none
	return was
}

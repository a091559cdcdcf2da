package turn

import (
	"context"
	"path"

	"buddy/agent/approval"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/reminder"
	"buddy/tools"
)

// Part is a feature as the exchanges of a session see it. A part embeds [Nothing], which has a method for
// whatever the feature does not need:
//
//	type clock struct{ turn.Nothing }
//
//	func (clock) Name() string { return "clock" }
//
//	func (clock) Brief(_ context.Context, b turn.Briefing) {
//		hour := time.Now().Format("15")
//		b.TellState("clock", hour, "It is after "+hour+" o'clock.")
//	}
//
// order.go has the order in which parts are called. Exchanges overlap, so the methods are called from several
// goroutines; only Replay is called before all others.
type Part interface {
	// Name names the feature. No two parts of a session have one name.
	Name() string
	// Replay gets each event that an earlier process stored of the session, in order.
	Replay(env event.Envelope)
	// Brief tells the model what the feature has to say before a request, which waits for Brief.
	Brief(ctx context.Context, b Briefing)
	// Equip gives a call, before it is planned, what tools of the feature work with.
	Equip(a Asking, call *tools.Call)
	// Around is called before an admitted call runs. The function that it returns is called with the result, which it
	// may add to; nil adds nothing.
	Around(ctx context.Context, m model.Info, call tools.Call) func(context.Context, *Ran)
}

// Nothing is the part of a feature that does nothing.
type Nothing struct{}

// Replay forgets the event.
func (Nothing) Replay(event.Envelope) {}

// Brief tells nothing.
func (Nothing) Brief(context.Context, Briefing) {}

// Equip adds nothing.
func (Nothing) Equip(Asking, *tools.Call) {}

// Around adds nothing.
func (Nothing) Around(context.Context, model.Info, tools.Call) func(context.Context, *Ran) {
	return nil
}

// Ran is a call that has run.
type Ran struct {
	Result  *tools.Result
	Changed []tools.Before // files, as they were before the call
}

// Asking is an exchange whose model makes a call.
type Asking struct{ b *batch }

// Publish publishes an event of the turn in which the call is made.
func (a Asking) Publish(e event.Event) { a.b.publish(e) }

// Task returns the number of the exchange's task.
func (a Asking) Task() int { return a.b.x.task }

// Main reports whether the call is made in the main conversation.
func (a Asking) Main() bool { return a.b.x.talk.Branch() == 0 }

// Redact returns a text without secrets.
func (a Asking) Redact(text string) string { return a.b.loop.o.Redact.Text(text) }

// Approvals returns who decides about calls.
func (a Asking) Approvals() *approval.Broker { return a.b.loop.p.Approvals }

// Ask asks the person something and waits for the answer. Hooks are told what waits. The error is [tools.ErrNobody]
// when nobody could be asked.
func (a Asking) Ask(ctx context.Context, what string, q event.QuestionAsked) (event.QuestionAnswered, error) {
	b := a.b
	b.loop.notify(b.x, b.turn, "elicitation_dialog", what)
	if !b.loop.p.Approvals.Interactive() {
		return event.QuestionAnswered{}, tools.ErrNobody
	}
	return b.loop.p.Questions.Ask(ctx, b.x.task, b.turn, q)
}

// EndWith ends the exchange after this turn, with a text as its answer.
func (a Asking) EndWith(text string) {
	a.b.x.mu.Lock()
	defer a.b.x.mu.Unlock()
	a.b.x.got.answer = text
}

// Briefing is an exchange before its next request.
type Briefing struct {
	l *Loop
	x *Exchange
}

// Model describes the model that answers.
func (b Briefing) Model() model.Info { return b.l.model(b.x).Info() }

// Short reports whether the model gets short texts only, because it makes its calls in blocks.
func (b Briefing) Short() bool { return b.Model().Blocks != "" }

// Prompts returns what the person has said since the last request.
func (b Briefing) Prompts() []event.PromptSubmitted { return b.x.heard }

// Naming returns, once, the prompts that name something with an @, those of an earlier process included.
func (b Briefing) Naming() []string { return conversation.TakeNaming(b.x.talk) }

// TakePlan returns what the model was told of mode plan. That a compaction may have taken the plan out is said once.
func (b Briefing) TakePlan() conversation.ToldOfPlan { return conversation.TakePlan(b.x.talk) }

// Approvals returns who decides about calls.
func (b Briefing) Approvals() *approval.Broker { return b.l.p.Approvals }

// Redact returns a text without secrets.
func (b Briefing) Redact(text string) string { return b.l.o.Redact.Text(text) }

// Foreign returns a text from elsewhere as the model may read it: without secrets, and with what reads like a
// prompt injection marked. The person is warned of a sure one, and the conversation is trusted less until the next
// prompt. where names the text.
func (b Briefing) Foreign(where, text string) string {
	return marked(b.l.p, b.x, 0, where, b.Redact(text))
}

// Warn tells the person of a problem.
func (b Briefing) Warn(w event.Warning) { b.l.p.Stream.Publish(b.x.task, 0, w) }

// List tells the model a list of things there are, or what has changed of it.
func (b Briefing) List(l conversation.Listing) { b.x.talk.Tell(b.x.task, l) }

// Tell tells the model a text, which stays in the conversation, with the first [MaxImages] pictures if the model takes some.
func (b Briefing) Tell(kind, text string, images ...model.Image) {
	if images = images[:min(len(images), MaxImages)]; b.l.p.Selection.Model().Info().TextOnly {
		images = nil
	}
	b.x.talk.Attach(b.x.task, 0, event.ReminderAttached{Kinds: []string{kind}, Text: reminder.Wrap(text), Images: images})
}

// TellState tells the model a text about a state, a short word or number, unless the last state of that kind that it was
// told is the same. After a compaction it is told again.
func (b Briefing) TellState(kind, state, text string) {
	if b.State(kind) != state {
		b.x.talk.Attach(b.x.task, 0, event.ReminderAttached{Kinds: []string{kind}, Text: reminder.Wrap(text), States: map[string]string{kind: state}})
	}
}

// State returns the state of a kind that the model was told last, "" for none since the last compaction.
func (b Briefing) State(kind string) string { return conversation.State(b.x.talk, kind) }

// Subagent reports whether the conversation is that of a subagent, which the person does not see by itself.
func (b Briefing) Subagent() bool { return b.l.agent.Type != "" }

// Off reports whether the person has switched off what the model is told of a kind.
func (b Briefing) Off(kind string) bool { return b.l.o.Reminders.Off(kind) }

// TellFile tells the model at most page bytes of a file that a prompt names. text makes what it is told of what was
// read. A file that only the person may allow it to read, or that the model has already, is not told.
func (b Briefing) TellFile(ctx context.Context, name string, page int, text func(read string) string) {
	ctx, cancel := context.WithTimeout(ctx, atFileTime)
	defer cancel()
	files := namedFiles{b.l.newBatch(ctx, b.x, 0)}
	defer files.cancel(nil)
	_, read, seen, err := files.read(ctx, name, page)
	if err != nil {
		return // the model looks at it by itself
	}
	if said := text(read); !conversation.Holds(b.x.talk, path.Base(name), said) {
		b.x.talk.Attach(b.x.task, 0, event.ReminderAttached{Kinds: []string{reminder.AtFile}, Text: reminder.Wrap(said), Seen: seen})
	}
}

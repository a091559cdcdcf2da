package turn

import (
	"context"
	"sync"

	"buddy/agent/action"
	"buddy/agent/approval"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/reminder"
	"buddy/agent/selection"
	"buddy/agent/stream"
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
// goroutines; only Begin and Replay are called before all others.
type Part interface {
	// Name names the feature. No two parts of a session have one name.
	Name() string
	// Begin gets what the session has, before anything happens in it.
	Begin(s Session)
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

// Begin keeps nothing.
func (Nothing) Begin(Session) {}

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

// Session holds what parts have of a session.
type Session struct {
	Context   context.Context // ends with the session
	Work      *sync.WaitGroup // of what works in the background, for which the end of the session waits
	Stream    *stream.Stream
	Selection *selection.Selection // of the main agent
	Workspace string               // of the first target; absolute, without symbolic links
	Target    string               // the first one
}

// Access is an exchange as parts may use it.
type Access struct {
	l    *Loop
	x    *Exchange
	turn int
}

// Task returns the number of the exchange's task.
func (a Access) Task() int { return a.x.task }

// Turn returns the turn that goes on, 0 between turns.
func (a Access) Turn() int { return a.turn }

// Conversation returns what the exchange works on.
func (a Access) Conversation() *conversation.Conversation { return a.x.talk }

// Subagent reports whether the conversation is that of a subagent, which the person does not see by itself.
func (a Access) Subagent() bool { return a.l.agent.Type != "" }

// Agent describes whose exchange it is.
func (a Access) Agent() Agent { return a.l.agent }

// Model describes the model that answers.
func (a Access) Model() model.Info { return a.l.model(a.x).Info() }

// Window returns how many tokens the agent's model takes, 0 when nobody knows.
func (a Access) Window() int { return a.l.p.Selection.KnownWindow() }

// Has reports whether the model can call a tool.
func (a Access) Has(tool string) bool {
	_, err := a.l.p.Selection.Tools().Lookup(tool)
	return err == nil
}

// Approvals returns who decides about calls.
func (a Access) Approvals() *approval.Broker { return a.l.p.Approvals }

// Publish publishes an event of the exchange.
func (a Access) Publish(e event.Event) { a.l.p.Stream.Publish(a.x.task, a.turn, e) }

// Redact returns a text without secrets.
func (a Access) Redact(text string) string { return a.l.o.Redact.Text(text) }

// Foreign returns a text from elsewhere as the model may read it: without secrets, and with what reads like a
// prompt injection marked. The person is warned of a sure one, and the conversation is trusted less until the next
// prompt. where names the text.
func (a Access) Foreign(where, text string) string {
	return marked(a.l.p, a.x, a.turn, where, a.Redact(text))
}

// Call makes a call as if the model had asked for it, and waits for its result, which is not in the conversation.
func (a Access) Call(ctx context.Context, tool string, args map[string]any) (event.ToolResult, error) {
	b, j := a.l.planOne(ctx, a.x, "part_"+stream.NewID(), tool, args)
	defer b.cancel(nil)
	if j.err != nil {
		return event.ToolResult{}, j.err
	}
	b.request(j)
	b.alone(j)
	return j.result, nil
}

// AnswerWith lets the model of a profile answer the rest of the exchange. It reports whether another one does than before.
func (a Access) AnswerWith(profile string) (bool, error) {
	if profile == a.Model().Profile || a.l.o.Models == nil {
		return false, nil
	}
	m, err := a.l.o.Models(profile, "")
	if err != nil {
		return false, err
	}
	a.x.EndFallback(a.l.p.Stream, a.turn)
	a.x.answerWith(WithDurable(m, a.l.o.Durable))
	return true, nil
}

// Ask asks the person something and waits for the answer. Notification hooks run first. The error is [tools.ErrNobody]
// when nobody could be asked.
func (a Access) Ask(ctx context.Context, what string, q event.QuestionAsked) (event.QuestionAnswered, error) {
	if !a.l.p.Approvals.Interactive() {
		return event.QuestionAnswered{}, tools.ErrNobody
	}
	a.l.notify(a.x, a.turn, "elicitation_dialog", what)
	return a.l.p.Questions.Ask(ctx, a.x.task, a.turn, q)
}

// Asking is an exchange whose model makes a call.
type Asking struct {
	Access
	j *job
}

// Main reports whether the call is made in the main conversation.
func (a Asking) Main() bool { return a.x.talk.Branch() == 0 }

// EndWith ends the exchange after this turn, with a text as its answer.
func (a Asking) EndWith(text string) {
	a.x.mu.Lock()
	defer a.x.mu.Unlock()
	a.x.got.answer = text
}

// Teaches lets the person who is asked about the call read what is known of it, and a denial teach. denied is called with what the
// person has answered, after which nothing ran.
func (a Asking) Teaches(known func(action.Action) action.Memory, denied func(context.Context, tools.Call, event.ApprovalAnswered)) {
	a.j.known, a.j.denied = known, denied
}

// Briefing is an exchange before its next request.
type Briefing struct{ Access }

// Short reports whether the model gets short texts only, because it makes its calls in blocks.
func (b Briefing) Short() bool { return b.Model().Blocks != "" }

// First reports whether the exchange has had no turn yet.
func (b Briefing) First() bool { return b.x.turns == 0 }

// Prompts returns what the person has said since the last request.
func (b Briefing) Prompts() []event.PromptSubmitted { return b.x.heard }

// Naming returns, once, the prompts that name something with an @, those of an earlier process included.
func (b Briefing) Naming() []string { return conversation.TakeNaming(b.x.talk) }

// TakePlan returns what the model was told of mode plan. That a compaction may have taken the plan out is said once.
func (b Briefing) TakePlan() conversation.ToldOfPlan { return conversation.TakePlan(b.x.talk) }

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

// Off reports whether the person has switched off what the model is told of a kind.
func (b Briefing) Off(kind string) bool { return b.l.o.Reminders.Off(kind) }

package turn

import (
	"context"
	"sync"
	"time"

	"buddy/agent/action"
	"buddy/agent/approval"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/reminder"
	"buddy/agent/selection"
	"buddy/agent/stream"
	"buddy/agent/undo"
	"buddy/tools"
)

// Part connects a feature to the exchanges of a session. A part embeds [Nothing] for the methods that it does not need:
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
// order.go defines the order in which parts are called. Exchanges overlap, so the methods are called from several
// goroutines, except Begin and Replay, which are called before all others.
type Part interface {
	// Name returns the name of the feature, which is unique in a session.
	Name() string
	// Begin gets the session before anything happens in it.
	Begin(s Session)
	// Replay gets each stored event of the session, in order.
	Replay(env event.Envelope)
	// Brief adds the feature's context for the model before a request. The request waits for it.
	Brief(ctx context.Context, b Briefing)
	// Equip gives a call the data for the feature's tools before the call is planned.
	Equip(a Asking, call *tools.Call)
	// Around is called before an admitted call runs, and may change the functions of the call. The returned function
	// gets the result and may change it; nil changes nothing.
	Around(ctx context.Context, a Access, call *tools.Call) func(context.Context, *Ran)
}

// Nothing implements the methods of [Part] without doing anything.
type Nothing struct{}

// Begin does nothing.
func (Nothing) Begin(Session) {}

// Replay does nothing.
func (Nothing) Replay(event.Envelope) {}

// Brief adds nothing.
func (Nothing) Brief(context.Context, Briefing) {}

// Equip adds nothing.
func (Nothing) Equip(Asking, *tools.Call) {}

// Around adds nothing.
func (Nothing) Around(context.Context, Access, *tools.Call) func(context.Context, *Ran) {
	return nil
}

// Ran holds a call that has run.
type Ran struct {
	Result  *tools.Result
	Changed []tools.Before // files, as they were before the call
	Tried   time.Time      // when the command ran, if only its changes were kept now; zero: it ran now
}

// Session holds the parts' view of a session.
type Session struct {
	Context   context.Context // ends with the session
	Work      *sync.WaitGroup // for background work; the end of the session waits for it
	Stream    *stream.Stream
	Changes   *undo.Log
	Selection *selection.Selection // of the main agent
	Workspace string               // of the first target; absolute, without symbolic links
	Target    string               // name of the first target
}

// Access gives parts access to an exchange.
type Access struct {
	l    *Loop
	x    *Exchange
	turn int
}

// Task returns the number of the exchange's task.
func (a Access) Task() int { return a.x.task }

// Turn returns the current turn, 0 between turns.
func (a Access) Turn() int { return a.turn }

// Conversation returns the conversation of the exchange.
func (a Access) Conversation() *conversation.Conversation { return a.x.conv }

// Subagent reports whether the exchange belongs to a subagent, whose conversation the person does not see directly.
func (a Access) Subagent() bool { return a.l.agent.Type != "" }

// Agent returns the agent of the exchange.
func (a Access) Agent() Agent { return a.l.agent }

// Model returns information about the model that answers.
func (a Access) Model() model.Info { return a.l.model(a.x).Info() }

// Window returns the context window of the agent's model in tokens, 0 if unknown.
func (a Access) Window() int { return a.l.p.Selection.KnownWindow() }

// Has reports whether the model can call a tool.
func (a Access) Has(tool string) bool {
	_, err := a.l.p.Selection.Tools().Lookup(tool)
	return err == nil
}

// Approvals returns the broker that decides about calls.
func (a Access) Approvals() *approval.Broker { return a.l.p.Approvals }

// Publish publishes an event of the exchange.
func (a Access) Publish(e event.Event) { a.l.p.Stream.Publish(a.x.task, a.turn, e) }

// Redact removes secrets from a text.
func (a Access) Redact(text string) string { return a.l.o.Redact.Text(text) }

// Foreign returns an external text for the model: without secrets, and with suspected prompt injections marked. If one
// is certain, buddy warns the person, and the conversation is trusted less until the next prompt. where names the text.
func (a Access) Foreign(where, text string) string {
	return marked(a.l.p, a.x, a.turn, where, a.Redact(text))
}

// Call makes a call as if the model had requested it, and waits for its result, which is not in the conversation.
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

// AnswerWith makes the model of a profile answer the rest of the exchange. It reports whether the model changed.
func (a Access) AnswerWith(profile string) (bool, error) {
	if profile == a.Model().Profile || a.l.o.Models == nil {
		return false, nil
	}
	m, err := a.l.o.Models(profile, "")
	if err != nil {
		return false, err
	}
	EndFallback(a.l, a.x, a.turn)
	a.x.answerWith(WithDurable(m, a.l.o.Durable))
	return true, nil
}

// Ask asks the person a question and waits for the answer. First it runs the notification hooks, which get the text
// what. The error is [tools.ErrNobody] when nobody can answer.
func (a Access) Ask(ctx context.Context, what string, q event.QuestionAsked) (event.QuestionAnswered, error) {
	if !a.l.p.Approvals.Interactive() {
		return event.QuestionAnswered{}, tools.ErrNobody
	}
	a.l.notify(a.x, a.turn, "elicitation_dialog", what)
	return a.l.p.Questions.Ask(ctx, a.x.task, a.turn, q)
}

// Asking gives parts access to an exchange and one of its calls.
type Asking struct {
	Access
	j *job
}

// Main reports whether the call is made in the main conversation.
func (a Asking) Main() bool { return a.x.conv.Branch() == 0 }

// Answered returns the question that the call asked in an earlier process, with its answer, see
// [approval.Questions.TakeAnswered].
func (a Asking) Answered() (approval.Answered, bool) {
	return a.l.p.Questions.TakeAnswered(a.j.call.ID)
}

// EndWith ends the exchange after this turn, with text as its answer.
func (a Asking) EndWith(text string) {
	a.x.mu.Lock()
	defer a.x.mu.Unlock()
	a.x.results.answer = text
}

// Teaches connects the call's approval to the memory: the dialog shows the result of known, and denied is called with
// the answer when the person denies the call.
func (a Asking) Teaches(known func(action.Action) action.Memory, denied func(context.Context, tools.Call, event.ApprovalAnswered)) {
	a.j.known, a.j.denied = known, denied
}

// Briefing gives parts access to an exchange before its next request.
type Briefing struct{ Access }

// Short reports whether the model gets short texts only, because it writes its calls in text blocks.
func (b Briefing) Short() bool { return b.Model().Blocks != "" }

// First reports whether the exchange has had no turn yet.
func (b Briefing) First() bool { return b.x.turns == 0 }

// Prompts returns the person's prompts since the last request.
func (b Briefing) Prompts() []event.PromptSubmitted { return b.x.newPrompts }

// Naming returns, once, the prompts that name something with an @, including those of an earlier process.
func (b Briefing) Naming() []string { return conversation.TakeNaming(b.x.conv) }

// TakePlan returns what the model knows about plan mode. It reports only once that a compaction may have removed the
// plan.
func (b Briefing) TakePlan() conversation.PlanState { return conversation.TakePlan(b.x.conv) }

// List adds a list, or what has changed in it, to the conversation.
func (b Briefing) List(l conversation.Listing) { b.x.conv.AttachList(b.x.task, l) }

// Tell adds a text to the conversation, with the first [MaxImages] pictures if the model accepts pictures.
func (b Briefing) Tell(kind, text string, images ...model.Image) {
	if images = images[:min(len(images), MaxImages)]; b.l.p.Selection.Model().Info().TextOnly {
		images = nil
	}
	b.x.conv.Attach(b.x.task, 0, event.ReminderAttached{Kinds: []string{kind}, Text: reminder.Wrap(text), Images: images})
}

// TellState adds a text about a state, which is a short word or number, unless the model already has the same state
// of that kind. After a compaction the text is added again.
func (b Briefing) TellState(kind, state, text string) {
	if b.State(kind) != state {
		b.x.conv.Attach(b.x.task, 0, event.ReminderAttached{Kinds: []string{kind}, Text: reminder.Wrap(text), States: map[string]string{kind: state}})
	}
}

// State returns the last state of a kind that the model has, "" for none since the last compaction.
func (b Briefing) State(kind string) string { return conversation.State(b.x.conv, kind) }

// Off reports whether the person has switched off reminders of a kind.
func (b Briefing) Off(kind string) bool { return b.l.o.Reminders.Off(kind) }

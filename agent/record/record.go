// Package record computes the state of a session from its events: conversations and their unfinished answers, running
// tasks, calls, approvals, questions, queued prompts and panes. Of finished work it keeps only the list of exchanges,
// which are the prompts with their outcomes.
//
//	var r record.Record
//	about := r.Apply(env)
//	if c := about.Call; c != nil && c.Result != nil { fmt.Println(c.Result.Name, c.Result.Outcome) }
//
// Only [Record.Apply] changes a Record. It does no I/O and reads no clock. All readers of a session use the package,
// so that a screen that joins, a crashed session that resumes, a fork and an export agree on the state.
package record

import (
	"fmt"

	"buddy/agent/event"
)

// maxOpen limits the open calls of a conversation, and the open approvals and questions of a session, because the
// file may come from somebody else.
const maxOpen = 10_000

// Broken is the code of the error event for a journal that can store nothing more.
const Broken = "journal_broken"

// Record holds the open state of a session. The zero value is an empty session. It is not safe for concurrent use.
// The cost of an event does not depend on the length of the session.
type Record struct {
	Branches map[int]*Branch           // active conversations, by number; the main one is 0
	Tasks    map[int]*Task             // running tasks, by number
	Queued   map[int]event.Envelope    // queued prompts, by number
	Asked    map[string]event.Envelope // open approvals and questions, by id
	Main     Main
	Last     uint64 // number of the newest event

	latest    map[string]event.Envelope // by type: the newest of events that replace each other
	panes     map[string]event.Envelope // open panes, by id
	screens   map[string]event.Envelope // newest screen of each pane
	progress  map[int]event.Envelope    // newest of each task
	broken    []event.Envelope          // the journal's error, if any
	exchanges exchanges
}

// Main holds the state of the newest task of the main conversation.
type Main struct {
	ID     int // 0: there was none
	Failed bool
}

// Task is a running task.
type Task struct {
	event.TaskStarted // with its newest deadline
	Branch            int
	Lost              bool // its process has ended, and no other has resumed it yet

	began event.Envelope
}

// Subject holds what an event is about, in the state after the event. Fields that do not apply are nil or zero.
type Subject struct {
	Call     *Call
	Answered event.Envelope // the approval or question that was answered
}

// Apply processes the next event. It panics on an unknown type.
func (r *Record) Apply(env event.Envelope) (about Subject) {
	r.Last = env.Seq
	switch p := env.Payload.(type) {
	case event.SessionCreated, event.SessionResumed, event.SessionRenamed, event.ModelSwitched, event.TargetSwitched, event.ModeChanged,
		event.MetricsUsage, event.ContextUsage, event.CommandsListed, event.Error:
		r.session(env)
	case event.BranchStarted:
		r.branch(p.Branch).began = env
	case event.PromptSubmitted, event.PromptWithdrawn:
		r.prompt(env)
	case event.TaskStarted, event.TaskDeadline, event.TaskProgress, event.TaskFinished, event.Interrupted, event.MaxTurnsReached, event.WorkflowChanged:
		r.task(env)
	case event.TurnStarted, event.TextDelta, event.ReasoningDelta, event.Checkpoint, event.ModelRetry, event.ModelFallback, event.ModelMessage, event.TurnFinished:
		r.branch(env.Branch).answer(env)
	case event.ToolRequested, event.DecisionExplained, event.ToolStarted, event.ToolOutput, event.ToolResult:
		about.Call = r.call(env)
	case event.ApprovalAsked, event.ApprovalAnswered, event.QuestionAsked, event.QuestionAnswered:
		about = r.ask(env)
	case event.PaneOpened, event.PaneScreen, event.PaneLost, event.PaneClosed:
		r.pane(env)
	case event.HistoryRewound:
		if env.Branch == 0 {
			r.branch(0).rewind()
		}
	default:
		passOver(p)
	}
	r.exchanges.apply(env)
	return about
}

// passOver accepts events that neither open nor end anything. It panics on any other, because a new type of event needs
// a case here or in Apply.
func passOver(e event.Event) {
	switch e.(type) {
	case event.ExchangeFinished, event.SessionForked, event.SessionClosed, event.PromptBlocked, event.TaskQueued, event.TaskCancelling,
		event.RequestStarted, event.CallDelta, event.ModelPrefix, event.ToolQueued, event.SubagentBackgrounded, event.OpenText, event.ResponseFinished, event.ModelStalled, event.ModelAlive, event.ModelReading, event.FallbackEnded,
		event.ToolWaits, event.TargetConnecting, event.HookStarted, event.HookRan,
		event.FileKept, event.FileRestoring, event.FileRestored, event.FileUnchanged, event.EffectApplying, event.EffectApplied, event.ReminderAttached,
		event.TodoChanged, event.MCPServer, event.MCPReady, event.MCPCallStarted, event.MCPCallFinished, event.SkillLoaded, event.PaneHistory,
		event.ContextCompacting, event.ContextCompacted, event.MicroCompacted, event.ContextPinned,
		event.InstructionsRead, event.ResultSpilled, event.BudgetWarning, event.BudgetExceeded, event.PlanEntered, event.PlanExited,
		event.WorkflowStarted, event.WorkflowStepped, event.ReviewFinished, event.GoalChanged,
		event.RuleAdded, event.RuleRemoved, event.Warning, event.Remark, event.Unknown:
	default:
		panic(fmt.Sprintf("record: no case for %T", e))
	}
}

// session processes an event about the whole session.
func (r *Record) session(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.SessionResumed:
		r.resume(env, p)
	case event.Error:
		if p.Code == Broken {
			r.broken = []event.Envelope{env}
		}
	case event.ContextUsage:
		if env.Branch == 0 { // screens show only that of the main conversation
			put(&r.latest, event.Type(env.Payload), env)
		}
	default:
		put(&r.latest, event.Type(env.Payload), env)
	}
}

// put sets an entry of a map, and creates the map if necessary.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = make(map[K]V)
	}
	(*m)[key] = value
}

// resume marks the work of the earlier process as lost, until the new one settles or resumes it. Queued prompts stay.
func (r *Record) resume(env event.Envelope, p event.SessionResumed) {
	for id, t := range r.Tasks {
		if t.Lost = true; t.Kind != event.ShellTask { // a shell task may still run in its pane
			delete(r.Tasks, id)
		}
	}
	for _, b := range r.Branches {
		for _, c := range b.Calls {
			c.Lost = true
		}
	}
	clear(r.Asked)
	clear(r.panes)
	clear(r.screens)
	clear(r.progress)
	clear(r.latest)
	// Screens that join later get this event as session.created. As session.resumed, it would make such a screen drop
	// the work of this process about which it has already read.
	env.Payload = event.SessionCreated{
		Version: p.Version, Cwd: p.Cwd, Target: p.Target, Profile: p.Profile, Model: p.Model, API: p.API, Window: p.Window, Effort: p.Effort,
	}
	put(&r.latest, event.Type(env.Payload), env)
}

func (r *Record) prompt(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		if p.Queued {
			put(&r.Queued, p.ID, env)
			return
		}
		delete(r.Queued, p.ID)
		b := r.branch(env.Branch)
		if b.Answered = false; !b.ofAgent() {
			b.Open = true // its task starts next, unless the process is killed first
		}
	case event.PromptWithdrawn:
		delete(r.Queued, p.ID)
	}
}

func (r *Record) task(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.TaskStarted:
		put(&r.Tasks, p.ID, &Task{TaskStarted: p, Branch: env.Branch, began: env})
		if p.Kind == event.MainTask {
			r.Main = Main{ID: p.ID}
		}
		if p.Kind.HasConversation() {
			r.branch(env.Branch).begin(p)
		}
	case event.TaskDeadline:
		if t := r.Tasks[p.ID]; t != nil {
			t.Deadline = p.Deadline
		}
	case event.TaskProgress:
		put(&r.progress, p.ID, env)
	case event.TaskFinished:
		r.finish(env, p)
	case event.Interrupted:
		r.branch(env.Branch).CanContinue = p.CanContinue
	case event.MaxTurnsReached:
		r.branch(env.Branch).CanContinue = env.Branch == 0
	case event.WorkflowChanged:
		r.branch(env.Branch).Paused = p.State == event.WorkflowPaused
	}
}

func (r *Record) finish(env event.Envelope, p event.TaskFinished) {
	t := r.Tasks[p.ID]
	delete(r.Tasks, p.ID)
	delete(r.progress, p.ID)
	if p.ID == r.Main.ID {
		r.Main.Failed = p.Outcome == event.Failed
	}
	switch b := r.Branches[env.Branch]; {
	case b == nil, t != nil && !t.Kind.HasConversation():
	case env.Branch != 0:
		delete(r.Branches, env.Branch)
	default:
		b.Open = b.CanContinue || b.Paused
		b.current.dropOpen(p.ID)
	}
}

func (r *Record) pane(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.PaneOpened:
		put(&r.panes, p.Pane, env)
	case event.PaneScreen:
		put(&r.screens, p.Pane, env)
	case event.PaneLost:
		delete(r.panes, p.Pane)
	case event.PaneClosed:
		delete(r.panes, p.Pane)
		delete(r.screens, p.Pane)
	}
}

// ask processes an approval or a question, or its answer.
func (r *Record) ask(env event.Envelope) (about Subject) {
	switch p := env.Payload.(type) {
	case event.ApprovalAsked:
		r.await(p.ID, env)
		about.Call = r.branch(env.Branch).openCall(env, p.CallID)
		about.Call.Approval, about.Call.Answer = &p, nil
	case event.ApprovalAnswered:
		about.Answered = r.Asked[p.ID]
		delete(r.Asked, p.ID)
		if about.Call = r.branch(env.Branch).Calls[p.CallID]; about.Call != nil {
			about.Call.Answer = &p
		}
	case event.QuestionAsked:
		r.await(p.ID, env)
	case event.QuestionAnswered:
		about.Answered = r.Asked[p.ID]
		delete(r.Asked, p.ID)
	}
	return about
}

// await keeps an approval or a question until it is answered.
func (r *Record) await(id string, env event.Envelope) {
	if len(r.Asked) < maxOpen {
		put(&r.Asked, id, env)
	}
}

// Busy reports whether a task is running or waiting for a person.
func (r *Record) Busy() bool {
	for _, t := range r.Tasks {
		if !t.Lost {
			return true
		}
	}
	return false
}

// Usage returns the usage and cost of the session in this process.
func (r *Record) Usage() event.MetricsUsage {
	p, _ := r.latest[event.Type(event.MetricsUsage{})].Payload.(event.MetricsUsage)
	return p
}

// Renamed returns the title set in this process, and whether there is one.
func (r *Record) Renamed() (title string, ok bool) {
	p, ok := r.latest[event.Type(event.SessionRenamed{})].Payload.(event.SessionRenamed)
	return p.Title, ok
}

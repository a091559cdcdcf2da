// Package agent runs conversations with a model. It asks the model, runs the tools that the model calls, once the
// policy or the user has allowed them, and repeats this until the model answers without a call. Callers send commands
// and read a single ordered stream of events.
//
//	rt := agent.New(agent.Options{Session: id, Model: m, Tools: registry, Journal: j})
//	events := rt.Subscribe(ctx)
//	rt.Start()
//	rt.Send(event.Submit{Text: "why do the tests fail?"})
//	for env := range events { … }
//
// A program without a screen can drive a runtime directly, with [Runtime.Run], [Runtime.RunText], [Runtime.RunStream]
// or [Runtime.RunStep]; a [turn.Hook] can watch and stop it:
//
//	rt := agent.New(agent.Options{Model: m, Tools: registry})
//	res, err := rt.RunText(ctx, "why do the tests fail?")
//
// Conversations that outgrow the model's context window are compacted, as configured in [settings.Context].
// Options.Replay restores a stored session, and [Runtime.Continue] resumes its unfinished exchange.
//
// Send never blocks. The runtime never waits for a reader of events, only for its journal.
//
// A [Runtime] has no lock of its own, because each of its parts guards its own data. At most one exchange runs on a
// conversation at a time. Code that holds several locks takes them in this order:
//
//  1. tasks
//  2. one of: background commands (shells), changes of files (undo), instruction files
//  3. the tree of conversations
//  4. a conversation
//  5. the stream
package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"buddy/agent/action"
	"buddy/agent/approval"
	"buddy/agent/compact"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/hooks"
	"buddy/agent/instructions"
	"buddy/agent/model"
	"buddy/agent/policy"
	"buddy/agent/record"
	"buddy/agent/redact"
	"buddy/agent/selection"
	"buddy/agent/settings"
	"buddy/agent/stream"
	"buddy/agent/subagents"
	"buddy/agent/turn"
	"buddy/agent/undo"
	"buddy/agent/usage"
	"buddy/tools"
)

// Panes provides the managed panes of all targets.
type Panes interface {
	// Watch sets the panes whose screens are published.
	Watch(names []string)
	// Pane returns the session and the id of the pane with this name.
	Pane(name string) (at PaneSession, id string, err error)
}

// PaneSession handles the commands for the panes of one target; *tmux.Session implements it.
type PaneSession interface {
	// Type sends bytes to a pane as a terminal would. They may be a password, so nothing records them.
	Type(ctx context.Context, pane string, p []byte) error
	// Paste sends text to a pane as a paste. Nothing records it either.
	Paste(ctx context.Context, pane, text string) error
	// Fit sets the size of a pane in cells; zeros restore its own size. It reports whether the size was set.
	Fit(ctx context.Context, pane string, w, h int) (bool, error)
	// History returns the newest lines of a pane, up to the end of its screen.
	History(ctx context.Context, pane string) ([]string, error)
	// Kill closes a pane and ends the processes in it.
	Kill(ctx context.Context, pane string) error
}

// Options configure a Runtime. Only Model is required.
type Options struct {
	Places
	Prompts
	Secrets
	turn.Features                    // the runtime closes Programs
	settings.Limits                  // of an exchange
	Calls           settings.Calls   // limits of tool calls
	Context         settings.Context // how the conversation is kept within the context window
	Agents          Agents
	Policy          policy.Policy // decides which calls need approval

	Session string
	Version string // of the program
	Cleared bool   // the person left another session for this new one
	Model   model.Model
	// Models returns the model of a profile, for SwitchModel; an effort overrides that of the profile. nil: there are
	// no other models.
	Models func(profile, effort string) (model.Model, error)
	// Small writes a title for the session after its first exchange, in the background; nil: the title is the
	// beginning of the first prompt.
	Small     model.Model
	Tools     *tools.Registry
	System    string         // the system prompt; an empty one adds no message
	Mode      action.Mode    // how approvals are decided; "" = ask
	ModeAsked bool           // the person asked for Mode: a resumed session does not continue in plan mode
	Journal   stream.Journal // nil: nothing is stored
	// Replay holds the stored events of this session, which the runtime continues.
	Replay []event.Envelope
	// MaxParallel limits the parallel calls of one answer: 1 runs them one after the other, 0 is 10.
	MaxParallel int
	// Strict ends the exchange with a ToolError when a tool fails, unless its result asks for another try. Otherwise
	// the model reads the failure and continues.
	Strict bool
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Places describes where a session works.
type Places struct {
	Cwd     string
	Target  string  // name of the first target: "local"
	Targets Targets // nil: there is only one
	Panes   Panes   // may be nil
	// Files returns the files of a target; nil: changes can't be undone.
	Files   func(ctx context.Context, target string) (Files, error)
	Readers conversation.Readers // of the file tools; nil: forks have to read files again
	OutDir  string               // where tools keep whole outputs, one folder per call
}

// Prompts configures the context of a model in addition to the system prompt.
type Prompts struct {
	Here string // precedes the person's first message: where the model works; an empty text adds nothing
	// Told returns the system prompt and the tools for a new model; nil: they stay the same.
	Told func(model.Info) (system string, all *tools.Registry)
	// Instructions reads the instruction files; nil: there are none. It is called before the first request and after
	// each compaction, and must return within a few seconds.
	Instructions func(context.Context) (instructions.Set, error)
	// InstructionsOf reads the instruction files of folders below Policy.Workspace in which the model has used a file;
	// nil: they are not read.
	InstructionsOf func(ctx context.Context, dirs []string) (instructions.Set, error)
	Memory         Memory
	// Strategy decides when and how the conversation is compacted; nil: Context.Strategy.
	Strategy ContextStrategy
	// Breakpoints end the request prefixes that a provider is asked to cache. They are indexes of system messages:
	// the first is the prompt with the instruction files, the second the summary; nil is the last one.
	Breakpoints []int
	// Dates is the time zone of the dates that the model gets, with the first prompt of a conversation and after each
	// change of the date; nil: the model gets no date.
	Dates *time.Location
}

// Memory tells the user what buddy remembers from earlier sessions. The zero value tells nothing.
type Memory struct {
	Report func() string // in one line
	Told   func() int    // bytes of memory in the instructions
}

// Secrets configures what is hidden.
type Secrets struct {
	Redact   *redact.Redactor // removes secrets from tools' output
	Keys     *redact.Keys     // keys hidden in all events
	Withheld []string         // names of variables that commands do not get, shown to the person
}

// Runtime is one live session: it receives commands and passes them to its parts. It is safe for concurrent use.
type Runtime struct {
	opts         Options
	life         *life
	inbox        *inbox
	panes        *paneCommands
	stream       *stream.Stream
	approvals    *approval.Broker
	questions    *approval.Questions
	changes      *undo.Log
	ledger       *usage.Ledger
	selection    *selection.Selection
	instructions *conversation.Instructions
	compactor    *compact.Compactor
	tasks        *tasks
	shells       *shells
	titles       *titles
}

// maxParallel is the default limit of parallel calls.
const maxParallel = 10

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Tools == nil {
		o.Tools = tools.NewRegistry()
	}
	if o.MaxParallel <= 0 {
		o.MaxParallel = maxParallel
	}
	o.WarnAt = cmp.Or(o.WarnAt, settings.WarnAt)
	o.Calls, o.Context, o.Agents.Limits = o.Calls.WithDefaults(), o.Context.WithDefaults(), o.Agents.Limits.WithDefaults()
	if o.Mode == "" {
		o.Mode = action.ModeAsk
	}
	return o
}

// New returns a runtime that does nothing until Start.
func New(o Options) *Runtime {
	o = o.withDefaults()
	events := stream.New(o.Session, o.Now, o.Journal)
	events.Hide(o.Keys)
	o.Programs.Bind(events)
	r := &Runtime{
		opts: o, life: &life{}, inbox: newInbox(), stream: events,
		approvals: approval.New(events, o.Policy, o.Target, o.Mode, o.Now),
		questions: approval.NewQuestions(events, o.Redact),
		changes:   undo.New(events, o.Files, o.Target, o.OutDir),
		ledger:    usage.New(events, usage.Budget{Limits: o.Limits, ToolTokens: o.Calls.Tokens()}),
		selection: selection.New(turn.WithDurable(o.Model, o.Durable), o.Tools),
	}
	r.life.ctx, r.life.cancel = context.WithCancel(context.Background())
	r.panes = &paneCommands{life: r.life, stream: events, panes: o.Panes, inbox: newInbox()}
	r.titles = &titles{life: r.life, small: o.Small, redact: o.Redact, stream: events, ledger: r.ledger}

	tree := conversation.NewTree(events, o.System)
	tree.Silence(o.Reminders.Off)
	tree.Keep(o.Readers)
	tree.Main().Gauge(o.Model.Info().Model, r.selection.Overhead())
	r.instructions = conversation.NewInstructions(r.life.ctx, &r.life.work, events, tree, o.Here, conversation.Sources{
		Read: o.Instructions, ReadBelow: o.InstructionsOf, Workspace: o.Policy.Workspace, Redact: o.Redact,
	})
	r.compactor = compact.New(o.Context, compact.Parts{
		Own: o.Strategy, Stream: events, Approvals: r.approvals, Ledger: r.ledger, Selection: r.selection, Redact: o.Redact, Hooks: o.Programs, ReadTime: o.Calls.Timeout,
	})
	n := &numbers{}
	r.shells = &shells{life: r.life, now: o.Now, stream: events, tree: tree, numbers: n, running: make(map[int]*shellTask)}
	r.tasks = &tasks{
		life: r.life, clock: clock{o.Now, o.Dates}, stream: events, approvals: r.approvals, ledger: r.ledger, selection: r.selection,
		tree: tree, titles: r.titles, changes: r.changes, numbers: n,
		main: &branch{conv: tree.Main()}, forks: make(map[int]*branch), agents: newSubagents(r),
	}
	r.tasks.agents.tasks, r.tasks.agents.line.moved.L = r.tasks, &r.tasks.mu
	r.opts.Parts = slices.Concat([]turn.Part{r.tasks.agents.book, subagents.Mentions(r.tasks.agents.book)}, o.Parts)
	for _, p := range r.opts.Parts {
		p.Begin(turn.Session{
			Context: r.life.ctx, Work: &r.life.work, Stream: events, Changes: r.changes, Selection: r.selection, Workspace: o.Policy.Workspace, Target: o.Target,
		})
	}
	r.tasks.loop = r.newLoop()
	r.tasks.drivers = driversOf(r.tasks, o.Parts)
	r.replay(o.Replay)
	return r
}

// newSubagents returns the session's subagent set, with none running.
func newSubagents(r *Runtime) *subagentSet {
	o := r.opts
	return &subagentSet{
		o: o.Agents, book: subagents.NewBook(o.Agents.Read), instructions: r.instructions, durable: o.Durable,
		compactor: r.compactor, redact: o.Redact,
	}
}

// newLoop returns the loop of turns with its dependencies.
func (r *Runtime) newLoop() *turn.Loop {
	o := r.opts
	return turn.New(turn.Options{
		Features: o.Features, Calls: o.Calls, Models: o.Models, Learnt: func(n model.Needs) { learnt(r, n) }, Dates: o.Dates, Redact: o.Redact,
		Breakpoints: o.Breakpoints, NoCache: o.Context.Cache.Off, NoEarly: o.Calls.Wait, MaxParallel: o.MaxParallel, MaxRepeats: o.MaxRepeats, Strict: o.Strict, OutDir: o.OutDir, Target: o.Target, Now: o.Now,
	}, turn.Parts{
		Stream: r.stream, Approvals: r.approvals, Questions: r.questions, Ledger: r.ledger, Selection: r.selection,
		Compactor: r.compactor, Instructions: r.instructions, Changes: r.changes, Begin: r.shells.Begin, Running: r.others, RunAgent: r.tasks.agents.runAgent,
	})
}

// Subscribe returns all events from now on. The channel is closed after the last event, or when ctx ends. A slow
// reader loses no durable event.
func (r *Runtime) Subscribe(ctx context.Context) <-chan event.Envelope {
	return r.stream.Subscribe(ctx)
}

// Join returns the events with numbers above the given one, in batches: the stored ones, the open parts of the answer
// and of running tools, and then all new ones. every is the minimum interval between two batches of streamed events;
// with 0 they come immediately. A reader that stops may join again without missing events.
func (r *Runtime) Join(ctx context.Context, after uint64, every time.Duration) <-chan []event.Envelope {
	return r.stream.Join(ctx, after, every)
}

// Look calls the given function with the open state of this process. The function must not block, use the runtime, or
// keep anything of the record. Any goroutine may call Look.
func (r *Runtime) Look(read func(*record.Record)) { r.stream.Look(read) }

// Observe calls the given function with each event from now on, in order, before subscribers get the event. The
// function must not block or use the runtime.
func (r *Runtime) Observe(seen func(event.Envelope)) { r.stream.Observe(seen) }

// Start publishes the session, settles interrupted work, and starts to handle commands. Call it once, after the first
// Subscribe.
func (r *Runtime) Start() {
	r.approvals.SetInteractive()
	info := r.opts.Model.Info()
	created := event.SessionCreated{
		Version: r.opts.Version, Cwd: r.opts.Cwd, Target: r.opts.Target,
		Profile: info.Profile, Model: info.Model, API: info.API, Window: info.Window, Effort: info.Effort,
	}
	if len(r.opts.Replay) == 0 {
		r.Publish(created)
	} else {
		r.Publish(event.SessionResumed{
			Version: created.Version, Cwd: created.Cwd, Target: created.Target,
			Profile: created.Profile, Model: created.Model, API: created.API, Window: created.Window, Effort: created.Effort,
			Interrupted: interruptedIn(r.tasks.recovery),
		})
	}
	r.approvals.Begin()
	r.compactor.PublishUsage(r.tasks.tree.Main(), 0, 0)
	r.instructions.ReadEarly()
	r.tasks.agents.book.ReadEarly()
	if r.stream.StoreError() == nil {
		r.restoreTarget()
		r.changes.WarnInterrupted()
		r.tasks.resume(r.shells)
	}
	r.opts.Programs.Begin(hooks.Where{Mode: r.opts.Mode}, r.source())
	r.opts.Replay = nil // not needed any more; it can have a hundred megabytes
	r.life.work.Add(2)
	go r.serve()
	go r.panes.serve()
}

// source returns how the session began, in the words that hooks get.
func (r *Runtime) source() string {
	for _, env := range slices.Backward(r.opts.Replay) {
		switch env.Payload.(type) {
		case event.Notice: // a notice may replace removed events
			continue
		case event.SessionForked:
			return "fork"
		}
		return "resume"
	}
	if r.opts.Cleared {
		return "clear"
	}
	return "startup"
}

// Send queues a command. It never blocks; an invalid command causes an Error event.
func (r *Runtime) Send(c event.Command) {
	if err := r.inbox.put(c); err != nil {
		r.reject("%v", err)
	}
}

// Publish publishes an event from outside the runtime, such as an event of a pane.
func (r *Runtime) Publish(e event.Event) { r.stream.Publish(0, 0, e) }

// Close cancels all work, waits until it has stopped or ctx ends, and closes the stream. The journal stays open.
func (r *Runtime) Close(ctx context.Context) error {
	r.life.closing.Store(true)
	r.approvals.Close()
	r.tasks.close()
	r.inbox.close()
	r.panes.inbox.close()
	stopped := make(chan struct{})
	go func() { r.life.work.Wait(); close(stopped) }()
	var err error
	select {
	case <-stopped:
		r.opts.Programs.End()
		r.Publish(event.SessionClosed{})
	case <-ctx.Done():
		r.opts.Programs.Close()
		err = fmt.Errorf("session %s: a task did not stop: %w", r.opts.Session, ctx.Err())
	}
	r.stream.Close()
	return err
}

// SetRules replaces the rules that the session started with; rules added by a person in this session stay. Open
// approvals that the new rules deny are denied. The new rules approve none, because the person was asked under the old
// ones.
func (r *Runtime) SetRules(rules []action.Rule) { r.approvals.SetRules(rules) }

// RefreshAgents makes the runtime read the definitions of subagents again after their files have changed. Any goroutine
// may call it.
func (r *Runtime) RefreshAgents() { r.tasks.agents.book.Stale() }

// Rules returns the current rules: of the settings, then of the session. Any goroutine may call it.
func (r *Runtime) Rules() []action.Rule { return r.approvals.Rules() }

// Package agent runs conversations: commands go in, one ordered stream of events comes
// out. It asks a model, runs the tools that the model calls once the policy or a person
// has said yes, and repeats until there is an answer. It has no screen in it.
//
//	rt := agent.New(agent.Options{Session: id, Model: m, Tools: registry, Journal: j})
//	events := rt.Subscribe(ctx)
//	rt.Start()
//	rt.Send(event.Submit{Text: "why do the tests fail?"})
//	for env := range events { … }
//
// A program that needs no screen and nobody to ask drives it directly, with [Runtime.Run],
// [Runtime.RunText], [Runtime.RunStream] or [Runtime.RunStep]:
//
//	rt := agent.New(agent.Options{Model: m, Tools: registry})
//	res, err := rt.RunText(ctx, "why do the tests fail?")
//
// Send never blocks, and the runtime never waits for a reader of events; it waits for
// its journal only.
package agent

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/model"
	"buddy/agent/policy"
	"buddy/agent/redact"
	"buddy/tools"
)

// Panes is what the runtime passes on to the terminal panes.
type Panes interface {
	// Watch names the panes whose pictures are wanted.
	Watch(ids []string)
}

// Options make a Runtime. Model is required; the zero value of all others works.
type Options struct {
	Session string
	Version string // of the program
	Cwd     string
	Target  string // where commands run, for people: "local"
	Model   model.Model
	// Models returns the model of a profile, for SwitchModel; nil: there are no others.
	Models   func(profile string) (model.Model, error)
	Tools    *tools.Registry  // the runtime's mutex guards it from New on
	System   string           // the system prompt; blank adds no message
	MaxTurns int              // turns of one exchange; 0 = no limit
	MaxCost  model.Money      // what one exchange may cost, as far as prices are known; 0 = no limit
	Mode     action.Mode      // how approvals are decided; "" = ask
	Policy   policy.Policy    // what needs an approval
	Redact   *redact.Redactor // what is taken out of tools' output
	Journal  Journal          // nil: nothing is stored
	Hooks    []Hook           // told of each turn, in this order
	Panes    Panes            // nil: there are none
	OutDir   string           // where tools keep whole outputs, one folder a call
	// ToolTimeout is how long a tool may run; 0 is 60 s. Commands have no limit.
	ToolTimeout time.Duration
	// Replay is what an earlier process stored of this session; the runtime goes on
	// where it ended.
	Replay []event.Envelope
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Runtime is one live session. It is safe for concurrent use.
type Runtime struct {
	opts   Options
	stream *stream
	asks   *approvals
	inbox  *inbox
	ctx    context.Context // ends when the runtime closes
	cancel context.CancelFunc
	done   sync.WaitGroup // the command loop and the main task

	mu      sync.Mutex // guards all below
	model   model.Model
	hist    *history.History
	ids     counters
	main    *task
	queue   []event.PromptSubmitted
	pending bool // an interrupted exchange can be continued
	usage   ledger
}

// counters number what a session makes.
type counters struct{ prompt, task, turn, call, out, warned int }

// task is the exchange that runs.
type task struct {
	id     int
	title  string
	began  time.Time
	cancel context.CancelCauseFunc

	// Only the loop uses these, but for failed, which r.mu guards.
	turns    int
	response string            // the text of the last answer
	usage    model.Usage       // of all its requests
	paused   bool              // between two steps; r.mu guards it
	ids      map[string]bool   // of calls
	failed   map[string]failed // calls that failed, by name and arguments
}

// New returns a runtime that does nothing until Start.
func New(opts Options) *Runtime {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Tools == nil {
		opts.Tools = tools.NewRegistry()
	}
	if opts.ToolTimeout == 0 {
		opts.ToolTimeout = defaultTimeout
	}
	if opts.Mode == "" {
		opts.Mode = action.ModeAsk
	}
	r := &Runtime{
		opts:   opts,
		stream: &stream{session: opts.Session, now: opts.Now, journal: opts.Journal},
		inbox:  newInbox(),
		hist:   history.New(opts.System),
		model:  opts.Model,
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.gauge()
	r.asks = newApprovals(r.stream, opts.Policy, opts.Mode, opts.Now)
	return r
}

// Subscribe returns the stream of events from now on. The channel is closed after the
// last event, or when ctx ends. A slow reader loses no durable event.
func (r *Runtime) Subscribe(ctx context.Context) <-chan event.Envelope {
	return r.stream.subscribe(ctx)
}

// Start reports the session, settles what an earlier process left open, and begins to
// take commands. Call it once, after the first Subscribe.
func (r *Runtime) Start() {
	r.asks.attend()
	info := r.opts.Model.Info()
	created := event.SessionCreated{
		Version: r.opts.Version, Cwd: r.opts.Cwd, Target: r.opts.Target,
		Profile: info.Profile, Model: info.Model, API: info.API, Window: info.Window,
	}
	left := leftover{}
	if len(r.opts.Replay) == 0 {
		r.emit(0, 0, created)
	} else {
		left = r.replay(r.opts.Replay)
		r.emit(0, 0, event.SessionResumed{
			Version: created.Version, Cwd: created.Cwd, Target: created.Target,
			Profile: created.Profile, Model: created.Model, API: created.API, Window: created.Window, Interrupted: left.exchange,
		})
	}
	r.emit(0, 0, event.ModeChanged{Mode: r.opts.Mode})
	r.emitUsage(0, 0)
	if left.exchange && r.stream.readOnly() == nil {
		r.resume(left)
	}
	r.done.Add(1)
	go r.serve()
}

// Send hands over a command. It never blocks; a command that makes no sense gives an
// Error event.
func (r *Runtime) Send(c event.Command) { r.inbox.put(c) }

// Publish puts a fact of something composed with the runtime, such as a pane, into the
// stream.
func (r *Runtime) Publish(e event.Event) { r.emit(0, 0, e) }

// Close cancels what runs, waits until it has stopped or ctx ends, and closes the
// stream. The journal stays open.
func (r *Runtime) Close(ctx context.Context) error {
	r.asks.shut()
	r.mu.Lock()
	r.cancel() // no task opens from here on
	r.mu.Unlock()
	r.inbox.close()
	stopped := make(chan struct{})
	go func() { r.done.Wait(); close(stopped) }()
	var err error
	select {
	case <-stopped:
		r.emit(0, 0, event.SessionClosed{})
	case <-ctx.Done():
		err = fmt.Errorf("session %s: a task did not stop: %w", r.opts.Session, ctx.Err())
	}
	r.stream.close()
	return err
}

// emit publishes an event whatever the journal's state; a tool's start checks it.
func (r *Runtime) emit(task, turn int, e event.Event) { _ = r.stream.emit(task, turn, e) }

// serve takes commands until the runtime closes.
func (r *Runtime) serve() {
	defer r.done.Done()
	for {
		c, ok := r.inbox.next()
		if !ok {
			return
		}
		r.handle(c)
	}
}

func (r *Runtime) handle(c event.Command) {
	switch c := c.(type) {
	case event.Submit:
		r.submit(c.Text)
	case event.Unqueue:
		r.unqueue(c.ID)
	case event.Continue:
		r.resumeExchange()
	case event.Approve:
		r.asks.answer(c)
	case event.Cancel:
		r.cancelTask(c.Task)
	case event.SetMode:
		r.asks.setMode(c.Mode, c.Duration)
	case event.SwitchModel:
		r.switchModel(c.Profile)
	case event.Compact:
		r.compactNow()
	case event.Report:
		r.report(c.What)
	case event.WatchPanes:
		if r.opts.Panes != nil {
			r.opts.Panes.Watch(c.IDs)
		}
	default:
		r.reject("unknown command %T", c)
	}
}

// reject answers a command that makes no sense.
func (r *Runtime) reject(format string, args ...any) {
	r.emit(0, 0, event.Error{Text: fmt.Sprintf(format, args...), Code: "bad_command"})
}

func (r *Runtime) submit(text string) {
	if strings.TrimSpace(text) == "" {
		r.reject("the prompt is empty")
		return
	}
	if err := r.stream.readOnly(); err != nil {
		r.reject("the prompt was not taken: %v", err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids.prompt++
	p := event.PromptSubmitted{ID: r.ids.prompt, Text: text, Queued: r.main != nil}
	if p.Queued {
		r.queue = append(r.queue, p)
		r.emit(0, 0, p)
		return
	}
	r.startTask(text, []event.PromptSubmitted{p}, r.exchange)
}

func (r *Runtime) unqueue(id int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, p := range r.queue {
		if p.ID == id {
			r.queue = append(r.queue[:i:i], r.queue[i+1:]...)
			r.emit(0, 0, event.PromptWithdrawn{ID: id})
			return
		}
	}
	r.reject("prompt %d is not queued", id)
}

// switchModel changes who answers; the history stays (C14).
func (r *Runtime) switchModel(profile string) {
	if r.opts.Models == nil {
		r.reject("there is no other model")
		return
	}
	m, err := r.opts.Models(profile)
	if err != nil {
		r.reject("the model was not switched: %v", err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.main != nil {
		r.reject("the model can't be switched while task #%d runs", r.main.id)
		return
	}
	r.model = m
	info := m.Info()
	r.hist.SetModel(info.Model)
	r.emit(0, 0, event.ModelSwitched{Profile: info.Profile, Model: info.Model, API: info.API, Window: info.Window})
}

// toolset returns the tools that are offered now.
func (r *Runtime) toolset() *tools.Registry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.opts.Tools
}

// answering returns the model that answers now.
func (r *Runtime) answering() model.Model {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.model
}

// resumeExchange goes on with what a crash interrupted.
func (r *Runtime) resumeExchange() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.main != nil || !r.pending {
		r.reject("nothing was interrupted")
		return
	}
	r.startTask("continue", nil, r.exchange)
}

func (r *Runtime) cancelTask(id int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.main == nil || (id != 0 && id != r.main.id) {
		if id == 0 {
			r.reject("nothing is running")
		} else {
			r.reject("task %d is not running", id)
		}
		return
	}
	r.emit(r.main.id, 0, event.TaskCancelling{ID: r.main.id})
	r.main.cancel(ErrCancelled)
}

// startTask runs work as the main task, which prompts open. The caller holds r.mu.
func (r *Runtime) startTask(title string, prompts []event.PromptSubmitted, work work) {
	ctx, t := r.openTask(r.ctx, title, prompts)
	go func() { _, _ = r.runTask(ctx, t, work) }() // its events say how it ended
}

// openTask makes the main task, which ends when ctx or the runtime does; endTask must
// follow. The caller holds r.mu.
func (r *Runtime) openTask(ctx context.Context, title string, prompts []event.PromptSubmitted) (context.Context, *task) {
	r.ids.task++
	working, cancel := context.WithCancelCause(r.ctx)
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	t := &task{id: r.ids.task, title: cut(title, 80), began: r.opts.Now(), ids: make(map[string]bool), failed: make(map[string]failed)}
	t.cancel = func(cause error) {
		stop()
		cancel(cause)
	}
	r.main, r.pending = t, false
	for _, p := range prompts {
		r.enter(t.id, p)
	}
	r.emit(t.id, 0, event.TaskStarted{ID: t.id, Kind: event.MainTask, Title: t.title})
	r.done.Add(1)
	return working, t
}

// enter puts a prompt into the history. The caller holds r.mu.
func (r *Runtime) enter(task int, p event.PromptSubmitted) {
	p.Queued = false
	r.hist.User(p.Text)
	r.emit(task, 0, p)
}

// work is what a task does, up to its outcome.
type work = func(context.Context, *task) (event.Outcome, error)

func (r *Runtime) runTask(ctx context.Context, t *task, work work) (Result, error) {
	outcome, err := r.guard(ctx, t, work)
	return r.endTask(ctx, t, outcome, err)
}

// endTask emits the task's last event and starts the next prompt that waits.
func (r *Runtime) endTask(ctx context.Context, t *task, outcome event.Outcome, err error) (Result, error) {
	defer r.done.Done()
	defer t.cancel(nil)
	r.asks.denyTask(t.id)
	finished := event.TaskFinished{ID: t.id, Outcome: outcome}
	if err != nil {
		finished.Error = err.Error()
		r.emit(t.id, 0, event.Error{Text: err.Error(), Code: "task_failed", Task: t.id})
	}
	if outcome == event.Cancelled && ctx.Err() != nil {
		r.emit(t.id, 0, event.Interrupted{Task: t.id, Text: history.Unanswered})
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	res := Result{Response: t.response, Messages: slices.Clone(r.hist.Messages()), Usage: t.usage, Turns: t.turns, Outcome: outcome}
	r.emit(t.id, 0, finished)
	r.main = nil
	if len(r.queue) > 0 && r.ctx.Err() == nil {
		p := r.queue[0]
		r.queue = r.queue[1:]
		r.startTask(p.Text, []event.PromptSubmitted{p}, r.exchange)
	}
	return res, verdict(ctx, outcome, err)
}

// guard turns a panic in work into a failed task.
func (r *Runtime) guard(ctx context.Context, t *task, work work) (outcome event.Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			outcome, err = event.Failed, fmt.Errorf("internal error: %v", p)
		}
	}()
	return work(ctx, t)
}

// cut shortens s to at most n bytes without splitting a character, newlines to spaces.
func cut(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// newID returns 16 random hex digits.
func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

package compose

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"buddy/agent"
	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/debuglog"
	"buddy/app/project"
	"buddy/tools"
	"buddy/tools/target"
	"buddy/views/markup"
)

// deferredRuntime holds the runtime of a program, and queues commands and events until the runtime exists. The runtime
// of a long session exists only some time after the first frame is drawn. Any goroutine may use it.
type deferredRuntime struct {
	mu    sync.Mutex // guards all below
	rt    *agent.Runtime
	held  []func(*agent.Runtime)
	ended bool
}

// Send sends a command to the runtime, or queues it. It reports whether the runtime exists already.
func (l *deferredRuntime) Send(c event.Command) bool {
	if debuglog.Enabled() {
		slog.Debug("command", "type", fmt.Sprintf("%T", c))
	}
	return l.do(func(rt *agent.Runtime) { rt.Send(c) })
}

// Publish adds an event from outside the runtime to the runtime's events.
func (l *deferredRuntime) Publish(e event.Event) {
	l.do(func(rt *agent.Runtime) { rt.Publish(e) })
}

// SetRules replaces the rules of the configuration.
func (l *deferredRuntime) SetRules(rules []action.Rule) {
	l.do(func(rt *agent.Runtime) { rt.SetRules(rules) })
}

// AgentNames returns the types of subagents that a prompt may name, none before the runtime has started.
func (l *deferredRuntime) AgentNames(ctx context.Context) []string {
	l.mu.Lock()
	rt := l.rt
	l.mu.Unlock()
	if rt == nil {
		return nil
	}
	return agent.Subagents(ctx, rt).Names()
}

func (l *deferredRuntime) do(f func(*agent.Runtime)) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rt == nil {
		l.held = append(l.held, f)
		return false
	}
	f(l.rt)
	return true
}

// begin sets the started runtime and passes the queue to it. It does nothing and returns false if the program is
// already ending.
func (l *deferredRuntime) begin(rt *agent.Runtime) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	l.rt = rt
	for _, f := range l.held {
		f(rt)
	}
	l.held = nil
	return true
}

// end returns the runtime, nil if there is none, and makes begin refuse a runtime that is ready later.
func (l *deferredRuntime) end() *agent.Runtime {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	return l.rt
}

// abandon drops the runtime, which keeps running. Commands and events sent from now on are discarded.
func (l *deferredRuntime) abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rt, l.ended = nil, true
}

var errEnds = errors.New("the program ends")

// Begin makes the runtime, starts it, and returns its events from the first one on.
func (p *Program) Begin(ctx context.Context) (<-chan event.Envelope, error) {
	ready, err := p.Prepare()
	if err != nil {
		return nil, err
	}
	events := ready.Subscribe(ctx)
	return events, ready.Start()
}

// Prepared is a runtime that has not started, so that subscribers miss no event.
type Prepared struct {
	*agent.Runtime
	program *Program
	damage  string // which lines of the session can't be read, "" for none
	panes   bool   // whether an earlier process left panes on the first target
}

// Prepare makes the runtime. If the session is stored, it first reads the events that the runtime needs, which may take
// a second.
func (p *Program) Prepare() (*Prepared, error) {
	o, ready := p.Options, &Prepared{program: p}
	if file := p.Journal.Stored(); file != nil {
		var err error
		if o.Replay, ready.damage, err = replayOf(file); err != nil {
			return nil, err
		}
		p.resumeModel(&o)
		ready.panes = hasOldPanes(o.Replay)
		p.tmuxNames = tmuxNames(o.Replay)
		first := p.Targets.First()
		first.Panes.Prefer(p.tmuxNames[first.Name])
	}
	ready.Runtime = agent.New(o)
	p.inside.follow(p, ready.Runtime)
	ready.Observe(p.memory.Observe)
	ready.Observe((&outputLimit{program: p}).see)
	return ready, nil
}

// Start starts the runtime, publishes the initial notices and sends the queued commands. Call it once.
func (r *Prepared) Start() error {
	p := r.program
	if debuglog.Enabled() {
		go debuglog.Follow(r.Subscribe(context.Background())) // ends with the runtime
	}
	r.Runtime.Start()
	if now := p.Options.Model.Info(); p.options.Chosen.Profile == now.Profile && !p.Journal.resumed() { // so that a resume keeps it
		r.Publish(event.ModelSwitched{Profile: now.Profile, Model: now.Model, API: now.API, Window: now.Window, Effort: now.Effort})
	}
	if r.damage != "" {
		r.Publish(event.Notice{Text: r.damage, Code: damagedCode})
	}
	for _, n := range p.Notices {
		r.Publish(event.Notice{Text: n})
	}
	for _, text := range p.limits {
		r.Publish(project.LostLimit(text))
	}
	p.ofProject = p.Project().Notices()
	for _, e := range p.ofProject {
		r.Publish(e)
	}
	if w := awayWarning(p.Dest.Target); w != nil {
		r.Publish(w)
		p.Dest.Away = nil // the next session tries again
	}
	if p.Problem != "" && p.Config.Active != nil {
		r.Publish(event.Warning{Text: p.Problem, Code: "model"})
	}
	go project.SweepCopies()
	p.Servers.Start()
	p.Checks.Start()
	if r.panes {
		go findPanes(p.Targets)
	}
	if !p.Live.begin(r.Runtime) {
		ctx, cancel := context.WithTimeout(context.Background(), CloseTime)
		defer cancel()
		return errors.Join(errEnds, r.Close(ctx))
	}
	return nil
}

// resumeModel restores the model that the user chose with /model in an earlier process of the session, unless the
// command line names a model.
func (p *Program) resumeModel(o *agent.Options) {
	var chosen event.ModelSwitched
	for _, env := range o.Replay {
		if e, ok := env.Payload.(event.ModelSwitched); ok {
			chosen = e
		}
	}
	now := o.Model.Info()
	if chosen.Profile == "" || p.options.Model != "" || chosen.Profile == now.Profile && chosen.Effort == now.Effort {
		return
	}
	m, err := p.modelOf(chosen.Profile, chosen.Effort)
	if err != nil {
		p.note(fmt.Sprintf("%s answers, because the session's model %s can't be used: %v", now.Model, chosen.Profile, err))
		return
	}
	if o.Model = m; m.Info().Model != now.Model {
		p.note(m.Info().Model + " answers: you chose it in this session")
	}
	o.System, o.Tools = o.Told(m.Info())
}

// hasOldPanes reports whether an earlier process left panes on the first target.
func hasOldPanes(events []event.Envelope) bool {
	open := make(map[string]bool)
	for _, env := range events {
		switch p := env.Payload.(type) {
		case event.PaneOpened:
			open[p.Pane] = tools.ParsePane(p.Pane).Target == ""
		case event.PaneClosed:
			delete(open, p.Pane)
		}
	}
	for _, here := range open {
		if here {
			return true
		}
	}
	return false
}

// tmuxNames returns the names of a session's tmux sessions, by target.
func tmuxNames(events []event.Envelope) map[string]string {
	names := make(map[string]string)
	for _, env := range events {
		if p, ok := env.Payload.(event.PaneOpened); ok && p.Session != "" {
			names[p.Target] = p.Session
		}
	}
	return names
}

// findTime limits finding the panes or files of an earlier process.
const findTime = 10 * time.Second

// findPanes looks for a pane that an earlier process left on the first target, so that the pane shows before a command
// runs in it. Errors are only logged, because the next command reports them.
func findPanes(targets *target.Set) {
	ctx, cancel := context.WithTimeout(context.Background(), findTime)
	defer cancel()
	if _, err := targets.First().Panes.FindPane(ctx); err != nil {
		slog.Debug("find panes", "error", err)
	}
}

// Tidy removes expired data of old sessions once a day, and publishes a notice.
func (p *Program) Tidy() {
	c, err := p.Store.CollectDaily(time.Now(), outputsMost(p))
	tidied(p, c, err)
}

// diffTime limits comparing files.
const diffTime = time.Minute

// sinceTime limits counting changes, because the user is waiting for a list.
const sinceTime = 10 * time.Second

// Changes returns the diff of the agent's file changes in this session.
func (p *Program) Changes() (diff string, files int, err error) {
	rt := p.Live.runtime()
	if rt == nil {
		return "", 0, errors.New("the session is still loading")
	}
	ctx, cancel := context.WithTimeout(context.Background(), diffTime)
	defer cancel()
	return rt.Changes(ctx, markup.FileMark)
}

// Report calls of(runtime) once the runtime has handled all earlier commands, and returns the result. It waits at most
// sinceTime for the session to be read.
func Report[T any](ctx context.Context, p *Program, of func(*agent.Runtime) T) (T, error) {
	started := make(chan *agent.Runtime, 1)
	p.Live.do(func(rt *agent.Runtime) { started <- rt })
	ctx, cancel := context.WithTimeout(ctx, sinceTime)
	defer cancel()
	select {
	case rt := <-started:
		agent.Settle(ctx, rt)
		return of(rt), nil
	case <-ctx.Done():
		var none T
		return none, errors.New("the session is still loading")
	}
}

// ChangedSince returns the number of files changed since each prompt of this session.
func ChangedSince(p *Program) ([]agent.Change, error) {
	rt := p.Live.runtime()
	if rt == nil {
		return nil, errors.New("the session is still loading")
	}
	ctx, cancel := context.WithTimeout(context.Background(), sinceTime)
	defer cancel()
	return agent.ChangedSince(ctx, rt)
}

// runtime returns the runtime, nil before it has started.
func (l *deferredRuntime) runtime() *agent.Runtime {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rt
}

// Rules returns the rules in force.
func (p *Program) Rules() ([]action.Rule, error) {
	rt := p.Live.runtime()
	if rt == nil {
		return nil, errors.New("the session is still loading")
	}
	return rt.Rules(), nil
}

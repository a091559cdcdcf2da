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

// deferredRuntime is the runtime of a program, which a long session has some time after the first
// frame. Commands and facts wait for it until then. Any goroutine may use it.
type deferredRuntime struct {
	mu    sync.Mutex // guards all below
	rt    *agent.Runtime
	held  []func(*agent.Runtime)
	ended bool
}

// Send hands a command to the runtime and reports whether it is there already.
func (l *deferredRuntime) Send(c event.Command) bool {
	if debuglog.Enabled() {
		slog.Debug("command", "type", fmt.Sprintf("%T", c))
	}
	return l.do(func(rt *agent.Runtime) { rt.Send(c) })
}

// Publish puts a fact of something beside the runtime into its stream.
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

// begin takes a runtime that has started, unless the program ends already.
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

// end returns the runtime, nil if there is none and there will be none.
func (l *deferredRuntime) end() *agent.Runtime {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	return l.rt
}

// abandon lets go of the runtime, which goes on by itself. What is sent and published from here on
// is kept for nobody.
func (l *deferredRuntime) abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rt, l.ended = nil, true
}

var errEnds = errors.New("the program ends")

// Begin makes the runtime and starts it. The events are those from its first on.
func (p *Program) Begin(ctx context.Context) (<-chan event.Envelope, error) {
	ready, err := p.Prepare()
	if err != nil {
		return nil, err
	}
	events := ready.Subscribe(ctx)
	return events, ready.Start()
}

// Prepared is a runtime that has not started: who subscribes to it misses nothing.
type Prepared struct {
	*agent.Runtime
	program *Program
	damage  string // which lines of the session can't be read, "" for none
	panes   bool   // an earlier process has left some on the first target
}

// Prepare makes the runtime. Of a stored session it reads what the runtime needs first, which may
// take a second.
func (p *Program) Prepare() (*Prepared, error) {
	o, ready := p.Options, &Prepared{program: p}
	if file := p.Journal.Stored(); file != nil {
		var err error
		if o.Replay, ready.damage, err = replayOf(file); err != nil {
			return nil, err
		}
		ready.panes = leftPanes(o.Replay)
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

// Start starts the runtime, says what there is to say first, and hands over the commands that
// waited for it. It is called once.
func (r *Prepared) Start() error {
	p := r.program
	if debuglog.Enabled() {
		go debuglog.Follow(r.Subscribe(context.Background())) // ends with the runtime
	}
	r.Runtime.Start()
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
		p.Dest.Away = nil // the next session finds out anew
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

// leftPanes reports whether an earlier process has left panes on the first target.
func leftPanes(events []event.Envelope) bool {
	left := make(map[string]bool)
	for _, env := range events {
		switch p := env.Payload.(type) {
		case event.PaneOpened:
			left[p.Pane] = tools.ParsePane(p.Pane).Target == ""
		case event.PaneClosed:
			delete(left, p.Pane)
		}
	}
	for _, here := range left {
		if here {
			return true
		}
	}
	return false
}

// tmuxNames returns what the tmux sessions of a session were called, by target.
func tmuxNames(events []event.Envelope) map[string]string {
	names := make(map[string]string)
	for _, env := range events {
		if p, ok := env.Payload.(event.PaneOpened); ok && p.Session != "" {
			names[p.Target] = p.Session
		}
	}
	return names
}

// findTime limits how long finding what an earlier process has left may take.
const findTime = 10 * time.Second

// findPanes shows the pane that an earlier process has left before a command runs in it. What can't
// be found stays as it is known: the next command says why.
func findPanes(targets *target.Set) {
	ctx, cancel := context.WithTimeout(context.Background(), findTime)
	defer cancel()
	if _, err := targets.First().Panes.FindPane(ctx); err != nil {
		slog.Debug("find panes", "error", err)
	}
}

// Tidy removes, once a day, what nobody needs any more of old sessions, and says so.
func (p *Program) Tidy() {
	c, err := p.Store.CollectDaily(time.Now(), outputsMost(p))
	tidied(p, c, err)
}

// diffTime limits how long comparing files may take.
const diffTime = time.Minute

// sinceTime limits how long counting changes may take: somebody waits for a list.
const sinceTime = 10 * time.Second

// Changes returns the diff of what the agent changed in files in this session.
func (p *Program) Changes() (diff string, files int, err error) {
	rt := p.Live.runtime()
	if rt == nil {
		return "", 0, errors.New("the session is still being read")
	}
	ctx, cancel := context.WithTimeout(context.Background(), diffTime)
	defer cancel()
	return rt.Changes(ctx, markup.FileMark)
}

// Report returns what of reads from the runtime, once that has handled all commands sent before. It waits while the session is
// still being read.
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
		return none, errors.New("the session is still being read")
	}
}

// ChangedSince returns how many files have changed since prompts of this session.
func ChangedSince(p *Program) ([]agent.Change, error) {
	rt := p.Live.runtime()
	if rt == nil {
		return nil, errors.New("the session is still being read")
	}
	ctx, cancel := context.WithTimeout(context.Background(), sinceTime)
	defer cancel()
	return agent.ChangedSince(ctx, rt)
}

// runtime returns the runtime, nil before there is one.
func (l *deferredRuntime) runtime() *agent.Runtime {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rt
}

// Rules returns the rules that apply now.
func (p *Program) Rules() ([]action.Rule, error) {
	rt := p.Live.runtime()
	if rt == nil {
		return nil, errors.New("the session is still being read")
	}
	return rt.Rules(), nil
}

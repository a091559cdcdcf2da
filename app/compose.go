package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"buddy/agent"
	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/model/demo"
	"buddy/agent/policy"
	"buddy/agent/prompt"
	"buddy/sessions"
	"buddy/tmux"
	"buddy/tools"
)

const (
	demoPace  = 12 * time.Millisecond // between two words of the demo
	closeTime = 10 * time.Second      // that a running command has to end when the program does
)

// program is everything that runs behind a screen or a line, put together.
type program struct {
	rt      *agent.Runtime
	id      string
	store   sessions.Store
	journal *journal
	panes   *tmux.Session
	plain   *tmux.Session
	replay  []event.Envelope // of an earlier process, when the session is resumed
	notices []string         // to be said once the program runs
}

// compose builds the program. resume is "", an id, the beginning of one, or "last".
func compose(f *flags, resume string, mode action.Mode) (*program, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, exit{exitFailed, fmt.Sprintf("working directory: %v", err)}
	}
	p := &program{}
	var notice string
	if p.store, notice, err = sessions.Dir(cwd); err != nil {
		return nil, exit{exitFailed, err.Error()}
	}
	p.note(notice)
	m, err := chooseModel(f)
	if err != nil {
		return nil, err
	}
	if err := p.openSession(resume, cwd, m.Info()); err != nil {
		return nil, err
	}
	if err := p.openPanes(f, cwd); err != nil {
		return nil, err
	}
	registry := tools.NewRegistry(tools.NewRunShell(p.panes, p.plain, "local", func(text string) {
		p.rt.Publish(event.Warning{Text: text, Code: "no_tmux", NextStep: "install tmux 3.2 or newer to watch them and type into them"})
	}))
	system, err := prompt.System(prompt.Facts{OS: runtime.GOOS, Shell: "bash", Cwd: cwd, Target: "local", Tools: names(registry)})
	if err != nil {
		return nil, exit{exitFailed, err.Error()}
	}
	workspace, err := filepath.EvalSymlinks(cwd)
	if err != nil {
		return nil, exit{exitFailed, fmt.Sprintf("working directory: %v", err)}
	}
	p.rt = agent.New(agent.Options{
		Session: p.id, Version: Version, Cwd: cwd, Target: "local", Model: m, Tools: registry, System: system,
		MaxTurns: 20, Mode: mode, Policy: policy.Policy{Workspace: workspace},
		Journal: p.journal, Panes: p.panes, OutDir: p.store.OutDir(p.id), Replay: p.replay,
	})
	return p, nil
}

func (p *program) note(text string) {
	if text != "" {
		p.notices = append(p.notices, text)
	}
}

func names(r *tools.Registry) []string {
	var all []string
	for _, d := range r.Definitions() {
		all = append(all, d.Name)
	}
	return all
}

// chooseModel returns the model to talk to.
func chooseModel(f *flags) (model.Model, error) {
	if f.model != "" && f.model != "demo" {
		return nil, usage("unknown model %q (have: demo)", f.model)
	}
	return demo.New(demoPace), nil
}

// openSession makes a new session or opens the one to go on with.
func (p *program) openSession(resume, cwd string, m model.Info) error {
	header := sessions.Header{Cwd: cwd, Target: "local", Model: m.Model}
	if resume == "" {
		p.id = sessions.NewID()
		header.ID = p.id
		p.journal = &journal{create: func() (*sessions.Journal, error) { return p.store.Create(header) }}
		return nil
	}
	id, err := p.find(resume)
	if err != nil {
		return exit{exitFailed, err.Error()}
	}
	j, err := p.store.Open(id)
	if err != nil {
		return exit{exitFailed, err.Error()}
	}
	part, err := j.Load()
	if err != nil {
		_ = j.Close()
		return exit{exitFailed, err.Error()}
	}
	for _, w := range append(j.Info().Warnings, part.Warnings...) {
		p.note(w)
	}
	p.id, p.replay = id, part.Events
	p.journal = &journal{file: j}
	return nil
}

func (p *program) find(resume string) (string, error) {
	if resume != "last" {
		return p.store.Find(resume)
	}
	last, err := p.store.Last()
	return last.ID, err
}

func (p *program) openPanes(f *flags, cwd string) error {
	exe, err := os.Executable()
	if err != nil {
		return exit{exitFailed, fmt.Sprintf("own program file: %v", err)}
	}
	name := p.id
	if f.tmux != "" {
		name = f.tmux
	}
	o := tmux.Options{
		Socket: os.Getenv("BUDDY_TMUX_SOCKET"), Session: name, Exe: exe, Env: os.Environ(), Cwd: cwd,
		OnPane:   func(e tmux.PaneEvent) { p.rt.Publish(paneEvent(e)) },
		OnScreen: func(s tmux.Screen) { p.rt.Publish(paneScreen(s)) },
	}
	p.panes, p.plain = tmux.New(o), tmux.NewPlain(o)
	return nil
}

func paneEvent(e tmux.PaneEvent) event.Event {
	switch e.Kind {
	case tmux.Opened:
		return event.PaneOpened{Pane: e.Pane, Title: e.Title, Target: "local", Attach: e.Attach}
	case tmux.Lost:
		return event.PaneLost{Pane: e.Pane, Why: e.Why}
	default:
		return event.PaneClosed{Pane: e.Pane}
	}
}

func paneScreen(s tmux.Screen) event.Event {
	return event.PaneScreen{
		Pane: s.Pane, W: s.W, H: s.H, Rows: s.Rows,
		Cursor: event.Cursor{X: s.CursorX, Y: s.CursorY, Visible: s.CursorVisible},
	}
}

// start begins the session. Who wants its first events subscribes before.
func (p *program) start() {
	p.rt.Start()
	for _, n := range p.notices {
		p.rt.Publish(event.Notice{Text: n})
	}
}

// close ends everything, says what stays behind, and how to get to it.
func (p *program) close(stderr io.Writer) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	say := func(err error) {
		if err != nil {
			_, _ = fmt.Fprintln(stderr, "buddy: "+plain(err.Error()))
		}
	}
	say(p.rt.Close(ctx))
	for _, s := range []*tmux.Session{p.panes, p.plain} {
		left, err := s.Close(ctx)
		say(err)
		for _, name := range left {
			_, _ = fmt.Fprintf(stderr, "buddy: a command still runs in the tmux session %s; see it with: %s\n", name, s.AttachLine())
		}
	}
	say(p.journal.close())
}

// journal is a session file that appears with the first prompt (DECISIONS 13): what
// comes before is kept until then.
type journal struct {
	create func() (*sessions.Journal, error) // nil when the file is there already

	mu   sync.Mutex // guards what follows
	file *sessions.Journal
	held []event.Envelope
}

// Append stores env.
func (j *journal) Append(env event.Envelope) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file != nil {
		return j.file.Append(env)
	}
	j.held = append(j.held, env)
	if _, ok := env.Payload.(event.PromptSubmitted); !ok {
		return nil
	}
	file, err := j.create()
	if err != nil {
		return err
	}
	j.file = file
	for _, h := range j.held {
		if err := file.Append(h); err != nil {
			return err
		}
	}
	j.held = nil
	return nil
}

// Range calls f for what is stored after a number.
func (j *journal) Range(after uint64, f func(event.Envelope) bool) error {
	j.mu.Lock()
	file, held := j.file, j.held
	j.mu.Unlock()
	if file != nil {
		return file.Range(after, f)
	}
	for _, env := range held {
		if env.Seq > after && !f(env) {
			break
		}
	}
	return nil
}

// exists says that the session has a file.
func (j *journal) exists() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.file != nil
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}

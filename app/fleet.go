package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"buddy/agent"
	"buddy/agent/policy"
	"buddy/tmux"
	"buddy/tmux/pane"
	"buddy/tmux/pane/confine"
	"buddy/tools"
)

// place is a target with what a session has there: its panes and its files.
type place struct {
	target   *target
	at       surroundings
	panes    *tmux.Session
	plain    *tmux.Session // for commands where there is no tmux
	box      *pane.Sandbox // of the commands in panes; nil: none
	confined bool          // free commands run in the read-only sandbox
	shell    *tools.RunShell
	files    *tools.Workspace
	site     *tools.Site
	links    links
}

// close ends what the session has there and says what stays behind.
func (p *place) close(ctx context.Context, say func(format string, args ...any)) {
	for _, s := range []*tmux.Session{p.panes, p.plain} {
		left, err := s.Close(ctx)
		if err != nil {
			say("%v", err)
		}
		for _, name := range left {
			if p.target.host != nil {
				name += " on " + p.target.name
			}
			say("a command still runs in the tmux session %s; see it with: %s", name, s.AttachLine())
			say("or end it with: %s", s.RemoveLine())
		}
	}
}

// fleet is where the tools of a session may work: the place where it began, and others
// that are made when a call names them first. Any goroutine may use it.
type fleet struct {
	first  *place
	others []*target
	make   func(*target) (*place, error) // reaches for it

	mu      sync.Mutex // guards what follows
	opening map[string]*sync.Mutex
	open    map[string]*place // the first, too
	failed  map[string]error  // why the last attempt to open one did not succeed
	current string
	closed  bool
}

func newFleet(first *place, others []*target, make func(*target) (*place, error)) *fleet {
	name := first.target.name
	return &fleet{
		first: first, others: others, make: make, current: name,
		open: map[string]*place{name: first}, opening: map[string]*sync.Mutex{}, failed: map[string]error{},
	}
}

// targets are all of them, the first first.
func (f *fleet) targets() []*target { return append([]*target{f.first.target}, f.others...) }

func (f *fleet) target(name string) *target {
	all := f.targets()
	if i := slices.IndexFunc(all, func(t *target) bool { return t.name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// Names are those that calls may name.
func (f *fleet) Names() []string {
	var names []string
	for _, t := range f.targets() {
		names = append(names, t.name)
	}
	return names
}

// Current is the one for calls that name none.
func (f *fleet) Current() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.current
}

// Switch makes another current.
func (f *fleet) Switch(name string) (cwd string, ok bool) {
	t := f.target(name)
	if t == nil {
		return "", false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.current = name
	if p := f.open[name]; p != nil {
		return p.at.dir, true
	}
	return t.setting.Cwd, true
}

// place returns what there is of a target already, or nil.
func (f *fleet) place(name string) *place {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open[name]
}

// failure says why a target that was tried is not open; nil, if it was not tried.
func (f *fleet) failure(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed[name]
}

// places are those that were used.
func (f *fleet) places() []*place {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []*place
	for _, t := range f.targets() {
		if p := f.open[t.name]; p != nil {
			all = append(all, p)
		}
	}
	return all
}

var errFleetClosed = errors.New("the session ends")

// Open returns the tools of a target, which is reached for with its first use.
func (f *fleet) Open(_ context.Context, name string) (*tools.Site, error) {
	t := f.target(name)
	if t == nil {
		return nil, fmt.Errorf("unknown target %q (have: %s)", name, strings.Join(f.Names(), ", "))
	}
	f.mu.Lock()
	one := f.opening[name]
	if one == nil {
		one = &sync.Mutex{}
		f.opening[name] = one
	}
	f.mu.Unlock()
	one.Lock() // of this target only: others do not wait for one that is down
	defer one.Unlock()
	if p := f.place(name); p != nil {
		return p.site, nil
	}
	p, err := f.make(t)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed[name] = err; err != nil {
		return nil, err
	}
	if f.closed {
		return nil, errFleetClosed // nothing has started there
	}
	f.open[name] = p
	return p.site, nil
}

// filesOn returns the files of a target, which is reached for if need be.
func (f *fleet) filesOn(ctx context.Context, name string) (agent.Files, error) {
	if _, err := f.Open(ctx, name); err != nil {
		return nil, err
	}
	return f.place(name).files, nil
}

// changedFiles tells the model which files somebody else changed, on all targets.
func (f *fleet) changedFiles(ctx context.Context) string {
	var notes []string
	for _, p := range f.places() {
		note := p.files.ChangedNote(ctx)
		if note != "" && p != f.first {
			note = "On " + p.target.name + ": " + note
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	return strings.Join(notes, "\n")
}

// screens tells it what panes show, on all targets.
func (f *fleet) screens(ctx context.Context) string { return f.first.shell.Screens(ctx) }

// at is what the policy goes by on a target.
func (f *fleet) at(name string) policy.Place {
	t, p := f.target(name), f.place(name)
	switch {
	case t == nil:
		return policy.Place{}
	case p == nil:
		return policy.Place{Guarded: t.setting.Production}
	}
	at := t.rules(p.at, p.files.Root(), p.confined, p.links.follow(p.files.Follow))
	at.Boxed = p.box != nil
	if p.confined {
		at.Git = func(ctx context.Context, dir string, args ...string) ([]byte, error) {
			return gitAnswer(ctx, p.plain, dir, args...)
		}
	}
	return at
}

// rules are what the policy goes by on a target, for a folder to work in. confined says that
// free commands run in the read-only sandbox there; follow asks the target where the links of a
// path lead.
func (t *target) rules(at surroundings, root string, confined bool, follow func(path string) string) policy.Place {
	place := policy.Place{Workspace: root, Also: at.also, Home: at.home, Guarded: t.setting.Production, Confined: confined, Resolve: follow}
	if t.host == nil {
		place.Resolve, place.Match = resolve, oddMatches
	}
	return place
}

// options are those of tmux by which free commands are confined on a target: the folders that
// they may read, the environment of the first, and the variables that none gets.
func (t *target) options(at surroundings, env, withheld []string) tmux.Options {
	return tmux.Options{Host: t.host, Env: env, Reach: confine.Reach{Read: append([]string{at.dir}, at.also...), Withheld: withheld}}
}

// paneOf returns the place of a pane and tmux's id of it.
func (f *fleet) paneOf(name string) (*place, string) {
	target, id := tools.PaneOf(name)
	if target == "" {
		return f.first, id
	}
	return f.place(target), id
}

// prefix is the target in the names of a place's panes.
func (f *fleet) prefix(t *target) string {
	if f == nil || t == f.first.target {
		return ""
	}
	return t.name
}

// Watch says of which panes pictures are wanted.
func (f *fleet) Watch(names []string) {
	wanted := make(map[*place][]string)
	for _, name := range names {
		if p, id := f.paneOf(name); p != nil {
			wanted[p] = append(wanted[p], id)
		}
	}
	for _, p := range f.places() {
		p.panes.Watch(wanted[p])
	}
}

// Type gives bytes to what runs in a pane.
func (f *fleet) Type(ctx context.Context, pane string, b []byte) error {
	p, id := f.paneOf(pane)
	if p == nil {
		return fmt.Errorf("%w: %q", tmux.ErrNoPane, pane)
	}
	return p.panes.Type(ctx, id, b)
}

// Kill closes a pane and ends what runs in it.
func (f *fleet) Kill(ctx context.Context, pane string) error {
	p, id := f.paneOf(pane)
	if p == nil {
		return fmt.Errorf("%w: %q", tmux.ErrNoPane, pane)
	}
	return p.panes.Kill(ctx, id)
}

// Paste gives text to what runs in a pane, as a terminal pastes.
func (f *fleet) Paste(ctx context.Context, pane, text string) error {
	p, id := f.paneOf(pane)
	if p == nil {
		return fmt.Errorf("%w: %q", tmux.ErrNoPane, pane)
	}
	return p.panes.Paste(ctx, id, text)
}

// Fit gives a pane a size, unless a person is attached to it.
func (f *fleet) Fit(ctx context.Context, pane string, w, h int) (bool, error) {
	p, id := f.paneOf(pane)
	if p == nil {
		return false, fmt.Errorf("%w: %q", tmux.ErrNoPane, pane)
	}
	return p.panes.Fit(ctx, id, w, h)
}

// History returns what a pane has shown.
func (f *fleet) History(ctx context.Context, pane string) ([]string, error) {
	p, id := f.paneOf(pane)
	if p == nil {
		return nil, fmt.Errorf("%w: %q", tmux.ErrNoPane, pane)
	}
	return p.panes.History(ctx, id)
}

// killPanes ends what runs in panes of its own, on all targets.
func (f *fleet) killPanes() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	var errs []error
	for _, p := range f.places() {
		all, err := p.panes.Panes(ctx)
		errs = append(errs, err)
		for _, q := range all {
			if !q.Shared {
				errs = append(errs, p.panes.Kill(ctx, q.ID))
			}
		}
	}
	return errors.Join(errs...)
}

// close ends everything on all targets at once and says what stays behind.
func (f *fleet) close(ctx context.Context, out io.Writer) {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	var lines sync.Mutex
	var all sync.WaitGroup
	for _, p := range f.places() {
		all.Go(func() {
			p.close(ctx, func(format string, args ...any) {
				lines.Lock()
				defer lines.Unlock()
				_, _ = fmt.Fprintln(out, "buddy: "+plain(fmt.Sprintf(format, args...)))
			})
		})
	}
	all.Wait()
}

package target

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"buddy/agent/policy"
	"buddy/tmux"
	"buddy/tools"
)

// Set holds the targets that calls of a session may name: the one where the session began, and
// others that are opened when a call names them first. Any goroutine may use it.
type Set struct {
	first *Session
	all   []*Target // that of first comes first
	open  func(*Target) (*Session, error)

	mu      sync.Mutex // guards what follows
	opening map[string]*sync.Mutex
	opened  map[string]*Session // first, too
	failed  map[string]error    // why the last attempt to open one did not succeed
	current string
	closed  bool
}

// NewSet returns the set of the target of first, which is current, and others. open reaches for
// one of the others; an error says why that is not possible now, and the next call tries again.
func NewSet(first *Session, others []*Target, open func(*Target) (*Session, error)) *Set {
	return &Set{
		first: first, all: append([]*Target{first.Target}, others...), open: open, current: first.Name,
		opened: map[string]*Session{first.Name: first}, opening: map[string]*sync.Mutex{}, failed: map[string]error{},
	}
}

// First returns the session on the target where the session began.
func (s *Set) First() *Session { return s.first }

// Targets returns all targets, the first first.
func (s *Set) Targets() []*Target { return s.all }

// Target returns the target with a name, nil if there is none.
func (s *Set) Target(name string) *Target {
	if i := slices.IndexFunc(s.all, func(t *Target) bool { return t.Name == name }); i >= 0 {
		return s.all[i]
	}
	return nil
}

// Names returns the names of all targets. They stay as they are.
func (s *Set) Names() []string {
	var names []string
	for _, t := range s.all {
		names = append(names, t.Name)
	}
	return names
}

// Current returns the name of the target for calls that name none.
func (s *Set) Current() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// Switch makes another target current. It returns the folder in which commands begin there, ""
// when that is not known yet; false says that there is no such target. It reaches for nothing.
func (s *Set) Switch(name string) (cwd string, ok bool) {
	t := s.Target(name)
	if t == nil {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = name
	if one := s.opened[name]; one != nil {
		return one.Env.Dir, true
	}
	return t.Cwd, true
}

// Session returns what there is of a target already, or nil.
func (s *Set) Session(name string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened[name]
}

// Failure returns why the last attempt to open a target failed, nil if it was not tried.
func (s *Set) Failure(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed[name]
}

// Sessions returns those of the targets that were used.
func (s *Set) Sessions() []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*Session
	for _, t := range s.all {
		if one := s.opened[t.Name]; one != nil {
			all = append(all, one)
		}
	}
	return all
}

var errClosed = errors.New("the session ends")

// Open returns the session on a target, which is reached for with its first use.
func (s *Set) Open(name string) (*Session, error) {
	t := s.Target(name)
	if t == nil {
		return nil, fmt.Errorf("unknown target %q (have: %s)", name, strings.Join(s.Names(), ", "))
	}
	s.mu.Lock()
	turn := s.opening[name]
	if turn == nil {
		turn = &sync.Mutex{}
		s.opening[name] = turn
	}
	s.mu.Unlock()
	turn.Lock() // of this target only: others do not wait for one that is down
	defer turn.Unlock()
	if one := s.Session(name); one != nil {
		return one, nil
	}
	one, err := s.open(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed[name] = err; err != nil {
		return nil, err
	}
	if s.closed {
		return nil, errClosed // nothing has started there
	}
	one.Shell.Beside(s.first.Shell)
	s.opened[name] = one
	return one, nil
}

// Facts returns what the policy goes by on a target.
func (s *Set) Facts(name string) policy.Target {
	t, one := s.Target(name), s.Session(name)
	switch {
	case t == nil:
		return policy.Target{}
	case one == nil:
		return policy.Target{Guarded: t.Production}
	}
	return one.Facts()
}

// ChangedFiles tells the model which files somebody else changed, on all targets; "" for none.
func (s *Set) ChangedFiles(ctx context.Context) string {
	var notes []string
	for _, one := range s.Sessions() {
		note := one.Files.ChangedNote(ctx)
		if note != "" && one != s.first {
			note = "On " + one.Name + ": " + note
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	return strings.Join(notes, "\n")
}

// Prefix returns the target in the names of a target's panes, "" for the first.
func (s *Set) Prefix(t *Target) string {
	if t == s.all[0] {
		return ""
	}
	return t.Name
}

// pane returns the session of a pane and tmux's id of it; nil when its target was not used.
func (s *Set) pane(name string) (*Session, string) {
	ref := tools.ParsePane(name)
	if ref.Target == "" {
		return s.first, ref.ID
	}
	return s.Session(ref.Target), ref.ID
}

// Pane returns where a managed pane is and tmux's id of it. The error is a [tmux.ErrNoPane].
func (s *Set) Pane(name string) (*tmux.Session, string, error) {
	one, id := s.pane(name)
	if one == nil {
		return nil, "", fmt.Errorf("%w: %q", tmux.ErrNoPane, name)
	}
	return one.Panes, id, nil
}

// Watch says of which panes pictures are wanted.
func (s *Set) Watch(names []string) {
	wanted := make(map[*Session][]string)
	for _, name := range names {
		if one, id := s.pane(name); one != nil {
			wanted[one] = append(wanted[one], id)
		}
	}
	for _, one := range s.Sessions() {
		one.Panes.Watch(wanted[one])
	}
}

// KillPanes ends what runs in panes of its own, on all targets.
func (s *Set) KillPanes(ctx context.Context) error {
	var errs []error
	for _, one := range s.Sessions() {
		all, err := one.Panes.Panes(ctx)
		errs = append(errs, err)
		for _, p := range all {
			if !p.Shared {
				errs = append(errs, one.Panes.Kill(ctx, p.ID))
			}
		}
	}
	return errors.Join(errs...)
}

// Close ends everything on all targets at once. say is told what stays behind, by one goroutine
// at a time.
func (s *Set) Close(ctx context.Context, say func(text string)) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	var saying sync.Mutex
	var all sync.WaitGroup
	for _, one := range s.Sessions() {
		all.Go(func() {
			one.Close(ctx, func(format string, args ...any) {
				saying.Lock()
				defer saying.Unlock()
				say(fmt.Sprintf(format, args...))
			})
		})
	}
	all.Wait()
}

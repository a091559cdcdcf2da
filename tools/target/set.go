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
	"buddy/tools/file"
)

// Set holds the targets that calls of a session may name: the first one, where the session started, and others, which
// are opened when a call first names them. It is safe for concurrent use.
type Set struct {
	first   *Session
	all     []*Target                // beginning with the target of first
	readers map[string]*file.Readers // by target, opened or not
	open    func(context.Context, *Target) (*Session, error)

	mu      sync.Mutex               // guards the fields below, up to closed
	opening map[string]chan struct{} // holds a token while a target is opened
	opened  map[string]*Session      // includes first
	failed  map[string]error         // why the last attempt to open a target failed
	current string
	closed  bool
	joined  []*Session // worktrees of subagents, which calls can't name

	changes changeLog
}

// NewSet returns the set of the target of first, which is current, and others. open connects to one of the others;
// after an error the next call tries again.
func NewSet(first *Session, others []*Target, open func(context.Context, *Target) (*Session, error)) *Set {
	return &Set{
		first: first, all: append([]*Target{first.Target}, others...), readers: newReaders(first, others), open: open, current: first.Name,
		opened: map[string]*Session{first.Name: first}, opening: map[string]chan struct{}{}, failed: map[string]error{},
	}
}

// First returns the session on the target where buddy's session started.
func (s *Set) First() *Session { return s.first }

// Targets returns all targets, beginning with the first.
func (s *Set) Targets() []*Target { return s.all }

// Target returns the target with a name, nil if there is none.
func (s *Set) Target(name string) *Target {
	if i := slices.IndexFunc(s.all, func(t *Target) bool { return t.Name == name }); i >= 0 {
		return s.all[i]
	}
	return nil
}

// Names returns the names of all targets, which never change.
func (s *Set) Names() []string {
	var names []string
	for _, t := range s.all {
		names = append(names, t.Name)
	}
	return names
}

// Current returns the target of calls that name none.
func (s *Set) Current() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// Switch makes another target current, without connecting to it. It returns the folder in
// which commands start there, "" while unknown; ok is false for an unknown target.
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

// Session returns the open session on a target, or nil.
func (s *Set) Session(name string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened[name]
}

// Failure returns the error of the last attempt to open a target; nil if it succeeded or there was none.
func (s *Set) Failure(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed[name]
}

// Sessions returns the sessions on targets that were opened.
func (s *Set) Sessions() []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*Session
	for _, t := range s.all {
		if one := s.opened[t.Name]; one != nil {
			all = append(all, one)
		}
	}
	return append(all, s.joined...)
}

// Join adds an open session on this machine that works in another folder. Calls can't name it; only the session's own
// tools use it. Join fails if the set is closed.
func (s *Set) Join(one *Session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	one.Shell.ShareTasks(s.first.Shell)
	s.opened[one.Name] = one
	s.joined = append(s.joined, one)
	return nil
}

var errClosed = errors.New("the session ends")

// Open returns the session on a target. The first call for a target connects to it, until ctx ends.
func (s *Set) Open(ctx context.Context, name string) (*Session, error) {
	t := s.Target(name)
	if t == nil {
		if one := s.Session(name); one != nil {
			return one, nil
		}
		return nil, fmt.Errorf("unknown target %q (have: %s)", name, strings.Join(s.Names(), ", "))
	}
	s.mu.Lock()
	turn := s.opening[name]
	if turn == nil {
		turn = make(chan struct{}, 1)
		s.opening[name] = turn
	}
	s.mu.Unlock()
	select {
	case turn <- struct{}{}: // one at a time per target, so that an unreachable target does not block others
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-turn }()
	if one := s.Session(name); one != nil {
		return one, nil
	}
	one, err := s.open(ctx, t)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed[name] = err; err != nil {
		return nil, err
	}
	if s.closed {
		return nil, errClosed // nothing was started there
	}
	one.Shell.ShareTasks(s.first.Shell)
	file.UseReaders(one.Files, s.readers[name])
	s.opened[name] = one
	return one, nil
}

// Facts returns the facts about a target that the policy needs.
func (s *Set) Facts(name string) policy.Target {
	t, one := s.Target(name), s.Session(name)
	switch {
	case t == nil && one == nil:
		return policy.Target{}
	case one == nil:
		return policy.Target{Guarded: t.Production}
	}
	return one.Facts()
}

// Prefix returns the target's name as it occurs in the names of its panes: "" for the first target.
func (s *Set) Prefix(t *Target) string {
	if t == s.all[0] {
		return ""
	}
	return t.Name
}

// pane returns the session that a pane belongs to, nil if its target is not open, and tmux's id of the pane.
func (s *Set) pane(name string) (*Session, string) {
	ref := tools.ParsePane(name)
	if ref.Target == "" {
		return s.first, ref.ID
	}
	return s.Session(ref.Target), ref.ID
}

// Pane returns the tmux session and tmux's id of a managed pane. The error is a
// [tmux.ErrNoPane].
func (s *Set) Pane(name string) (*tmux.Session, string, error) {
	one, id := s.pane(name)
	if one == nil {
		return nil, "", fmt.Errorf("%w: %q", tmux.ErrNoPane, name)
	}
	return one.Panes, id, nil
}

// Watch selects the panes whose screen contents are reported.
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

// KillPanes closes all panes except the shared ones, on all targets, and ends their commands.
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

// Close ends everything on all targets at once. It calls report with a line about each command that keeps running, one
// call at a time.
func (s *Set) Close(ctx context.Context, report func(text string)) {
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
				report(fmt.Sprintf(format, args...))
			})
		})
	}
	all.Wait()
}

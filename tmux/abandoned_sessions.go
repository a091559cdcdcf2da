package tmux

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrNoSession means that the named tmux session is not abandoned: it does not exist, is in use, or buddy did not
// create it. The message lists the abandoned sessions.
var ErrNoSession = errors.New("no such abandoned session")

// Open creates the session and its shared pane if they are missing, without waiting for the first command to do so. It
// reports whether it created them.
func (s *Session) Open(ctx context.Context) (Pane, bool, error) {
	at, ok := s.runner.(*managedPane)
	if !ok {
		return Pane{}, false, fmt.Errorf("%w: commands run without panes here", ErrUnavailable)
	}
	was := at.sup.linked()
	s.srv.making.Lock()
	err := at.ensure(ctx)
	s.srv.making.Unlock()
	if err != nil {
		return Pane{}, false, err
	}
	_, p, err := s.find(ctx, "")
	return p, !was && err == nil, err
}

// AbandonedSessions returns the names of the tmux sessions that buddy created and to which no client is attached.
// Commands of an earlier process may still run in them.
func (s *Session) AbandonedSessions(ctx context.Context) ([]string, error) {
	if s.srv == nil {
		return nil, fmt.Errorf("%w: commands run without panes here", ErrUnavailable)
	}
	ctl, err := s.srv.connect(ctx)
	if err != nil {
		return nil, err
	}
	return s.srv.abandonedSessions(ctx, ctl)
}

func (s *server) abandonedSessions(ctx context.Context, ctl *control) ([]string, error) {
	lines, err := ctl.do(ctx, `list-sessions -F "#{@buddy_managed} #{@buddy_owner} #{session_attached} #{session_name}"`)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, l := range lines {
		if name, ok := strings.CutPrefix(l, "1 "+owner+" 0 "); ok && name != s.opt.tmuxName() {
			names = append(names, name)
		}
	}
	return names, nil
}

// KillSession closes the named abandoned session and ends the programs in it. It refuses to close this process's own
// session.
func (s *Session) KillSession(ctx context.Context, name string) error {
	if name == "" || name == "default" || name == s.Name() {
		return fmt.Errorf("session %q belongs to this program and cannot be closed", s.Name())
	}
	names, err := s.AbandonedSessions(ctx)
	switch {
	case err != nil:
		return err
	case !slices.Contains(names, name):
		return fmt.Errorf("%w: %q (have: %s)", ErrNoSession, name, strings.Join(names, ", "))
	}
	defer s.srv.sup.lockServer(ctx)()
	if out, err := s.srv.sup.tmux(ctx, "kill-session", "-t", "="+name); err != nil {
		return fmt.Errorf("kill-session %s: %s", name, reason(out, err))
	}
	return nil
}

package tmux

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"buddy/tmux/pane"
)

// managedPane is a supervisor in a pane of our session: the shared pane, or the pane of one command.
type managedPane struct {
	srv   *server
	sup   supervisor
	base  *managedPane // the shared pane, whose shell state it copies at the start; nil for the shared one
	role  string       // mark of the pane, unique within the session
	title string

	mu      sync.Mutex // guards the fields below
	id      string     // of the pane
	pid     int        // of the supervisor
	renewed bool       // the supervisor was replaced, and no command has reported this yet
	closing bool       // its end is expected
	gone    bool       // the pane was closed
}

func (s *managedPane) pane() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

func (s *managedPane) run(ctx context.Context, dir string, mode Mode, within pane.Sandboxed) (job, error) {
	return runOn(ctx, s.sup, func() error {
		s.srv.making.Lock()
		defer s.srv.making.Unlock()
		return s.ensure(ctx)
	}, dir, mode, within)
}

// runOn starts a command under a supervisor, after ensure has started the supervisor if necessary.
func runOn(ctx context.Context, sup supervisor, ensure func() error, dir string, mode Mode, within pane.Sandboxed) (job, error) {
	if sup.linked() {
		j, err := sup.run(ctx, dir, mode, within)
		if !errors.Is(err, errGone) || errors.Is(err, ErrUnconfirmed) {
			return j, err
		}
	}
	if err := ensure(); err != nil {
		return nil, err
	}
	return sup.run(ctx, dir, mode, within)
}

func (s *managedPane) attach(ctx context.Context, dir string) (job, error) {
	s.srv.making.Lock()
	err := s.greet(ctx)
	s.srv.making.Unlock()
	if err != nil {
		return nil, err
	}
	return s.sup.attach(ctx, dir)
}

// ensure creates the session, the pane and the supervisor, if missing. The caller holds the mutex making.
func (s *managedPane) ensure(ctx context.Context) error {
	err := s.greet(ctx)
	if !errors.Is(err, errGone) {
		return err
	}
	err = s.open(ctx)
	if errors.Is(err, errEnded) { // the server has ended, and our client has just noticed it
		err = s.open(ctx)
	}
	if err != nil {
		return err
	}
	if err := s.await(ctx); err != nil {
		return fmt.Errorf("%w: the supervisor does not answer: %w", ErrUnavailable, err)
	}
	return nil
}

// open creates the pane with the supervisor. The caller holds the mutex making.
func (s *managedPane) open(ctx context.Context) error {
	if s.base == nil {
		created, err := s.srv.ensureSession(ctx)
		if created || err != nil {
			return err
		}
		return s.ensurePane(ctx)
	}
	if err := s.base.ensure(ctx); err != nil {
		return err
	}
	if _, err := s.srv.ensureSession(ctx); err != nil { // the control client may have ended
		return err
	}
	if err := s.sup.inherit(ctx, s.base.sup.directory()); err != nil {
		return fmt.Errorf("the new pane can't get the shell's folder and variables: %w", err)
	}
	return s.ensurePane(ctx)
}

// await connects to a supervisor that is starting, which takes some milliseconds.
func (s *managedPane) await(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, startLimit)
	defer stop()
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		err := s.greet(ctx)
		if !errors.Is(err, errGone) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// greet connects to the supervisor if one runs. The caller holds the mutex making.
func (s *managedPane) greet(ctx context.Context) error {
	if err := s.sup.prepare(ctx); err != nil {
		return err
	}
	info, fresh, err := s.sup.greet(ctx, s.lost)
	if err != nil || !fresh {
		return err
	}
	s.mu.Lock()
	s.renewed = s.renewed || s.pid != 0 && s.pid != info.Pid
	s.id, s.pid = info.Pane, info.Pid
	s.mu.Unlock()
	if !s.srv.wasSeen() && s.srv.live() == nil { // an earlier process has created the session
		s.srv.findName(ctx)
	}
	s.srv.markSeen()
	s.srv.notify(PaneEvent{Kind: Opened, Pane: info.Pane, Title: s.title, Attach: s.sup.attachLine(), Name: s.srv.opt.tmuxName()})
	s.srv.changed()
	return nil
}

// found connects to the supervisor again after the connection to the target was lost.
func (s *managedPane) found() {
	s.srv.making.Lock()
	defer s.srv.making.Unlock()
	ctx, stop := context.WithTimeout(context.Background(), askLimit)
	defer stop()
	_ = s.greet(ctx) // if the supervisor has ended meanwhile, the next command starts another one
}

// lost handles the end of the supervisor.
func (s *managedPane) lost(why string) {
	s.mu.Lock()
	closing, id := s.closing, s.id
	s.mu.Unlock()
	if !closing {
		s.srv.notify(PaneEvent{Kind: Lost, Pane: id, Why: why})
	}
}

// consumeRenewed reports, once, whether the pane was created again because the previous one was lost.
func (s *managedPane) consumeRenewed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	renewed := s.renewed
	s.renewed = false
	return renewed
}

// startLine returns the supervisor's command line in tmux's syntax.
func (s *managedPane) startLine() string {
	var words []string
	for _, a := range s.sup.argv() {
		words = append(words, quote(a))
	}
	return strings.Join(words, " ")
}

// ensurePane starts the supervisor in its old pane or, if that is gone, in a new one.
func (s *managedPane) ensurePane(ctx context.Context) error {
	ctl := s.srv.live()
	if ctl == nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, errEnded)
	}
	target := quote(s.srv.opt.target())
	panes, err := ctl.do(ctx, "list-panes -s -t "+target+` -F "#{@buddy_owner} #{@buddy_role} #{pane_id}"`)
	if err != nil {
		return fmt.Errorf("%w: list-panes: %w", ErrUnavailable, err)
	}
	for _, p := range panes {
		if id, ok := strings.CutPrefix(p, owner+" "+s.role+" "); ok {
			return s.respawnIn(ctx, ctl, id)
		}
	}
	name, stay := windowName, "on"
	if s.base != nil {
		name, stay = s.title, "off" // nobody needs the pane after its command
	}
	made, err := ctl.do(ctx, "new-window -d -P -F '#{pane_id}' -c / -n "+quote(name)+" -t "+target+" "+s.startLine())
	if err != nil || len(made) != 1 {
		return fmt.Errorf("%w: new-window: %w", ErrUnavailable, err)
	}
	id := made[0]
	for _, c := range []string{
		"set-option -p -t " + id + " @buddy_managed 1", "set-option -p -t " + id + " @buddy_owner " + owner,
		"set-option -p -t " + id + " @buddy_role " + s.role, "set-option -w -t " + id + " remain-on-exit " + stay,
		"select-pane -t " + id + " -T " + quote(s.title),
	} {
		if _, err := ctl.do(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (s *managedPane) respawn(ctx context.Context) error {
	ctl, err := s.srv.connect(ctx)
	if err != nil {
		return err
	}
	return s.respawnIn(ctx, ctl, s.pane())
}

// respawnIn restarts the supervisor in a pane. It drops the control client, because a client that is attached during a
// respawn sometimes misses the pane's next output (seen with tmux 3.3a, about once in 20 times).
func (s *managedPane) respawnIn(ctx context.Context, ctl *control, id string) error {
	_, err := ctl.do(ctx, "respawn-pane -k -c / -t "+id+" "+s.startLine())
	s.srv.detach(ctl)
	return err
}

// close ends the supervisor and its pane. If a program still runs in the pane, close keeps the pane, and returns the
// name of the tmux session in kept.
func (s *managedPane) close(ctx context.Context) (kept []string, err error) {
	s.srv.making.Lock()
	defer s.srv.making.Unlock()
	s.mu.Lock()
	used, gone := s.id != "", s.gone
	s.mu.Unlock()
	if gone {
		return nil, nil
	}
	// An earlier process may have started a supervisor even if this one has not.
	if !s.sup.begun() {
		return nil, nil
	}
	busy, id, err := s.sup.busy(ctx)
	switch {
	case busy:
		_ = s.sup.leave(ctx) // otherwise the session stays until somebody removes it
		return []string{s.srv.opt.tmuxName()}, nil
	case err != nil && !errors.Is(err, errGone):
		return nil, err
	case id != "":
		s.mu.Lock()
		s.id = id
		s.mu.Unlock()
	case !used:
		return nil, s.sup.remove(ctx) // nothing was ever started
	}
	return nil, s.end(ctx)
}

// end closes the pane and ends its programs. The caller holds the mutex making.
func (s *managedPane) end(ctx context.Context) error {
	s.mu.Lock()
	s.closing, s.gone = true, true
	id := s.id
	s.mu.Unlock()
	s.sup.drop()
	if err := s.killPane(ctx, id); err != nil {
		return err
	}
	s.srv.notify(PaneEvent{Kind: Closed, Pane: id})
	return s.sup.remove(ctx)
}

// killPane ends only our pane: the session ends with its last pane, so panes that the user added keep it alive.
func (s *managedPane) killPane(ctx context.Context, id string) error {
	defer s.sup.lockServer(ctx)()
	if ctl := s.srv.live(); ctl != nil && s.base == nil {
		// Detach our control client first, because a client that kills its own session may wait for the answer forever
		// (tmux 3.3a).
		ctl.close()
	}
	ours := "#{&&:#{==:#{@buddy_role}," + s.role + "},#{==:#{session_name}," + s.srv.opt.tmuxName() + "}}"
	out, err := s.sup.tmux(ctx, "if-shell", "-F", "-t", id, ours, "kill-pane -t "+id)
	if err == nil {
		return nil
	}
	known, unlisted := s.sup.tmux(ctx, "list-panes", "-s", "-t", s.srv.opt.target(), "-F", "#{pane_id}")
	if unlisted == nil && holds(known, id) {
		return fmt.Errorf("kill-pane %s: %s", id, reason(out, err))
	}
	return nil // the pane is gone
}

// holds reports whether one of the lines of text equals line.
func holds(text, line string) bool {
	for l := range strings.Lines(text) {
		if strings.TrimSuffix(l, "\n") == line {
			return true
		}
	}
	return false
}

// release disconnects from the supervisor, which can still finish its command.
func (s *managedPane) release() {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.sup.drop()
}

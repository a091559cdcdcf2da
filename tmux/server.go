package tmux

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"buddy/tmux/pane"
)

// owner marks what is ours: only marked sessions and panes are used or killed (E12).
const owner = "buddy"

const (
	windowName = "buddy-shared"
	paneTitle  = "shared"
	roleShared = "shared"

	// The size of a pane until a person attaches (DECISIONS 18).
	paneWidth, paneHeight = "120", "40"

	startLimit = 5 * time.Second // for a supervisor to answer
)

// config is what our server starts with; on somebody else's server it has no effect.
const config = `set -g history-limit 10000
set -g default-terminal screen-256color
set -s escape-time 10
set -g status-style default
set -g status-left "[#{session_name}] "
set -g status-left-length 60
set -g status-right ""
set -g status-interval 0
`

// supervisor is the program in the pane that runs the commands, and the way to its machine.
type supervisor interface {
	// prepare makes its directory and what it needs to start, as far as that is missing.
	prepare(ctx context.Context) error
	// conf is the file with tmux's configuration.
	conf() string
	// argv is the command line that starts it.
	argv() []string
	// greet connects to it if it runs, or finds that it is connected already. When it ends, or the
	// connection to it, lost is called, unless drop was called before.
	greet(ctx context.Context, lost func(why string)) (info pane.Info, fresh bool, err error)
	linked() bool
	// begun reports whether there may be a supervisor to close; busy whether anything runs
	// under it, and what its pane is.
	begun() bool
	busy(ctx context.Context) (busy bool, pane string, err error)
	// run starts the command in dir, attach follows one that an earlier process started.
	// errGone says that the supervisor has ended and knows nothing of the command.
	run(ctx context.Context, dir string, mode Mode) (job, error)
	attach(ctx context.Context, dir string) (job, error)
	drop()
	remove(ctx context.Context) error

	// tmux runs one tmux command, control builds a client; check is the gate for old ones.
	tmux(ctx context.Context, args ...string) (string, error)
	control(args ...string) (*exec.Cmd, error)
	check(ctx context.Context) error
	attachLine() string
}

// job is a running command, as [pane.Job] is one.
type job interface {
	// Wait passes output on until the command ends. An error says that its end is not known.
	Wait(output func(pane.Chunk)) (pane.Exit, error)
	// Cancel begins to end it.
	Cancel() error
}

// errGone says that a supervisor has ended before it took a command.
var errGone = errors.New("the supervisor has ended")

// server is a supervisor in a pane of a tmux server.
type server struct {
	opt     Options
	sup     supervisor
	changed func()       // a pane was made, or the control client ended
	printed func(string) // a pane printed something

	making sync.Mutex // held while the session, the pane or the control client is made

	mu      sync.Mutex // guards what follows
	id      string     // of the pane
	ctl     *control
	closing bool
}

// dirName is a short name for the directory of a session's supervisor, the same in every
// process, so that a resumed session finds its pane without asking tmux.
func dirName(o Options) string {
	sum := sha256.Sum256([]byte(o.Socket + "\x00" + o.Session))
	return hex.EncodeToString(sum[:6])
}

func (s *server) pane() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

func (s *server) run(ctx context.Context, dir string, mode Mode) (job, error) {
	if s.sup.linked() {
		j, err := s.sup.run(ctx, dir, mode)
		if !errors.Is(err, errGone) {
			return j, err
		}
	}
	s.making.Lock()
	err := s.ensure(ctx)
	s.making.Unlock()
	if err != nil {
		return nil, err
	}
	return s.sup.run(ctx, dir, mode)
}

func (s *server) attach(ctx context.Context, dir string) (job, error) {
	s.making.Lock()
	err := s.greet(ctx)
	s.making.Unlock()
	if err != nil {
		return nil, err
	}
	return s.sup.attach(ctx, dir)
}

// ensure makes the session, the pane and the supervisor, as far as they are missing. The
// caller holds making.
func (s *server) ensure(ctx context.Context) error {
	err := s.greet(ctx)
	if !errors.Is(err, errGone) {
		return err
	}
	created, err := s.ensureSession(ctx)
	if err != nil {
		return err
	}
	if !created {
		if err := s.ensurePane(ctx); err != nil {
			return err
		}
	}
	if err := s.await(ctx); err != nil {
		return fmt.Errorf("%w: the supervisor does not answer: %w", ErrUnavailable, err)
	}
	return nil
}

// await greets a supervisor that is starting, which takes it some milliseconds.
func (s *server) await(ctx context.Context) error {
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

// greet connects to the supervisor if one is there. The caller holds making.
func (s *server) greet(ctx context.Context) error {
	if err := s.sup.prepare(ctx); err != nil {
		return err
	}
	info, fresh, err := s.sup.greet(ctx, s.lost)
	if err != nil || !fresh {
		return err
	}
	s.mu.Lock()
	s.id = info.Pane
	s.mu.Unlock()
	s.tell(PaneEvent{Kind: Opened, Pane: info.Pane, Title: paneTitle, Attach: s.sup.attachLine()})
	s.changed()
	return nil
}

// found greets the supervisor again after the connection was away.
func (s *server) found() {
	s.making.Lock()
	defer s.making.Unlock()
	ctx, stop := context.WithTimeout(context.Background(), askLimit)
	defer stop()
	_ = s.greet(ctx) // if it has gone meanwhile the next command makes another one
}

// lost is told of the end of the supervisor.
func (s *server) lost(why string) {
	s.mu.Lock()
	closing, id := s.closing, s.id
	s.mu.Unlock()
	if !closing {
		s.tell(PaneEvent{Kind: Lost, Pane: id, Why: why})
	}
}

func (s *server) tell(e PaneEvent) {
	if s.opt.OnPane != nil {
		s.opt.OnPane(e)
	}
}

// ensureSession attaches to our session and makes it first if need be, with the shared
// pane in it.
func (s *server) ensureSession(ctx context.Context) (created bool, err error) {
	if s.live() != nil {
		return false, nil
	}
	if err := s.sup.check(ctx); err != nil {
		return false, err
	}
	if _, err := s.sup.tmux(ctx, "has-session", "-t", s.opt.target()); err != nil {
		if out, err := s.sup.tmux(ctx, s.creation()...); err != nil {
			return false, fmt.Errorf("%w: new-session %s: %s", ErrUnavailable, s.opt.Session, reason(out, err))
		}
		created = true
	}
	return created, s.attachControl(ctx)
}

// creation is the tmux command line that makes the session with its marks.
func (s *server) creation() []string {
	t := s.opt.target()
	args := []string{
		"-f", s.sup.conf(), "new-session", "-d", "-s", s.opt.Session, "-n", windowName, "-x", paneWidth, "-y", paneHeight, "-c", "/",
	}
	for _, a := range s.sup.argv() {
		args = append(args, argument(a))
	}
	return append(args, ";",
		"set-option", "-t", t, "@buddy_managed", "1", ";", "set-option", "-t", t, "@buddy_owner", owner, ";",
		"set-option", "-p", "-t", t, "@buddy_role", roleShared, ";", "set-option", "-w", "-t", t, "remain-on-exit", "on", ";",
		"select-pane", "-t", t, "-T", paneTitle)
}

// startLine is the supervisor's command line as words of tmux's language.
func (s *server) startLine() string {
	var words []string
	for _, a := range s.sup.argv() {
		words = append(words, quote(a))
	}
	return strings.Join(words, " ")
}

// argument protects an argument of the tmux command line, where a last `;` ends a command.
func argument(s string) string {
	if rest, ok := strings.CutSuffix(s, ";"); ok {
		return rest + `\;`
	}
	return s
}

// ensurePane starts the supervisor in our pane again, or in a new one if that is gone.
func (s *server) ensurePane(ctx context.Context) error {
	ctl := s.live()
	if ctl == nil {
		return fmt.Errorf("%w: the control client ended", ErrUnavailable)
	}
	panes, err := ctl.do(ctx, "list-panes -s -t "+quote(s.opt.target())+` -F "#{@buddy_owner} #{@buddy_role} #{pane_id}"`)
	if err != nil {
		return fmt.Errorf("%w: list-panes: %w", ErrUnavailable, err)
	}
	for _, p := range panes {
		if id, ok := strings.CutPrefix(p, owner+" "+roleShared+" "); ok {
			return s.respawnIn(ctx, ctl, id)
		}
	}
	made, err := ctl.do(ctx, "new-window -d -P -F '#{pane_id}' -c / -n "+windowName+" -t "+quote(s.opt.target())+" "+s.startLine())
	if err != nil || len(made) != 1 {
		return fmt.Errorf("%w: new-window: %w", ErrUnavailable, err)
	}
	id := made[0]
	for _, c := range []string{"set-option -p -t " + id + " @buddy_role " + roleShared, "set-option -w -t " + id + " remain-on-exit on", "select-pane -t " + id + " -T " + paneTitle} {
		if _, err := ctl.do(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// live is the control client if there is one.
func (s *server) live() *control {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctl == nil || s.ctl.ended() {
		return nil
	}
	return s.ctl
}

// attachControl starts the control client and checks that the session is ours.
func (s *server) attachControl(ctx context.Context) error {
	cmd, err := s.sup.control("-C", "attach-session", "-f", "pause-after=1,no-output", "-t", s.opt.target())
	if err != nil {
		return err
	}
	ctl, err := startControl(cmd, s.printed, s.changed)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	marks, err := ctl.do(ctx, "display-message -p -t "+quote(s.opt.target())+` "#{@buddy_managed} #{@buddy_owner}"`)
	if err == nil && (len(marks) != 1 || marks[0] != "1 "+owner) {
		err = fmt.Errorf("session %q exists and was not made by %s", s.opt.Session, owner)
	}
	if err != nil {
		ctl.close()
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	s.mu.Lock()
	s.ctl = ctl
	s.mu.Unlock()
	return nil
}

// connect returns the control client of a session that exists.
func (s *server) connect(ctx context.Context) (*control, error) {
	if ctl := s.live(); ctl != nil {
		return ctl, nil
	}
	s.making.Lock()
	defer s.making.Unlock()
	if s.pane() == "" {
		return nil, errors.New("no pane yet")
	}
	if ctl := s.live(); ctl != nil {
		return ctl, nil
	}
	if out, err := s.sup.tmux(ctx, "has-session", "-t", s.opt.target()); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrUnavailable, reason(out, err))
	}
	if err := s.attachControl(ctx); err != nil {
		return nil, err
	}
	return s.live(), nil
}

func (s *server) respawn(ctx context.Context) error {
	ctl, err := s.connect(ctx)
	if err != nil {
		return err
	}
	return s.respawnIn(ctx, ctl, s.pane())
}

// respawnIn starts the supervisor anew in a pane. The control client is given up: one that
// was attached during a respawn is sometimes not told of the pane's next output (seen with
// tmux 3.3a, about once in 20 times).
func (s *server) respawnIn(ctx context.Context, ctl *control, id string) error {
	_, err := ctl.do(ctx, "respawn-pane -k -c / -t "+id+" "+s.startLine())
	ctl.close()
	return err
}

func (s *server) close(ctx context.Context) (left []string, err error) {
	s.making.Lock()
	defer s.making.Unlock()
	s.mu.Lock()
	s.closing = true
	used := s.id != ""
	s.mu.Unlock()
	defer s.drop()
	// Even if this process started nothing, an earlier one may have.
	if !s.sup.begun() {
		return nil, nil
	}
	busy, id, err := s.sup.busy(ctx)
	switch {
	case busy:
		return []string{s.opt.Session}, nil
	case err != nil && !errors.Is(err, errGone):
		return nil, err
	case id != "":
		s.mu.Lock()
		s.id = id
		s.mu.Unlock()
	case !used:
		return nil, s.sup.remove(ctx) // nothing was ever started
	}
	id = s.pane()
	// Our control client goes first: one that kills the session it is attached to may wait
	// for its answer for ever (tmux 3.3a).
	s.drop()
	// Only our pane: the session ends with its last one, and a person's own panes stay.
	ours := "#{&&:#{==:#{@buddy_role}," + roleShared + "},#{==:#{session_name}," + s.opt.Session + "}}"
	if out, err := s.sup.tmux(ctx, "if-shell", "-F", "-t", id, ours, "kill-pane -t "+id); err != nil {
		if _, gone := s.sup.tmux(ctx, "has-session", "-t", s.opt.target()); gone == nil {
			return nil, fmt.Errorf("kill-pane %s: %s", id, reason(out, err))
		}
	}
	s.tell(PaneEvent{Kind: Closed, Pane: id})
	return nil, s.sup.remove(ctx)
}

// drop lets go of the supervisor and the control client.
func (s *server) drop() {
	s.sup.drop()
	s.mu.Lock()
	ctl := s.ctl
	s.mu.Unlock()
	if ctl != nil {
		ctl.close()
	}
}

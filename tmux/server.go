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

// owner marks sessions and panes as ours: only marked ones are used or killed.
const owner = "buddy"

const (
	windowName = "buddy-shared"
	paneTitle  = "shared"
	roleShared = "shared"

	// The size of a pane until the user attaches a terminal.
	paneWidth, paneHeight = "120", "40"

	startLimit = 5 * time.Second // for a supervisor to answer
)

// config holds the settings of our own server; on a foreign server it has no effect.
const config = `set -g history-limit 10000
set -g default-terminal screen-256color
set -s escape-time 10
set -g status-style default
set -g status-left "[#{session_name}] "
set -g status-left-length 60
set -g status-right ""
set -g status-interval 0
`

// supervisor is the program that runs the commands, and the connection to its machine.
type supervisor interface {
	// directory returns the supervisor's directory, "" before prepare. inherit copies the shell state from the
	// supervisor in another directory; call it before this supervisor runs.
	directory() string
	inherit(ctx context.Context, from string) error
	// prepare creates the directory and the files that the start needs, if missing.
	prepare(ctx context.Context) error
	// conf returns the path of tmux's configuration.
	conf() string
	// argv returns the command line that starts the supervisor.
	argv() []string
	// greet connects to the supervisor if it runs and is not connected yet. When the supervisor or the connection ends,
	// lost is called, unless drop has ended the connection.
	greet(ctx context.Context, lost func(why string)) (info pane.Info, fresh bool, err error)
	linked() bool
	// begun reports whether a supervisor may need closing. busy reports whether anything runs under it, and returns the
	// id of its pane.
	begun() bool
	busy(ctx context.Context) (busy bool, pane string, err error)
	// run starts the command in dir; attach follows a command that an earlier process started. errGone means that the
	// supervisor has ended and does not know the command.
	run(ctx context.Context, dir string, mode Mode, within pane.Sandboxed) (job, error)
	attach(ctx context.Context, dir string) (job, error)
	drop()
	remove(ctx context.Context) error
	// leave records that the client left for good while a command ran. abandoned reports whether that happened, no
	// client has come back since, and nothing runs any more.
	leave(ctx context.Context) error
	abandoned(ctx context.Context) bool

	// tmux runs one tmux command; control builds the command of a control client; check rejects an old tmux. lockServer
	// keeps other buddy processes from starting or ending sessions and clients, which could crash the tmux server,
	// until release is called; the caller has prepared the directory.
	tmux(ctx context.Context, args ...string) (string, error)
	control(args ...string) (*exec.Cmd, error)
	lockServer(ctx context.Context) (release func())
	check(ctx context.Context) error
	attachLine() string
}

// job is a running command, such as a [pane.Job].
type job interface {
	// Wait passes output on until the command ends. An error means that it is not known whether
	// or how the command ended.
	Wait(output func(pane.Chunk)) (pane.Exit, error)
	// Cancel starts to end the command.
	Cancel() error
}

// errNoPane means that nothing was started yet.
var errNoPane = errors.New("there is no pane yet: the first command of run_shell creates it")

// errGone means that a supervisor ended before it accepted a command.
var errGone = errors.New("the supervisor has ended")

// server is our session on a tmux server with the control client in it.
type server struct {
	opt     Options
	sup     supervisor   // of the shared pane; also runs tmux commands
	changed func()       // a pane was made, or the control client ended
	printed func(string) // a pane printed something

	making sync.Mutex // held while the session, a pane or the control client is created

	mu     sync.Mutex // guards the fields below
	ctl    *control
	seen   bool            // a supervisor of the session has answered this process
	fitted map[string]bool // panes whose window is fitted to a view
}

// dirName returns a short name for the directory of a session's supervisor, the same in every
// process, so that a resumed session finds its pane without asking tmux.
func dirName(o Options) string {
	sum := sha256.Sum256([]byte(o.Socket + "\x00" + o.Session))
	return hex.EncodeToString(sum[:6])
}

// markSeen records that a supervisor of the session has answered this process.
func (s *server) markSeen() {
	s.mu.Lock()
	s.seen = true
	s.mu.Unlock()
}

// wasSeen reports whether a supervisor of the session has answered this process.
func (s *server) wasSeen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// isOurs reports whether the marks of the session that the control client is attached to are those of our session.
func (s *server) isOurs(marks []string) bool {
	if len(marks) != 1 {
		return false
	}
	l, ok := parseListed(marks[0])
	return ok && l.managed && (!s.opt.Short || s.opt.ours(l.name, l.identity))
}

func (s *server) notify(e PaneEvent) {
	if s.opt.OnPane != nil {
		s.opt.OnPane(e)
	}
}

// ensureSession attaches to our session and, if missing, creates it with the shared pane in it.
func (s *server) ensureSession(ctx context.Context) (created bool, err error) {
	if s.live() != nil {
		return false, nil
	}
	if err := s.sup.check(ctx); err != nil {
		return false, err
	}
	defer s.sup.lockServer(ctx)()
	if !s.findName(ctx) {
		if err := s.create(ctx); err != nil {
			return false, err
		}
		created = true
	}
	return created, s.attachControl(ctx)
}

// creation returns the tmux command line that creates the session with its marks.
func (s *server) creation() []string {
	t := s.opt.target()
	args := []string{
		"-f", s.sup.conf(), "new-session", "-d", "-s", s.opt.tmuxName(), "-n", windowName, "-x", paneWidth, "-y", paneHeight, "-c", "/",
	}
	for _, a := range s.sup.argv() {
		args = append(args, argument(a))
	}
	return append(args, ";",
		"set-option", "-t", t, "@buddy_managed", "1", ";", "set-option", "-t", t, "@buddy_owner", owner, ";",
		"set-option", "-t", t, "@buddy_session", s.opt.Session, ";",
		"set-option", "-p", "-t", t, "@buddy_managed", "1", ";", "set-option", "-p", "-t", t, "@buddy_owner", owner, ";",
		"set-option", "-p", "-t", t, "@buddy_role", roleShared, ";", "set-option", "-w", "-t", t, "remain-on-exit", "on", ";",
		"select-pane", "-t", t, "-T", paneTitle)
}

// argument protects an argument of the tmux command line, where a last `;` ends a command.
func argument(s string) string {
	if rest, ok := strings.CutSuffix(s, ";"); ok {
		return rest + `\;`
	}
	return s
}

// live returns the control client, or nil.
func (s *server) live() *control {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctl == nil || s.ctl.ended() {
		return nil
	}
	return s.ctl
}

// attachControl starts the control client and checks that the session is ours. The caller holds the lock of the server.
func (s *server) attachControl(ctx context.Context) error {
	cmd, err := s.sup.control("-C", "attach-session", "-f", "pause-after=1,no-output", "-t", s.opt.target())
	if err != nil {
		return err
	}
	ctl, err := startControl(ctx, cmd, s.printed, s.joined, s.changed)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	marks, err := ctl.do(ctx, "display-message -p -t "+quote(s.opt.target())+` "`+listedFields+`"`)
	if err == nil && !s.isOurs(marks) {
		err = fmt.Errorf("session %q exists and was not made by %s", s.opt.tmuxName(), owner)
	}
	if err != nil {
		s.end(ctl)
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	s.mu.Lock()
	s.ctl = ctl
	s.mu.Unlock()
	s.sweep(ctx, ctl)
	return nil
}

// connect returns the control client of an existing session.
func (s *server) connect(ctx context.Context) (*control, error) {
	if ctl := s.live(); ctl != nil {
		return ctl, nil
	}
	s.making.Lock()
	defer s.making.Unlock()
	if !s.wasSeen() {
		return nil, errNoPane
	}
	if ctl := s.live(); ctl != nil {
		return ctl, nil
	}
	if !s.findName(ctx) {
		return nil, fmt.Errorf("%w: there is no session %s", ErrUnavailable, s.opt.tmuxName())
	}
	defer s.sup.lockServer(ctx)()
	if err := s.attachControl(ctx); err != nil {
		return nil, err
	}
	return s.live(), nil
}

func (s *server) drop() {
	s.mu.Lock()
	ctl := s.ctl
	s.mu.Unlock()
	if ctl != nil {
		s.detach(ctl)
	}
}

// detach ends a control client.
func (s *server) detach(ctl *control) {
	if ctl.ended() {
		ctl.close()
		return
	}
	defer s.sup.lockServer(context.Background())()
	s.end(ctl)
}

// end ends a control client. The caller holds the lock of the server.
func (s *server) end(ctl *control) {
	ctl.close()
	// Wait until tmux has notified its other clients that this one is gone: the answer to list-sessions comes after
	// that.
	_, _ = s.sup.tmux(context.Background(), "list-sessions", "-F", "")
}

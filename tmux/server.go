package tmux

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
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

// server is a supervisor in a pane of a tmux server.
type server struct {
	opt     Options
	env     []string
	changed func()       // a pane was made, or the control client ended
	printed func(string) // a pane printed something

	making sync.Mutex // held while the session, the pane or the control client is made

	mu      sync.Mutex // guards what follows
	dir     string     // of the supervisor
	link    net.Conn   // greeted connection; its end tells that the supervisor is gone
	id      string     // of the pane
	ctl     *control
	closing bool
}

func newServer(o Options) *server {
	return &server{opt: o, env: cleanEnv(o.Env)}
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

func (s *server) dial(ctx context.Context) (net.Conn, error) {
	s.mu.Lock()
	linked, dir := s.link != nil, s.dir
	s.mu.Unlock()
	if linked {
		if c, err := net.Dial("unix", pane.SocketPath(dir)); err == nil {
			return c, nil
		}
	}
	s.making.Lock()
	defer s.making.Unlock()
	if err := s.ensure(ctx); err != nil {
		return nil, err
	}
	return net.Dial("unix", pane.SocketPath(s.dir))
}

func (s *server) find(context.Context) (net.Conn, error) {
	s.making.Lock()
	defer s.making.Unlock()
	if err := s.greetDir(); err != nil {
		return nil, err
	}
	return net.Dial("unix", pane.SocketPath(s.dir))
}

// makeDir makes the supervisor's directory, once.
func (s *server) makeDir() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != "" {
		return nil
	}
	dir, err := pane.MakeDir(lookup(s.env), dirName(s.opt))
	if err != nil {
		return fmt.Errorf("%w: no place for the socket: %w", ErrUnavailable, err)
	}
	s.dir = dir
	return nil
}

// greetDir greets the supervisor if one is there.
func (s *server) greetDir() error {
	if err := s.makeDir(); err != nil {
		return err
	}
	c, err := net.Dial("unix", pane.SocketPath(s.dir))
	if err != nil {
		return err
	}
	s.mu.Lock()
	linked := s.link != nil
	s.mu.Unlock()
	if linked {
		return c.Close()
	}
	return s.greet(c)
}

// ensure makes the session, the pane and the supervisor, as far as they are missing. The
// caller holds making.
func (s *server) ensure(ctx context.Context) error {
	if err := s.greetDir(); err == nil || errors.Is(err, ErrUnavailable) {
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
	c, err := s.await(ctx)
	if err != nil {
		return fmt.Errorf("%w: the supervisor does not answer: %w", ErrUnavailable, err)
	}
	return s.greet(c)
}

// await connects to a supervisor that is starting, which takes it some milliseconds.
func (s *server) await(ctx context.Context) (net.Conn, error) {
	ctx, stop := context.WithTimeout(ctx, startLimit)
	defer stop()
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		c, err := net.Dial("unix", pane.SocketPath(s.dir))
		if err == nil {
			return c, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(wait):
		}
	}
}

// greet takes c as the link to the supervisor.
func (s *server) greet(c net.Conn) error {
	info, err := pane.Greet(c, pane.Greeting{Cwd: s.opt.Cwd, Env: s.env})
	if err != nil {
		_ = c.Close()
		return err
	}
	s.mu.Lock()
	s.link, s.id = c, info.Pane
	s.mu.Unlock()
	go s.hold(c, info.Pane)
	s.tell(PaneEvent{Kind: Opened, Pane: info.Pane, Title: paneTitle, Attach: attachLine(s.opt)})
	s.changed()
	return nil
}

// hold waits for the end of the supervisor.
func (s *server) hold(c net.Conn, id string) {
	_, _ = io.Copy(io.Discard, c)
	_ = c.Close()
	s.mu.Lock()
	lost := s.link == c && !s.closing
	if s.link == c {
		s.link = nil
	}
	s.mu.Unlock()
	if lost {
		s.tell(PaneEvent{Kind: Lost, Pane: id, Why: "its supervisor ended"})
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
	if err := s.check(ctx); err != nil {
		return false, err
	}
	if _, err := s.tmux(ctx, "has-session", "-t", s.target()); err != nil {
		conf := filepath.Join(s.dir, "tmux.conf")
		if err := os.WriteFile(conf, []byte(config), 0o600); err != nil {
			return false, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		if out, err := s.tmux(ctx, s.creation(conf)...); err != nil {
			return false, fmt.Errorf("%w: new-session %s: %s", ErrUnavailable, s.opt.Session, reason(out, err))
		}
		created = true
	}
	return created, s.attach(ctx)
}

// creation is the tmux command line that makes the session with its marks.
func (s *server) creation(conf string) []string {
	t := s.target()
	return []string{
		"-f", conf, "new-session", "-d", "-s", s.opt.Session, "-n", windowName, "-x", paneWidth, "-y", paneHeight,
		"-c", "/", argument(s.opt.Exe), "pane", argument(s.dir), ";",
		"set-option", "-t", t, "@buddy_managed", "1", ";", "set-option", "-t", t, "@buddy_owner", owner, ";",
		"set-option", "-p", "-t", t, "@buddy_role", roleShared, ";", "set-option", "-w", "-t", t, "remain-on-exit", "on", ";",
		"select-pane", "-t", t, "-T", paneTitle,
	}
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
	panes, err := ctl.do(ctx, "list-panes -s -t "+quote(s.target())+` -F "#{@buddy_owner} #{@buddy_role} #{pane_id}"`)
	if err != nil {
		return fmt.Errorf("%w: list-panes: %w", ErrUnavailable, err)
	}
	for _, p := range panes {
		if id, ok := strings.CutPrefix(p, owner+" "+roleShared+" "); ok {
			return s.respawnIn(ctx, ctl, id)
		}
	}
	made, err := ctl.do(ctx, "new-window -d -P -F '#{pane_id}' -c / -n "+windowName+" -t "+quote(s.target())+" "+quote(s.opt.Exe)+" pane "+quote(s.dir))
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

// attach starts the control client and checks that the session is ours.
func (s *server) attach(ctx context.Context) error {
	cmd := s.command(context.Background(), "-C", "attach-session", "-f", "pause-after=1,no-output", "-t", s.target())
	ctl, err := startControl(cmd, s.printed, s.changed)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	marks, err := ctl.do(ctx, "display-message -p -t "+quote(s.target())+` "#{@buddy_managed} #{@buddy_owner}"`)
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
	if out, err := s.tmux(ctx, "has-session", "-t", s.target()); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrUnavailable, reason(out, err))
	}
	if err := s.attach(ctx); err != nil {
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
	_, err := ctl.do(ctx, "respawn-pane -k -c / -t "+id+" "+quote(s.opt.Exe)+" pane "+quote(s.dir))
	ctl.close()
	return err
}

func (s *server) close(ctx context.Context) (left []string, err error) {
	s.making.Lock()
	defer s.making.Unlock()
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	defer s.drop()
	if s.busy() {
		return []string{s.opt.Session}, nil
	}
	id := s.pane()
	if id == "" {
		return nil, s.removeDir() // nothing was ever started
	}
	// Our control client goes first: one that kills the session it is attached to may wait
	// for its answer for ever (tmux 3.3a).
	s.drop()
	// Only our pane: the session ends with its last one, and a person's own panes stay.
	ours := "#{&&:#{==:#{@buddy_role}," + roleShared + "},#{==:#{session_name}," + s.opt.Session + "}}"
	if out, err := s.tmux(ctx, "if-shell", "-F", "-t", id, ours, "kill-pane -t "+id); err != nil {
		if _, gone := s.tmux(ctx, "has-session", "-t", s.target()); gone == nil {
			return nil, fmt.Errorf("kill-pane %s: %s", id, reason(out, err))
		}
	}
	s.tell(PaneEvent{Kind: Closed, Pane: id})
	return nil, s.removeDir()
}

// busy asks the supervisor whether anything runs, even if this process started nothing.
func (s *server) busy() bool {
	if s.makeDir() != nil {
		return false
	}
	c, err := net.Dial("unix", pane.SocketPath(s.dir))
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }()
	info, err := pane.Greet(c, pane.Greeting{Cwd: s.opt.Cwd, Env: s.env})
	if err == nil {
		s.mu.Lock()
		s.id = info.Pane
		s.mu.Unlock()
	}
	return err == nil && info.Busy
}

// drop lets go of the supervisor and the control client.
func (s *server) drop() {
	s.mu.Lock()
	link, ctl := s.link, s.ctl
	s.mu.Unlock()
	if link != nil {
		_ = link.Close()
	}
	if ctl != nil {
		ctl.close()
	}
}

func (s *server) removeDir() error { return os.RemoveAll(s.dir) }

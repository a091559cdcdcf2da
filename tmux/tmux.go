// Package tmux runs shell commands in tmux panes that the user can watch and attach to.
//
// A [Session] runs on a private tmux server, never in the user's own tmux. It has a shared pane, where commands run
// one after another, and further panes for commands that need their own. A supervisor in each pane (package
// tmux/pane) starts the commands, and records stdout, stderr and the exit code; tmux only provides panes and their
// screens. Commands outlive the program that started them; [Session.Reattach] finds them again.
//
//	s := tmux.New(tmux.Options{Session: "buddy-7f3a", Exe: os.Args[0], Greeting: pane.Greeting{Env: os.Environ(), Cwd: wd}})
//	defer s.Close(ctx)
//	run, err := s.Start(ctx, tmux.Spec{Dir: dir, Command: "make test"})
//	res, err := run.Wait(ctx)
//	fmt.Println(res.ExitCode, string(res.Stdout.Head))
//
// Nothing is started before the first command. On a machine without tmux ([ErrUnavailable]), [NewPlain] returns a
// Session that runs commands without panes.
package tmux

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"buddy/texts"
	"buddy/tmux/host"
	"buddy/tmux/pane"
	"buddy/tmux/pane/confine"
	"buddy/tmux/pane/fence"
)

// ErrUnavailable means that tmux cannot be used: it is missing, too old, or its server cannot be reached or is not
// ours. The message has the reason. Nothing ran; the caller may continue with [NewPlain].
var ErrUnavailable = errors.New("tmux is not available")

// ErrLost means that the pane or its supervisor vanished while a command ran. The command's exit code is unknown, and
// it may have finished its work. The next Start creates a new pane.
var ErrLost = errors.New("the pane was lost")

// ErrUnconfirmed means that a command was sent to a target that did not confirm the start: it may have run. Once the
// target can be reached again, the command is withdrawn, or stopped if it runs.
var ErrUnconfirmed = errors.New("it is not known whether the command was started")

// Options describe a Session. The zero value of a field is its default.
type Options struct {
	Socket  string // the tmux server: a name for -L, or a path for -S if it has a slash; "" = buddy
	Session string // the session's identity, as [SessionName] makes it; without Short also its name in tmux; required
	// Short makes the name in tmux the shortest unused prefix of Session. Known is the session's earlier name, "" if
	// unknown; an existing session is found without it, too.
	Short bool
	Known string
	// Host runs the commands; nil is this machine. On a Host, commands have the environment of a login there, Cwd is a
	// directory there ("" for the home directory), and Exe and Env are not used. The Session does not close it.
	Host *host.Host
	Exe  string   // the program that `pane DIR` turns into the supervisor; required
	Of   []string // folders of the session that the supervisor names in its command line
	// Greeting is sent to the supervisor; a nil Env means the environment of this process. Unattended commands get
	// variables that keep programs from prompting, and no terminal unless they ask for one. A Host always records the
	// first 4 MiB and the end of an output stream.
	pane.Greeting
	// Shell is the one of [pane.Shells] that runs the commands; "" is bash, or sh if bash is missing. If the shell is
	// missing, Start returns a [pane.RefusedError]. Commands that an earlier process left running keep their shell.
	Shell string
	// OnPane receives the pane's events, on any goroutine; it must not call the Session.
	OnPane func(PaneEvent)
	// OnScreen receives the screens requested by Watch, on one goroutine; it may keep them.
	OnScreen func(Screen)

	name *sessionName // its name in tmux; created with the Session
}

// PaneKind names an event of a pane.
type PaneKind string

// The events of panes.
const (
	Opened PaneKind = "opened"
	Lost   PaneKind = "lost" // the pane vanished; the next command creates another one
	Closed PaneKind = "closed"
)

// PaneEvent reports a change of a pane.
type PaneEvent struct {
	Kind   PaneKind
	Pane   string // tmux's id, such as %3
	Title  string // of Opened
	Attach string // for Opened: the shell command that shows the pane to the user
	Name   string // for Opened: the name of the pane's tmux session
	Why    string // of Lost
}

// Session runs commands in one shared pane, one at a time, and others in their own panes. It is safe for concurrent
// use.
type Session struct {
	opt       Options
	runner    runner
	srv       *server                        // nil without tmux
	runnerFor func(key, title string) runner // creates the runner of a command with its own pane
	attach    func() string                  // the command line that shows the pane to the user
	paint     *painter                       // nil without tmux
	own       commandPanes
	ctx       context.Context // ends with Close
	stop      context.CancelFunc
	closed    atomic.Bool
	pasting   sync.Mutex // held while tmux's buffer holds a paste
}

// runner runs commands under a supervisor, in a tmux pane or in a separate process.
type runner interface {
	// run starts the command of dir, and the supervisor if it is missing. A confined command runs
	// in the read-only sandbox or not at all.
	run(ctx context.Context, dir string, mode Mode, within pane.Sandboxed) (job, error)
	// attach follows the command of dir that an earlier process started.
	attach(ctx context.Context, dir string) (job, error)
	// respawn replaces the supervisor and ends everything under it.
	respawn(ctx context.Context) error
	// pane returns tmux's id of the pane, "" without one.
	pane() string
	// close ends the supervisor unless a command runs in it; then close keeps the session and returns its name.
	close(ctx context.Context) (kept []string, err error)
}

// New returns a Session in a tmux pane. It starts nothing.
func New(o Options) *Session {
	if o.Socket == "" {
		o.Socket = "buddy"
	}
	o.Session = SessionName(o.Session)
	o.name = newSessionName(o)
	srv := &server{opt: o}
	shared := newManagedPane(srv, nil, roleShared, paneTitle)
	srv.sup = shared.sup
	s := newSession(o, shared)
	s.srv, s.attach, s.paint = srv, shared.sup.attachLine, newPainter(srv.connect, o.OnScreen)
	s.runnerFor = func(key, title string) runner { return newManagedPane(srv, shared, ownPrefix+key, title) }
	srv.changed, srv.printed = s.paint.invalidate, s.paint.printed
	return s
}

func newSession(o Options, p runner) *Session {
	s := &Session{opt: o, runner: p}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// newManagedPane returns the pane of one command; base is the shared pane. If base is nil, it returns the shared pane
// itself.
func newManagedPane(srv *server, base *managedPane, role, title string) *managedPane {
	t := &managedPane{srv: srv, base: base, role: role, title: title}
	name := dirName(srv.opt)
	if base != nil {
		name += "-" + role
	}
	if srv.opt.Host == nil {
		t.sup = newLocal(srv.opt, name)
		return t
	}
	r := newRemote(srv.opt, name)
	r.found, t.sup = t.found, r
	return t
}

// Confines returns nil if a Session with these Options can confine commands, else the reason.
func Confines(o Options) error {
	if o.Host != nil {
		return fmt.Errorf("%w: buddy is not installed on %s", confine.ErrImpossible, o.Host.Name())
	}
	return pane.Confines(texts.Lookup(cleanEnv(o.Env)), o.Reach)
}

// Fences returns nil if commands of a Session with these Options can run in the workspace sandbox, else an error that
// is [fence.ErrImpossible] and tells the user what to do. It runs a program in that sandbox.
func Fences(o Options) error {
	switch {
	case o.Host != nil:
		return fmt.Errorf("%w: buddy is not installed on %s", fence.ErrImpossible, o.Host.Name())
	case o.Fence == nil:
		return fmt.Errorf("%w: there is no workspace", fence.ErrImpossible)
	}
	return fence.Available(*o.Fence, cleanEnv(o.Env))
}

// NewPlain returns a Session without tmux. Its commands run as children of this process and end with it, and nobody can
// watch them; their records, limits and state are the same.
func NewPlain(o Options) *Session {
	o.Session = SessionName(o.Session)
	name := "p" + dirName(o)
	if o.Host != nil {
		shared := newRemotePlain(o, name, nil)
		s := newSession(o, shared)
		s.runnerFor = func(key, _ string) runner { return newRemotePlain(o, name+"-"+key, shared.sup) }
		return s
	}
	shared := &plain{opt: o, name: name}
	s := newSession(o, shared)
	s.runnerFor = func(key, _ string) runner { return &plain{opt: o, name: name + "-" + key, base: shared} }
	return s
}

// SessionName turns any text into a session name: lower case letters, digits, `_` and `-`, at
// most 48 of them, with the prefix `buddy-`.
func SessionName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, s)
	s = strings.Trim(strings.TrimPrefix(s, owner+"-"), "-")
	if s == "" {
		s = "session"
	}
	return owner + "-" + s[:min(len(s), 48)]
}

// AttachLine returns the shell command with which the user attaches to the pane.
func (s *Session) AttachLine() string {
	if s.attach == nil {
		return ""
	}
	return s.attach()
}

// RemoveLine returns the shell command that ends everything in the panes.
func (s *Session) RemoveLine() string {
	switch {
	case s.srv == nil:
		return ""
	case s.opt.Host != nil:
		return s.opt.Host.Attach(removeArgs(s.opt)...)
	}
	return host.Line(removeArgs(s.opt)...)
}

// Name returns the name of the tmux session. With [Options.Short] it may change until the session exists.
func (s *Session) Name() string { return s.opt.tmuxName() }

// Prefer sets the session's earlier name, see [Options.Known]. It has no effect once the session exists.
func (s *Session) Prefer(known string) {
	if s.srv != nil && !s.srv.wasSeen() {
		s.opt.name.prefer(known)
	}
}

// Pane returns tmux's id of the shared pane, or "" when there is none.
func (s *Session) Pane() string { return s.runner.pane() }

// Exported returns the variables that the last command in the shared pane left exported, as NAME=value; nil before the
// first command, and on other machines.
func (s *Session) Exported() ([]string, error) {
	dir := ""
	switch r := s.runner.(type) {
	case *managedPane:
		if l, ok := r.sup.(*local); ok {
			dir = l.directory()
		}
	case *plain:
		dir = r.directory()
	}
	return pane.Exported(dir, s.opt.Shell)
}

// FindPane connects to the shared pane that an earlier process of this session created, and reports whether the pane
// exists. If it does, OnPane receives an event. FindPane starts nothing on this machine.
func (s *Session) FindPane(ctx context.Context) (found bool, err error) {
	shared, ok := s.runner.(*managedPane)
	if !ok {
		return false, nil
	}
	s.srv.making.Lock()
	defer s.srv.making.Unlock()
	if err := shared.greet(ctx); err != nil && !errors.Is(err, errGone) {
		return false, err
	}
	return shared.pane() != "", nil
}

// Watch sets the panes whose screens OnScreen receives; nil is none. Watching panes that print nothing uses no
// processor time.
func (s *Session) Watch(panes []string) {
	if s.paint != nil {
		s.paint.watch(panes)
	}
}

// Close ends the Session. An idle tmux session is removed; a session with a running command stays, and its name is in
// kept. Without tmux a running command is cancelled. Closing again does nothing.
func (s *Session) Close(ctx context.Context) (kept []string, err error) {
	if s.closed.Swap(true) {
		return nil, nil
	}
	if s.paint != nil {
		s.paint.close()
	}
	s.stop()
	kept, err = s.closeOwns(ctx)
	l, e := s.runner.close(ctx)
	if t, ok := s.runner.(*managedPane); ok {
		t.release()
		s.srv.drop()
	}
	kept = append(kept, l...)
	if len(kept) > 1 {
		kept = kept[:1] // all are the name of this session
	}
	return kept, errors.Join(err, e)
}

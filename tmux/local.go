package tmux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"buddy/texts"
	"buddy/tmux/host"
	"buddy/tmux/pane"
)

// local is a supervisor on this machine. It runs in another process of this program and is reached over a socket.
type local struct {
	opt  Options
	name string // of its directory
	env  []string

	mu   sync.Mutex // guards the fields below
	dir  string
	link net.Conn // greeted connection; it ends with the supervisor
}

func newLocal(o Options, name string) *local {
	return &local{opt: o, name: name, env: cleanEnv(o.Env)}
}

func (s *local) directory() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dir
}

func (s *local) inherit(_ context.Context, from string) error {
	return pane.CopyState(from, s.directory())
}

func (s *local) prepare(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != "" {
		return nil
	}
	if s.opt.Shell != "" {
		if _, err := pane.FindShell(s.opt.Shell); err != nil {
			return err
		}
	}
	dir, err := s.makeDir()
	if err != nil {
		return err
	}
	s.dir = dir
	return nil
}

// makeDir makes the supervisor's directory and writes tmux's configuration into it. It tries again if an earlier
// supervisor, which is ending, meanwhile removes the directory.
func (s *local) makeDir() (dir string, err error) {
	for end := time.Now().Add(startLimit); ; {
		if dir, err = pane.MakeDir(texts.Lookup(s.env), s.name); err != nil {
			return "", err // not ErrUnavailable: running without tmux would fail, too
		}
		err = os.WriteFile(filepath.Join(dir, "tmux.conf"), []byte(config), 0o600)
		switch {
		case err == nil:
			return dir, nil
		case !errors.Is(err, os.ErrNotExist) || time.Now().After(end):
			return "", fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
	}
}

func (s *local) conf() string { return filepath.Join(s.directory(), "tmux.conf") }
func (s *local) argv() []string {
	args := []string{s.opt.Exe, "pane"}
	if s.opt.Shell != "" {
		args = append(args, "--shell="+s.opt.Shell)
	}
	avoid := s.opt.Reach.Read
	if s.opt.Fence != nil {
		avoid = slices.Concat(avoid, s.opt.Fence.Write)
	}
	for _, dir := range avoid {
		args = append(args, "--avoid="+dir)
	}
	args = append(args, pane.Of(s.opt.Of)...)
	return append(args, s.directory())
}
func (s *local) attachLine() string { return host.Line(attachArgs(s.opt)...) }

func (s *local) dial() (net.Conn, error) {
	c, err := net.Dial("unix", pane.SocketPath(s.directory()))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errGone, err)
	}
	return c, nil
}

func (s *local) greet(_ context.Context, lost func(string)) (pane.Info, bool, error) {
	c, err := s.dial()
	if err != nil {
		return pane.Info{}, false, err
	}
	if s.linked() {
		return pane.Info{}, false, c.Close()
	}
	info, err := pane.Greet(c, s.greeting())
	if err != nil {
		_ = c.Close()
		return info, false, fmt.Errorf("%w: %w", errGone, err) // or the supervisor has another version
	}
	s.mu.Lock()
	s.link = c
	s.mu.Unlock()
	_ = os.Remove(filepath.Join(s.directory(), leftMark)) // usually there is none
	go s.hold(c, lost)
	return info, true, nil
}

func (s *local) greeting() pane.Greeting {
	g := s.opt.Greeting
	g.Env = s.env
	return g
}

// hold waits for the end of the supervisor, then calls lost.
func (s *local) hold(c net.Conn, lost func(string)) {
	_, _ = io.Copy(io.Discard, c)
	_ = c.Close()
	s.mu.Lock()
	ours := s.link == c
	if ours {
		s.link = nil
	}
	s.mu.Unlock()
	if ours {
		lost("its supervisor ended")
	}
}

func (s *local) linked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.link != nil
}

func (s *local) run(ctx context.Context, dir string, mode Mode, within pane.Sandboxed) (job, error) {
	return over(s.dial, func(c net.Conn) (*pane.Job, error) { return pane.Run(ctx, c, dir, mode, within) })
}

func (s *local) attach(_ context.Context, dir string) (job, error) {
	return over(s.dial, func(c net.Conn) (*pane.Job, error) { return pane.Attach(c, dir) })
}

// over opens a connection to a supervisor and requests a job over it. The job owns the connection.
func over(dial func() (net.Conn, error), ask func(net.Conn) (*pane.Job, error)) (job, error) {
	c, err := dial()
	if err != nil {
		return nil, err
	}
	j, err := ask(c)
	if err != nil {
		return nil, err // an untyped nil
	}
	return j, nil
}

func (s *local) begun() bool { return s.prepare(context.Background()) == nil }

func (s *local) busy(context.Context) (bool, string, error) {
	c, err := s.dial()
	if err != nil {
		return false, "", err
	}
	defer func() { _ = c.Close() }()
	info, err := pane.Greet(c, s.greeting())
	if err != nil {
		return false, "", fmt.Errorf("%w: %w", errGone, err)
	}
	return info.Busy, info.Pane, nil
}

func (s *local) drop() {
	s.mu.Lock()
	link := s.link
	s.mu.Unlock()
	if link != nil {
		_ = link.Close()
	}
}

// leftMark names the file that records that a supervisor's client left for good.
const leftMark = "left"

func (s *local) leave(context.Context) error {
	return os.WriteFile(filepath.Join(s.directory(), leftMark), nil, 0o600)
}

func (s *local) abandoned(context.Context) bool {
	dir := pane.FindDir(texts.Lookup(s.env), s.name)
	if _, err := os.Stat(filepath.Join(dir, leftMark)); err != nil {
		return false
	}
	c, err := net.Dial("unix", pane.SocketPath(dir))
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }()
	info, err := pane.Look(c)
	return err == nil && !info.Busy
}

// remove deletes the supervisor's directory. The supervisor, which is ending, may still create files there; remove then
// tries again until startLimit has passed.
func (s *local) remove(ctx context.Context) error {
	dir := s.directory()
	err := os.RemoveAll(dir)
	for end := time.Now().Add(startLimit); errors.Is(err, unix.ENOTEMPTY) && time.Now().Before(end) && ctx.Err() == nil; err = os.RemoveAll(dir) {
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

package fence

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"sync"

	"buddy/texts"
	"buddy/tmux/pane/confine"
	"buddy/tmux/pane/fence/inside"
	"buddy/tmux/pane/gitfiles"
	"buddy/tmux/pane/seatbelt"
)

// Fence is the sandbox for commands. One Fence serves many commands. Start and Sweep are safe for concurrent use; call
// Close after the last use.
type Fence struct {
	config Config
	around []*surrounding // repositories around the workspace
	git    gitfiles.Files // the user's
	held   *seatbelt.Held
	writes []string // writable folders that others read

	mu   sync.Mutex // guards the field below
	runs map[int]process
}

// process is a started command.
type process struct {
	end      func()       // records that the command changes nothing more
	proxy    *proxy       // nil: none
	listener net.Listener // of the proxy
}

// New prepares the fence. The error is [ErrImpossible] if the self-test failed.
func New(c Config) (*Fence, error) { return (*Fence)(nil).Renew(c) }

// Renew returns the fence that New would return, but reads only the changed folders of a repository around the
// workspace that f knows. f may be nil; Renew does not close it.
func (f *Fence) Renew(c Config) (*Fence, error) {
	if err := c.check(texts.Lookup(c.Env)("HOME")); err != nil {
		return nil, err
	}
	if err := tested(c.Network); err != nil {
		return nil, err
	}
	var known []*surrounding
	if f != nil {
		known = f.around
	}
	return prepare(c, known)
}

// tested returns nil if commands could not break out of the fence.
func tested(network bool) error {
	mode := seatbelt.Fenced
	if network {
		mode = seatbelt.Networked
	}
	err := seatbelt.Here().Usable(seatbelt.Trial{Mode: mode, Path: seatbelt.Path, Hold: func(w *seatbelt.World, _ seatbelt.Mode) (seatbelt.Holder, error) {
		return prepare(Config{Settings: Settings{Work: []string{w.Work}, Hide: w.Hidden, Network: network}, Env: w.Env, Temp: w.Temp}, nil)
	}})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrImpossible, err)
	}
	return nil
}

func prepare(c Config, known []*surrounding) (f *Fence, err error) {
	if err := confine.Seal(); err != nil {
		return nil, err
	}
	f = &Fence{config: c, git: c.gitFiles(), runs: map[int]process{}}
	if f.around, err = surroundings(c.Settings, texts.Lookup(c.Env)("HOME"), known); err != nil {
		return nil, err
	}
	if c.Cache != "" {
		if err := os.MkdirAll(c.Cache, 0o700); err != nil {
			return nil, fmt.Errorf("%w: the folder for caches: %w", ErrImpossible, err)
		}
		c.seed()
	}
	if f.git.Refused != "" {
		if err := os.Mkdir(f.closed(), 0); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, fmt.Errorf("%w: %w", ErrImpossible, err)
		}
	}
	rules := c.seatbelt(f.git, c.hidden(f.around))
	f.writes = slices.DeleteFunc(slices.Clone(rules.Write), func(dir string) bool { return dir == c.Cache || dir == c.Temp })
	if f.held, err = rules.Hold(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrImpossible, err)
	}
	return f, nil
}

// closed returns a folder that no command can read.
func (f *Fence) closed() string { return filepath.Join(f.config.Temp, "closed") }

// Available returns nil if commands with these settings and this environment can be fenced, else an error that is
// [ErrImpossible]. The first call on a version of macOS runs the self-test, which takes some seconds.
func Available(s Settings, env []string) error {
	if err := s.check(texts.Lookup(env)("HOME")); err != nil {
		return err
	}
	return tested(s.Network)
}

// Environ returns the environment of a fenced command; now is the first environment as earlier commands changed it.
func (f *Fence) Environ(now, withheld []string) []string {
	return f.config.environ(now, withheld, f.config.Temp, f.git, f.closed())
}

// Close does nothing: started commands stay in the fence.
func (*Fence) Close() {}

// Start starts cmd in the fence; cmd should have its own process group. It first marks the workspace as changed without
// approval.
func (f *Fence) Start(cmd *exec.Cmd) error {
	end, err := f.config.mark(f.writes)
	if err != nil {
		return err
	}
	r, held := process{end: end}, f.held
	if f.config.proxied() {
		if r, held, err = f.serve(cmd, r); err != nil {
			end()
			return err
		}
	}
	if err := held.Start(cmd); err != nil {
		r.close()
		return err
	}
	f.mu.Lock()
	f.runs[cmd.Process.Pid] = r
	f.mu.Unlock()
	return nil
}

// serve opens a local port for the proxy of a command. Only this command has the proxy's password.
func (f *Fence) serve(cmd *exec.Cmd, r process) (process, *seatbelt.Held, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return r, nil, err
	}
	rules := f.held.Rules
	rules.Proxy = l.Addr().(*net.TCPAddr).Port
	held, err := rules.Hold()
	if err != nil {
		return r, nil, errors.Join(err, l.Close())
	}
	r.listener, r.proxy = l, newProxy(f.config.Hosts, internet)
	r.proxy.word = rand.Text()
	go r.proxy.serve(l)
	cmd.Env = inside.Through(cmd.Env, proxyUser+":"+r.proxy.word+"@"+l.Addr().String())
	return r, held, nil
}

// close ends the proxy of a command, and records that the command changes nothing more.
func (r process) close() {
	if r.listener != nil {
		_ = r.listener.Close()
	}
	r.end()
}

// Sweep ends the remaining processes in the command's group. Call it after the command's Wait.
func (f *Fence) Sweep(pid int) error {
	f.mu.Lock()
	r, ok := f.runs[pid]
	delete(f.runs, pid)
	f.mu.Unlock()
	if ok {
		seatbelt.End(pid)
		r.close()
	}
	return nil
}

// Ask sets the function that decides whether the command with a pid may reach hosts outside the settings. Without it,
// nobody is asked.
func (f *Fence) Ask(pid int, ask Ask) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.runs[pid].proxy; p != nil && f.config.Asks {
		p.ask.Store(&ask)
	}
}

// Group returns the process group that receives a command's signals: its own.
func (*Fence) Group(pid int) int { return pid }

// Stale reports whether the secrets in a repository around the workspace, or the files that git reads, have changed
// since New.
func (f *Fence) Stale() bool {
	return slices.ContainsFunc(f.around, (*surrounding).changed) || !reflect.DeepEqual(f.git, f.config.gitFiles())
}

// Reads reports whether commands may list a folder, following links.
func (f *Fence) Reads(dir string) bool { return f.held.Reads(dir) }

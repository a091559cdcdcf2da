package tmux

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"buddy/texts"
	"buddy/tmux/pane"
)

// plain is a supervisor in this process, without a terminal.
type plain struct {
	opt  Options
	name string // of its directory
	base *plain // the shell whose state it copies at the start; nil for none

	mu  sync.Mutex // guards the fields below
	dir string
	srv *pane.Server
}

func (p *plain) dial() (net.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.srv == nil {
		pane.Adopt() // so that processes that commands leave behind can be traced to them
		env := cleanEnv(p.opt.Env)
		dir, err := pane.MakeDir(texts.Lookup(env), p.name)
		if err != nil {
			return nil, err
		}
		if p.base != nil {
			if err := pane.CopyState(p.base.directory(), dir); err != nil {
				return nil, fmt.Errorf("the state of the shell was not copied: %w", err)
			}
		}
		shell, err := pane.NewShell(dir, nil, p.opt.Shell)
		if err != nil {
			return nil, err
		}
		g := p.opt.Greeting
		g.Env = env
		shell.Greet(g)
		p.dir, p.srv = dir, pane.NewServer(shell)
	}
	ours, theirs := net.Pipe()
	go p.srv.ServeConn(theirs)
	return ours, nil
}

// directory returns the supervisor's directory, "" before the first command.
func (p *plain) directory() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dir
}

func (p *plain) run(ctx context.Context, dir string, mode Mode, within pane.Sandboxed) (job, error) {
	return over(p.dial, func(c net.Conn) (*pane.Job, error) { return pane.Run(ctx, c, dir, mode, within) })
}

func (p *plain) attach(_ context.Context, dir string) (job, error) {
	return over(p.dial, func(c net.Conn) (*pane.Job, error) { return pane.Attach(c, dir) })
}

// respawn does nothing, because a process that survives SIGKILL cannot be replaced.
func (p *plain) respawn(context.Context) error { return nil }

func (p *plain) pane() string { return "" }

func (p *plain) close(context.Context) ([]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.srv == nil {
		return nil, nil
	}
	p.srv.Shutdown("the session was closed", time.Second)
	return nil, os.RemoveAll(p.dir)
}

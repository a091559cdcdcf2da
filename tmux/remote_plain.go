package tmux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"buddy/tmux/pane"
)

// remotePlain is the supervisor of a target in a separate process without a terminal. It ends with the connection.
type remotePlain struct {
	sup  *remote
	base *remote // the shell whose state is copied at the start; nil for none

	making sync.Mutex // held while the process is started or ended; guards the fields below
	proc   *exec.Cmd
	in     io.Closer
}

func newRemotePlain(o Options, name string, base *remote) *remotePlain {
	p := &remotePlain{sup: newRemote(o, name), base: base}
	p.sup.found, p.sup.bare = func() {}, true
	return p
}

func (p *remotePlain) run(ctx context.Context, dir string, mode Mode, within pane.Sandboxed) (job, error) {
	return runOn(ctx, p.sup, func() error { return p.ensure(ctx) }, dir, mode, within)
}

// ensure starts the supervisor unless it runs.
func (p *remotePlain) ensure(ctx context.Context) error {
	p.making.Lock()
	defer p.making.Unlock()
	err := p.greet(ctx)
	if !errors.Is(err, errGone) {
		return err
	}
	p.end()
	if p.base != nil && p.base.directory() != "" {
		if err := p.sup.inherit(ctx, p.base.directory()); err != nil {
			return err
		}
	}
	argv := p.sup.argv()
	cmd, err := p.sup.host.Command(context.WithoutCancel(ctx), argv...)
	if err != nil {
		return err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.proc, p.in = cmd, in
	ctx, stop := context.WithTimeout(ctx, startLimit)
	defer stop()
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		if err = p.greet(ctx); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: the supervisor does not answer: %w", p.sup.host.Name(), err)
		case <-time.After(wait):
		}
	}
}

func (p *remotePlain) greet(ctx context.Context) error {
	if err := p.sup.prepare(ctx); err != nil {
		return err
	}
	_, _, err := p.sup.greet(ctx, func(string) {})
	return err
}

// end ends the process: its supervisor sees the end of its input.
func (p *remotePlain) end() {
	if p.proc == nil {
		return
	}
	_ = p.in.Close()
	ended := make(chan struct{})
	go func() { _ = p.proc.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(startLimit):
		_ = p.proc.Process.Kill()
		<-ended
	}
	p.proc = nil
}

func (p *remotePlain) attach(ctx context.Context, dir string) (job, error) {
	p.making.Lock()
	err := p.greet(ctx)
	p.making.Unlock()
	if err != nil {
		return nil, err
	}
	return p.sup.attach(ctx, dir)
}

func (p *remotePlain) respawn(context.Context) error {
	p.making.Lock()
	defer p.making.Unlock()
	p.end()
	return nil
}

func (p *remotePlain) pane() string { return "" }

func (p *remotePlain) close(ctx context.Context) ([]string, error) {
	p.making.Lock()
	defer p.making.Unlock()
	defer p.sup.drop()
	if p.proc == nil {
		return nil, nil
	}
	p.end()
	return nil, p.sup.remove(ctx)
}

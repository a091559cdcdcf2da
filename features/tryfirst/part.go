// Package tryfirst lets the user try a command before approving it. The command runs in a sandbox that collects its
// file changes in a private folder; then the user decides whether to apply them to the workspace.
//
//	part := tryfirst.New(tryfirst.Options{…}) // a [turn.Part] and a [turn.Trier]
//	judge.At = part.Facts(judge.At)
//
// The package does nothing until the first question about a command that can be tried.
package tryfirst

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/policy"
	"buddy/agent/turn"
	"buddy/tmux/pane"
	"buddy/tmux/pane/fence"
	"buddy/tmux/pane/try"
	"buddy/tools"
	"buddy/tools/shell"
)

// code marks the warnings of this feature.
const code = "try"

// Options describe the commands of a session.
type Options struct {
	Target   string // this machine, as actions name it
	Session  string // its id
	Bases    []string
	Fence    fence.Settings
	Env      []string // of buddy
	Withheld []string // variables that commands don't get
	Shell    string   // see [pane.FindShell]
	Output   int      // bytes of output for the model
	// Exported returns the variables that earlier commands left exported; nil before the first one.
	Exported func() ([]string, error)
}

// Part tries the commands of a session. Use New.
type Part struct {
	turn.Nothing
	o       Options
	session turn.Session

	possible func() error // sets layers
	layers   *layers      // nil: not known, or commands can't be tried
}

// New returns a part that tries commands.
func New(o Options) *Part {
	p := &Part{o: o}
	p.possible = sync.OnceValue(p.prepare)
	return p
}

// Name implements turn.Part.
func (*Part) Name() string { return "try" }

// Begin implements turn.Part: it completes and removes what a killed process has left. The end of the session removes
// the folder of its layers.
func (p *Part) Begin(s turn.Session) {
	p.session = s
	kept, errs := clean(p.o.Bases, p.o.Fence.Work)
	if kept > 0 {
		s.Stream.Publish(0, 0, event.Notice{Code: code, Text: "buddy ended while it applied the changes that you kept from a tried command; now all of them are applied"})
	}
	for _, err := range errs {
		s.Stream.Publish(0, 0, event.Warning{Code: code, Text: "a tried command's files were not removed: " + err.Error()})
	}
	s.Work.Go(func() {
		<-s.Context.Done()
		if p.layers != nil {
			p.layers.close()
		}
	})
}

// Facts adds to the policy's values for a target whether commands can be tried there.
func (p *Part) Facts(at func(target string) policy.Target) func(target string) policy.Target {
	return func(target string) policy.Target {
		t := at(target)
		t.Tries = p.possible
		if target != p.o.Target {
			t.Tries = func() error {
				return fmt.Errorf("it runs on %s, and only commands on this machine can be tried", target)
			}
		}
		return t
	}
}

// prepare finds a folder for layers, and returns why there is none.
func (p *Part) prepare() error {
	var first error
	for _, base := range p.o.Bases {
		l, err := newLayers(base, p.o.Fence.Work, p.o.Session)
		if err == nil {
			if err = try.Possible(p.o.Fence, p.o.Env, l.dir); err == nil {
				p.layers = l
				return nil
			}
			l.close()
		}
		if first == nil {
			first = err
		}
	}
	return reason(first)
}

// reason returns an error without its general introduction, which other texts already contain.
func reason(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, general := range []error{try.ErrImpossible, fence.ErrImpossible} {
		text = strings.TrimPrefix(text, general.Error()+": ")
	}
	return errors.New(text)
}

// Try implements turn.Trier.
func (p *Part) Try(ctx context.Context, call tools.Call, more func(context.Context, action.Tried) bool) (turn.Trial, error) {
	if err := p.possible(); err != nil {
		return nil, err
	}
	exe, err := pane.FindShell(p.o.Shell)
	if err != nil {
		return nil, err
	}
	now, err := p.o.Exported()
	if err != nil {
		return nil, fmt.Errorf("the variables of earlier commands can't be read: %w", err)
	}
	temp, err := os.MkdirTemp(p.layers.dir, "temp-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	limits := try.DefaultLimits
	began := time.Now()
	limits.More = func(ctx context.Context) bool {
		return more(ctx, action.Tried{Running: true, TookMS: time.Since(began).Milliseconds(), LimitMS: limits.Time.Milliseconds()})
	}
	r, err := try.Run(ctx, try.Config{
		Fence:  fence.Config{Settings: p.o.Fence, Env: pane.FirstEnviron(p.o.Env), Temp: temp},
		Layers: p.layers.dir, Limits: limits,
	}, try.Command{Shell: exe, Line: call.Planned.Command, Dir: call.Planned.Cwd, Now: now, Withheld: p.o.Withheld})
	if err != nil {
		return nil, reason(err)
	}
	return &trial{r: r, tried: describe(r), limit: p.o.Output, began: began}, nil
}

// trial implements turn.Trial.
type trial struct {
	r     *try.Result
	tried action.Tried
	limit int
	began time.Time
}

func (t *trial) Began() time.Time { return t.began }

func (t *trial) Tried() action.Tried { return t.tried }

func (t *trial) Conflicts() ([]string, error) { return t.r.Conflicts() }

// Keep applies the changes. If only some of them could be applied, it tries to complete them at once.
func (t *trial) Keep() error {
	err := t.r.Keep()
	if errors.Is(err, try.ErrHalf) {
		if _, again := try.Resume(t.r.Layer); again == nil {
			return nil
		}
	}
	return err
}

func (t *trial) Result() tools.Result {
	return shell.Printed(t.r.Output, t.r.Code, t.r.Took, t.limit,
		"it ran once, in a copy of the workspace without a network; the user has seen and kept its changes")
}

func (t *trial) Discard() error { return t.r.Discard() }

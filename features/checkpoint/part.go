// Package checkpoint makes the changes of commands undoable: it records the session's folders before and after each
// command that may write, and gives the log of changes ([undo.Log]) what the command has changed.
//
//	part := checkpoint.New(tree, "local") // a [turn.Part]; it records nothing before the first command that may write
//
// Commands in the read-only sandbox are not recorded. A command that continues in the background is recorded until it
// ends: what changes meanwhile counts as its change, unless another command or a file tool made it. Commands of other
// targets are not covered.
package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"buddy/agent/event"
	"buddy/agent/policy"
	"buddy/agent/turn"
	"buddy/agent/undo/snapshot"
	"buddy/tools"
)

// patience limits the time that a command waits until the files are recorded; what is not copied by then is not covered.
const patience = 2 * time.Second

// code marks the notices of this feature.
const code = "undo"

// Part records the changes of commands. Use New.
type Part struct {
	turn.Nothing
	tree    *snapshot.Tree
	target  string // of the folders
	session turn.Session

	mu    sync.Mutex // held during a scan
	open  []*running // running commands, oldest first
	off   bool       // the folder is too large, or the record can't be written
	early sync.Once  // the first scan, while the person reads the first question

	// Used during replay only.
	started map[string]string // command lines, by call
	tasks   map[int]bool      // commands in the background
}

// running is a command that has not ended.
type running struct {
	call       tools.Call
	task, turn int
	git        *gitState
	number     int  // of its task in the background; 0 for none
	earlier    bool // an earlier process started it
}

// New returns a part that records the changes of commands on a target of this machine.
func New(t *snapshot.Tree, target string) *Part {
	return &Part{tree: t, target: target, started: make(map[string]string), tasks: make(map[int]bool)}
}

// Name implements turn.Part.
func (*Part) Name() string { return "checkpoint" }

// Begin implements turn.Part.
func (p *Part) Begin(s turn.Session) {
	p.session = s
	s.Changes.Commands.Cover(p.tree, p.target, p.settle)
	s.Work.Go(func() {
		<-s.Context.Done()
		p.mu.Lock()
		defer p.mu.Unlock()
		if err := p.tree.Sweep(); err != nil {
			p.warn(fmt.Errorf("old copies of files were not removed: %w", err))
		}
	})
}

// Facts adds to the policy's values for the target that commands there can be undone.
func (p *Part) Facts(at func(target string) policy.Target) func(target string) policy.Target {
	return func(target string) policy.Target {
		t := at(target)
		if target == p.target {
			t.Undoes = p.tree.Restores
		}
		return t
	}
}

// Replay notes which commands were running when an earlier process ended. What they change until the first scan counts
// as theirs.
func (p *Part) Replay(env event.Envelope) {
	switch e := env.Payload.(type) {
	case event.ToolRequested:
		if e.Action.Kind.IsCommand() && e.Action.Target == p.target {
			p.started[e.CallID] = e.Action.Command
		}
	case event.ToolStarted:
		if line, ok := p.started[e.CallID]; ok {
			c := &running{call: tools.Call{ID: e.CallID, Reader: env.Branch}, task: env.Task, turn: env.Turn, earlier: true}
			c.call.Planned.Command = line
			p.open = append(p.open, c)
			delete(p.started, e.CallID)
		}
	case event.TaskStarted:
		if n := len(p.open); e.Kind == event.ShellTask && n > 0 {
			p.open[n-1].number = e.ID // a call starts its task before it returns
		}
	case event.TaskFinished:
		p.open = slices.DeleteFunc(p.open, func(c *running) bool { return c.number == e.ID })
	case event.ToolResult:
		delete(p.started, e.CallID)
		p.open = slices.DeleteFunc(p.open, func(c *running) bool { return c.call.ID == e.CallID && c.number == 0 })
	}
}

// Asks implements turn.Part: it starts the first scan while the person reads the question.
func (p *Part) Asks(call tools.Call) {
	if !p.records(call) || p.tree.Started() {
		return
	}
	p.early.Do(func() {
		p.session.Work.Go(func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.scan(p.session.Context)
		})
	})
}

// records reports whether a call is a command whose changes are recorded.
func (p *Part) records(call tools.Call) bool {
	return call.Planned.Kind.IsCommand() && call.Planned.Target == p.target && len(call.Planned.Targets) == 0 && !call.Confined && !call.Free
}

// Around implements turn.Part.
func (p *Part) Around(ctx context.Context, a turn.Access, call *tools.Call) func(context.Context, *turn.Ran) {
	if !p.records(*call) {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c := &running{call: *call, task: a.Task(), turn: a.Turn()}
	if i := slices.IndexFunc(p.open, func(o *running) bool { return o.call.ID == call.ID }); i >= 0 {
		c = p.open[i] // it was found again after a restart
		c.earlier = false
	} else {
		p.attribute(ctx)
		c.git = gitOf(p.session.Workspace)
		p.open = append(p.open, c)
	}
	if begin := call.Begin; begin != nil {
		call.Begin = func(t tools.Task) int {
			number := begin(t)
			p.follow(c, number, t.Done)
			return number
		}
	}
	return func(ctx context.Context, _ *turn.Ran) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.end(ctx, c, c.number == 0)
	}
}

// follow records the changes of a command in the background when it ends.
func (p *Part) follow(c *running, number int, done <-chan struct{}) {
	p.mu.Lock()
	c.number = number
	p.mu.Unlock()
	p.session.Work.Go(func() {
		select {
		case <-done:
		case <-p.session.Context.Done():
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.end(context.WithoutCancel(p.session.Context), c, true)
	})
}

// end records what a command has changed; over means that it runs no longer. The caller holds p.mu.
func (p *Part) end(ctx context.Context, c *running, over bool) {
	done := p.scan(ctx)
	p.record(c, done.Changes)
	if over {
		p.open = slices.DeleteFunc(p.open, func(o *running) bool { return o == c })
	}
}

// settle records the changes of commands that still run, and warns that later ones are not known yet.
func (p *Part) settle(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.tree.Started() {
		return
	}
	p.attribute(ctx)
	for _, c := range p.open {
		if c.number != 0 {
			p.notify(fmt.Sprintf("task #%d is still running: later changes that it makes are not undone", c.number))
		}
	}
}

// attribute records changes since the last scan as those of the command that started last and still runs; without one
// they are somebody else's. The caller holds p.mu.
func (p *Part) attribute(ctx context.Context) {
	done := p.scan(ctx)
	if n := len(p.open); n > 0 && len(done.Changes) > 0 {
		p.record(p.open[n-1], done.Changes)
	}
	p.open = slices.DeleteFunc(p.open, func(c *running) bool { return c.earlier })
}

// record adds changes to the log. The caller holds p.mu.
func (p *Part) record(c *running, changes []snapshot.Change) {
	git := c.git.moved()
	if len(changes) == 0 && git == "" {
		return
	}
	if err := p.session.Changes.Commands.Ran(c.task, c.turn, c.call, changes, git); err != nil {
		p.warn(fmt.Errorf("the changes of a command can't be undone: %w", err))
	}
	c.git = gitOf(p.session.Workspace)
}

// scan records the folders. The caller holds p.mu.
func (p *Part) scan(ctx context.Context) (done snapshot.Scanned) {
	if p.off {
		return done
	}
	first := !p.tree.Started()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	done, err := p.tree.Scan(ctx)
	switch {
	case errors.Is(err, snapshot.ErrStillLarge):
		p.off = true
	case errors.Is(err, snapshot.ErrTooLarge):
		p.off = true
		p.notify("/undo does not cover commands here: " + err.Error())
	case err != nil:
		p.off = true
		p.warn(fmt.Errorf("/undo does not cover commands any more: %w", err))
	case first && ctx.Err() != nil && done.Missing > 0:
		p.notify(fmt.Sprintf("/undo does not cover the changes of this command to %d files: they could not be copied in %v", done.Missing, patience))
	}
	return done
}

func (p *Part) notify(text string) {
	p.session.Stream.Publish(0, 0, event.Notice{Text: text, Code: code})
}

func (p *Part) warn(err error) {
	p.session.Stream.Publish(0, 0, event.Warning{Text: err.Error(), Code: code})
}

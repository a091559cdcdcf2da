// Package checkpoint lets /undo revert changes that commands have made to files. It scans the session's folders
// before and after each command, and records the differences in the [undo.Log].
//
//	part := checkpoint.New(tree, "local") // a [turn.Part]; it records nothing before the first command that may write
//
// Only commands that may write are recorded, and only on this machine. If a command continues in the background, all
// changes until its end count as its own, except those that another command or a file tool has made.
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
	"buddy/texts"
	"buddy/tools"
)

// Limits of the time for copying files. Contents that are not copied in that time can't be restored.
const (
	glance   = 300 * time.Millisecond // before a question
	patience = 2 * time.Second        // before a command
	thorough = 20 * time.Second       // after a command: an undo treats contents that were not copied as somebody else's
)

// code marks the notices of this feature.
const code = "undo"

// Part records the changes of commands. Use New.
type Part struct {
	turn.Nothing
	tree    *snapshot.Tree
	target  string // of the folders
	session turn.Session

	mu   sync.Mutex // held during a scan
	open []*running // running commands, oldest first
	off  bool       // the folder is too large, or the record can't be written
	told bool       // the person knows that some files are not covered

	started map[string]requested // used during replay only: commands, by call
}

// running is a command that has not ended.
type running struct {
	call       tools.Call
	task, turn int
	git        *gitState
	number     int       // of its task in the background; 0 for none
	earlier    bool      // an earlier process started it
	since      time.Time // files from before this time are not its own; zero: the time of the last scan
}

// requested is a command that an earlier process may have started.
type requested struct {
	line string
	at   time.Time
}

// New returns a part that records the changes of commands on a target of this machine.
func New(t *snapshot.Tree, target string) *Part {
	return &Part{tree: t, target: target, started: make(map[string]requested)}
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
			t.Undoes = p.undoes
		}
		return t
	}
}

// undoes reports whether an undo restores what a command changes at and below a path. It first records the folders for
// a short time, because an approval promises the undo; the first record is then completed in the background, while the
// user reads the approval.
func (p *Part) undoes(path string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !p.tree.Started()
	p.attribute(p.session.Context, glance)
	if first && !p.off {
		p.session.Work.Go(func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.attribute(p.session.Context, patience)
		})
	}
	return !p.off && (path == p.session.Workspace || p.tree.Restores(path))
}

// Replay notes which commands were running when an earlier process ended. What they change until the first scan counts
// as theirs.
func (p *Part) Replay(env event.Envelope) {
	switch e := env.Payload.(type) {
	case event.ToolRequested:
		if e.Action.Kind.IsCommand() && e.Action.Target == p.target {
			p.started[e.CallID] = requested{e.Action.Command, time.UnixMilli(env.Time)}
		}
	case event.ToolStarted:
		if asked, ok := p.started[e.CallID]; ok {
			c := &running{call: tools.Call{ID: e.CallID, Reader: env.Branch}, task: env.Task, turn: env.Turn, earlier: true, since: asked.at}
			c.call.Planned.Command = asked.line
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
		c.earlier, c.since = false, time.Time{}
	} else {
		p.attribute(ctx, patience)
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
	return func(ctx context.Context, ran *turn.Ran) {
		p.mu.Lock()
		defer p.mu.Unlock()
		c.since = ran.Tried
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

// end records what a command has changed. over means that the command has ended. The caller holds p.mu.
func (p *Part) end(ctx context.Context, c *running, over bool) {
	p.record(c, p.scan(ctx, thorough, c.since).Changes)
	if over {
		p.open = slices.DeleteFunc(p.open, func(o *running) bool { return o == c })
	}
}

// settle records the changes of commands that still run, and returns the task numbers of commands in the background.
func (p *Part) settle(ctx context.Context) (background []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.tree.Started() {
		return nil
	}
	p.attribute(ctx, patience)
	for _, c := range p.open {
		if c.number != 0 {
			background = append(background, c.number)
		}
	}
	return background
}

// attribute records the changes since the last scan as changes of the running command that started last. If no command
// runs, they are somebody else's. The caller holds p.mu.
func (p *Part) attribute(ctx context.Context, limit time.Duration) {
	var newest *running
	var since time.Time
	if n := len(p.open); n > 0 {
		newest, since = p.open[n-1], p.open[n-1].since
	}
	if done := p.scan(ctx, limit, since); newest != nil && len(done.Changes) > 0 {
		p.record(newest, done.Changes)
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
		p.warn(fmt.Errorf("a command's changes can't be undone: %w", err))
	}
	c.git = gitOf(p.session.Workspace)
}

// scan records the folders, and copies files until the limit; see [snapshot.Tree.ScanSince]. The caller holds p.mu.
func (p *Part) scan(ctx context.Context, limit time.Duration, since time.Time) (done snapshot.Scanned) {
	if p.off {
		return done
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	done, err := p.tree.ScanSince(ctx, since)
	switch {
	case errors.Is(err, snapshot.ErrStillLarge): // the person knows this already
		p.off = true
	case errors.Is(err, snapshot.ErrTooLarge):
		p.off = true
		p.notify("/undo does not cover commands here: " + err.Error())
	case err != nil:
		p.off = true
		p.warn(fmt.Errorf("/undo does not cover commands any more: %w", err))
	case done.Store != nil && !p.told:
		p.told = true
		p.notify(fmt.Sprintf("/undo does not cover changes to %s: %v", texts.Plural(done.Missing, "file"), done.Store))
	case limit == patience && ctx.Err() != nil && done.Missing > 0 && !p.told:
		p.told = true
		p.notify(fmt.Sprintf("/undo does not cover changes to %d files: they could not be copied in %v", done.Missing, limit))
	}
	return done
}

func (p *Part) notify(text string) {
	p.session.Stream.Publish(0, 0, event.Notice{Text: text, Code: code})
}

func (p *Part) warn(err error) {
	p.session.Stream.Publish(0, 0, event.Warning{Text: err.Error(), Code: code})
}

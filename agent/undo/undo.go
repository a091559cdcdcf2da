// Package undo takes changes of files back.
//
// Its invariant: what a call is about to change is in the log, with a copy of what was there
// and with its event in the stream, before the change happens; and a step leaves the log only
// when all its files are as they were. Copies are bounded: the oldest go first, and a file
// whose copy is gone is not put back. [Log] has a lock of its own, which it does not hold
// while a target is waited for.
//
//	log := undo.New(events, filesOf, "local")
//	err := log.Keep(1, 1, call, before) // by a tool, before it writes
//	run, err := log.Begin(ctx, 1)       // for /undo
//	run.PutBack(false)
//	told := run.Finish()
package undo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"buddy/agent/event"
	"buddy/agent/stream"
	"buddy/tools"
)

// Files takes changes of files back on one target; a *file.Workspace is one.
type Files interface {
	// Restore puts files back, all or none. changed are those that somebody changed since,
	// because of which nothing was done; force puts those back as well.
	Restore(ctx context.Context, files []tools.Before, force bool) (changed []string, err error)
	// Difference returns how files differ from what they were, with mark before each name.
	Difference(ctx context.Context, files []tools.Before, mark string) (text string, count int, err error)
}

const (
	maxKept  = 64 << 20        // bytes of earlier contents that a session keeps; the oldest go first
	limit    = time.Minute     // that putting files back may take
	patience = 2 * time.Second // that it may take until the person is told
)

var errLimit = fmt.Errorf("it took longer than %v; is the target away?", limit)

// Log holds what the agent changed in files and nobody took back. It is safe for concurrent
// use; use New.
type Log struct {
	stream *stream.Stream
	files  func(ctx context.Context, target string) (Files, error)
	first  string // the target whose files are named without it

	mu    sync.Mutex              // guards all below
	works map[int]agent           // subagents, by task
	steps []step                  // the oldest first
	bytes int64                   // of the copies
	stop  context.CancelCauseFunc // ends the Undo that is under way; nil: there is none
}

// New returns an empty log. files returns those of a target; nil: changes can't be taken
// back, and nothing is kept. Files of the first target are named without it.
func New(s *stream.Stream, files func(ctx context.Context, target string) (Files, error), first string) *Log {
	return &Log{stream: s, files: files, first: first, works: make(map[int]agent)}
}

// agent is a subagent that works for a task.
type agent struct {
	parent int
	name   string // for people
}

// Works notes that a task is that of a subagent, which another task called: what it changes is
// changed for the prompt of that one.
func (l *Log) Works(e event.TaskStarted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.works[e.ID] = agent{e.Parent, fmt.Sprintf("%s #%d", e.Agent, e.ID)}
}

// Replay repeats what a stored event of a task says.
func (l *Log) Replay(task int, e event.Event) {
	if p, ok := e.(event.TaskStarted); ok && p.Kind == event.SubagentTask {
		l.Works(p)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch p := e.(type) {
	case event.FileKept:
		l.add(task, p)
	case event.FileRestored:
		l.drop(len(p.Calls))
	}
}

// Keep stores what a call of a task is about to change, and that it does ([tools.Call].Keep).
// After an error nothing may be changed.
func (l *Log) Keep(task, turn int, call tools.Call, files []tools.Before) error {
	if l.files == nil || call.Dir == "" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var now step
	if n := len(l.steps); n > 0 && l.steps[n-1].task == l.promptOf(task) {
		now = l.steps[n-1]
	}
	more := int64(0)
	e := event.FileKept{CallID: call.ID, Target: call.Planned.Target}
	for i, b := range files {
		f := event.KeptFile{Path: b.Path, Existed: b.Existed, Perm: int(b.Perm)}
		if first, ok := now.first(b.Path); ok {
			f = first
		} else if b.Existed && !b.Lost {
			f.Copy, f.Bytes = filepath.Join(call.Dir, fmt.Sprintf("before-%d", i+1)), int64(len(b.Data))
			more += f.Bytes
			l.free(more)
			if err := writeCopy(f.Copy, b.Data); err != nil {
				return err
			}
		}
		f.After = b.After
		e.Files = append(e.Files, f)
	}
	if err := l.stream.Record(task, turn, e); err != nil {
		return err
	}
	l.add(task, e)
	return nil
}

// Diff returns how the files in the log differ now from what they were: for each that does
// a line with its name after mark, then a unified diff. count is how many do.
func (l *Log) Diff(ctx context.Context, mark string) (diff string, count int, err error) {
	if l.files == nil {
		return "", 0, errors.New("changes of files are not kept here")
	}
	l.mu.Lock()
	steps := slices.Clone(l.steps)
	l.mu.Unlock()
	all, err := filesBefore(steps)
	if err != nil {
		return "", 0, err
	}
	for _, f := range all {
		on, err := l.files(ctx, f.target)
		if err != nil {
			return "", 0, err
		}
		where := mark
		if len(all) > 1 || l.elsewhere(f.target) {
			where += f.target + ":"
		}
		text, n, err := on.Difference(ctx, f.files, where)
		if err != nil {
			return "", 0, err
		}
		diff, count = diff+text, count+n
	}
	return diff, count, nil
}

// Able returns why nothing can be taken back, whatever was changed, or nil.
func (l *Log) Able() error {
	if l.files == nil {
		return errors.New("changes of files can't be taken back here")
	}
	if err := l.stream.ReadOnly(); err != nil {
		return fmt.Errorf("nothing was taken back, because it can't be recorded: %w", err)
	}
	return nil
}

// Begin prepares to take back what was changed for the newest n prompts that changed any, at least one. Until Finish it
// is under way; ctx, Cancel and a limit of time end the wait for the target.
func (l *Log) Begin(ctx context.Context, n int) (*Undo, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.steps) == 0 {
		return nil, errors.New("there is nothing to take back: no file was changed with the agent's tools for files")
	}
	u := &Undo{log: l, steps: slices.Clone(l.steps[max(0, len(l.steps)-max(1, n)):])}
	u.ctx, u.stop = context.WithCancelCause(ctx)
	l.stop = u.stop
	return u, nil
}

// Running reports whether files are being put back.
func (l *Log) Running() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stop != nil
}

// Cancel ends the wait for the target of what is being put back, if anything is.
func (l *Log) Cancel() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop != nil {
		l.stop(errors.New("cancelled"))
	}
}

// elsewhere reports whether a target is not the first one.
func (l *Log) elsewhere(target string) bool {
	return target != "" && l.first != "" && target != l.first
}

// placed names files of a target: web:/etc/hosts where that is not the first.
func (l *Log) placed(target string, paths []string) []string {
	if !l.elsewhere(target) {
		return paths
	}
	all := make([]string, len(paths))
	for i, path := range paths {
		all[i] = target + ":" + path
	}
	return all
}

// Undo takes the newest steps of a log back, once.
type Undo struct {
	log   *Log
	ctx   context.Context
	stop  context.CancelCauseFunc
	steps []step

	on      filesOn  // what is put back
	changed []string // why nothing was: these files were changed since
	err     error    // why nothing was
}

// PutBack puts the files back, all or none, and waits for that; force also does when
// somebody changed them since. The person is told when it takes long.
func (u *Undo) PutBack(force bool) {
	defer u.stop(nil)
	defer time.AfterFunc(limit, func() { u.stop(errLimit) }).Stop()
	defer time.AfterFunc(patience, func() {
		u.log.stream.Publish(0, 0, event.Notice{Text: "putting files back on " + u.steps[0].kept[0].Target + "; what you ask for waits until that is done", Code: "undo"})
	}).Stop()
	u.err = u.putBack(force)
	if u.err != nil && u.ctx.Err() != nil {
		u.err = context.Cause(u.ctx)
	}
}

// putBack is possible on one target only.
func (u *Undo) putBack(force bool) error {
	all, err := filesBefore(u.steps)
	if err != nil {
		return err
	}
	if len(all) > 1 {
		return fmt.Errorf("the files are on %s and %s, and all or none are put back: that needs one target", all[0].target, all[1].target)
	}
	on, err := u.log.files(u.ctx, all[0].target)
	if err != nil {
		return err
	}
	u.on = all[0]
	u.changed, err = on.Restore(u.ctx, u.on.files, force)
	return err
}

// Finish ends the undo: it publishes what came of it, and returns that; the zero value when nothing
// was taken back.
func (u *Undo) Finish() (e event.FileRestored) {
	l := u.log
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop = nil
	switch {
	case u.err != nil:
		l.stream.Reject("nothing was taken back: %v", u.err)
		return e
	case len(u.changed) > 0:
		l.stream.Publish(0, 0, event.Warning{
			Text: "nothing was taken back: somebody changed since: " + strings.Join(l.placed(u.on.target, u.changed), ", "), Code: "undo",
			NextStep: "/undo --force puts them back all the same, and what was changed is lost",
		})
		return e
	}
	e.Steps = len(u.steps)
	for _, s := range u.steps {
		for _, name := range s.agents {
			if !slices.Contains(e.Agents, name) {
				e.Agents = append(e.Agents, name)
			}
		}
		for _, k := range s.kept {
			e.Calls = append(e.Calls, k.CallID)
		}
	}
	for _, f := range u.on.files {
		e.Paths = append(e.Paths, f.Path)
	}
	e.Paths = l.placed(u.on.target, e.Paths)
	l.stream.Publish(0, 0, e)
	l.drop(len(e.Calls))
	return e
}

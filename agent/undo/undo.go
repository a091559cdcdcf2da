// Package undo takes changes of files back.
//
// Its invariant: what a call is about to change is in the log, with a copy of what was there
// and with its event in the stream, before the change happens, and so is what an undo is about
// to replace; a step leaves the log only when all its files are as they were, or when others
// change after an undo that was interrupted. Copies are bounded: the oldest go first, and a
// file whose copy is gone is not put back. [Log] has a lock of its own, which it does not hold
// while a target is waited for.
//
//	log := undo.New(events, filesOf, "local", ".buddyx/sessions/7f3a")
//	err := log.Keep(1, 1, call, before) // by a tool, before it writes
//	log.Failed(ctx, 1, 1, call)         // when it could not
//	run, err := log.Begin(ctx, 1)       // for /undo
//	run.PutBack(false)
//	told := run.Finish(false)
//	run.End()
//	run, err = log.BeginRedo(ctx)       // for /redo
package undo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
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
	// Contents returns what is in files now; After is empty.
	Contents(ctx context.Context, paths []string) ([]tools.Before, error)
	// Difference returns how files differ from what they were, with mark before each name.
	Difference(ctx context.Context, files []tools.Before, mark string) (text string, count int, err error)
}

const (
	maxKept  = 64 << 20        // bytes of earlier contents that a session keeps; the oldest go first
	limit    = time.Minute     // that putting files back may take
	patience = 2 * time.Second // that it may take until the person is told
)

var errLimit = fmt.Errorf("it took longer than %v; is the target reachable?", limit)

// Log holds what the agent changed in files and nobody took back. It is safe for concurrent
// use; use New.
type Log struct {
	stream *stream.Stream
	files  func(ctx context.Context, target string) (Files, error)
	first  string // the target whose files are named without it
	dir    string // where the contents are kept that an undo replaces; "": it can't be taken back

	mu      sync.Mutex              // guards all below
	works   map[int]agent           // subagents, by task
	titles  map[int]string          // of the other tasks
	said    said                    // by the person, in the main conversation
	steps   []step                  // the oldest first
	taken   []taken                 // what was taken back, the newest last
	half    *interrupted            // what began last and did not end; nil: nothing
	earlier *interrupted            // what half was before that began
	bytes   int64                   // of the copies
	stop    context.CancelCauseFunc // ends the Undo that is under way; nil: there is none
}

// said counts what a person has said in the main conversation.
type said struct {
	last  int  // the newest prompt that opened an exchange
	count int  // how many there were
	fresh bool // nothing was changed since the last one
}

// New returns an empty log. files returns those of a target; nil: changes can't be taken
// back, and nothing is kept. Files of the first target are named without it. What an undo replaces is
// kept below dir.
func New(s *stream.Stream, files func(ctx context.Context, target string) (Files, error), first, dir string) *Log {
	return &Log{stream: s, files: files, first: first, dir: dir, works: make(map[int]agent), titles: make(map[int]string)}
}

// agent is a subagent that works for a task.
type agent struct {
	parent int
	name   string // for people
}

// Begun notes a task. What that of a subagent changes is changed for the prompt of the task that called
// it.
func (l *Log) Begun(e event.TaskStarted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Kind == event.SubagentTask {
		l.works[e.ID] = agent{e.Parent, fmt.Sprintf("%s #%d", e.Agent, e.ID)}
	} else {
		l.titles[e.ID] = e.Title
	}
}

// Opened notes that a prompt opened an exchange of the main conversation.
func (l *Log) Opened(p event.PromptSubmitted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = said{p.ID, l.said.count + 1, true}
}

// Replay repeats what a stored event says.
func (l *Log) Replay(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.TaskStarted:
		l.Begun(p)
	case event.PromptSubmitted:
		if env.Branch == 0 && !p.Queued && !p.Command() && p.Kind != event.Steering {
			l.Opened(p)
		}
	case event.FileKept:
		l.mu.Lock()
		defer l.mu.Unlock()
		l.add(env.Branch, env.Task, p)
	case event.FileRestoring:
		l.mu.Lock()
		defer l.mu.Unlock()
		l.begins(env.Seq, p)
	case event.FileUnchanged:
		l.mu.Lock()
		defer l.mu.Unlock()
		if p.CallID == "" {
			l.failed()
		} else {
			l.drop(env.Branch, p.CallID)
		}
	case event.FileRestored:
		l.mu.Lock()
		defer l.mu.Unlock()
		l.restored(env.Seq, p)
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
	if n := len(l.steps); n > 0 && l.goesOn(task) {
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
	l.add(call.Reader, task, e)
	return nil
}

// Diff returns how the files in the log differ now from what they were: for each that does
// a line with its name after mark, then a unified diff. count is how many do.
func (l *Log) Diff(ctx context.Context, mark string) (diff string, count int, err error) {
	l.mu.Lock()
	steps := slices.Clone(l.steps)
	l.mu.Unlock()
	return l.diff(ctx, steps, mark)
}

// diff is Diff of some of the steps.
func (l *Log) diff(ctx context.Context, steps []step, mark string) (diff string, count int, err error) {
	if l.files == nil {
		return "", 0, errors.New("file changes are not saved here")
	}
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
		return errors.New("file changes can't be undone here")
	}
	if err := l.stream.StoreError(); err != nil {
		return fmt.Errorf("nothing was undone, because the session can't be saved: %w", err)
	}
	return nil
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

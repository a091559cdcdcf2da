// Package undo reverts changes that the agent made to files.
//
// Before a call changes files, a [Log] stores a copy of the old contents and publishes an event, and likewise before an
// undo. The unit of an undo is a step: all changes made for one prompt. A step leaves the log when all its files are
// restored. If its undo was interrupted, it leaves the log when the next change is recorded. The total size of the
// copies is limited: the oldest are removed first, and their files can't be restored any more. A Log does not hold its
// lock while it waits for a target.
//
//	log := undo.New(events, filesOf, "local", ".buddyx/sessions/7f3a")
//	err := log.Keep(1, 1, call, before) // by a tool, before it writes
//	log.Failed(ctx, 1, 1, call)         // if the tool then failed
//	run, err := log.Begin(ctx, 1)       // for /undo
//	run.PutBack(false)
//	done := run.Finish(false)
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

// Files reverts changes of files on one target; *file.Workspace implements it.
type Files interface {
	// Restore restores all files or none. If somebody has changed files since, it restores none and returns their
	// names, unless force is set.
	Restore(ctx context.Context, files []tools.Before, force bool) (changed []string, err error)
	// Contents returns the current contents of files. It leaves Before.After empty.
	Contents(ctx context.Context, paths []string) ([]tools.Before, error)
	// Forget marks that files have changed, so that a model must read them again before it changes them.
	Forget(paths []string)
	// Difference returns how files differ from the given earlier contents. mark precedes each file's name in text.
	Difference(ctx context.Context, files []tools.Before, mark string) (text string, count int, err error)
}

const (
	maxKept  = 64 << 20        // bytes of copies in a session; the oldest are removed first
	limit    = time.Minute     // for restoring files
	patience = 2 * time.Second // until the person gets a notice
)

var errLimit = fmt.Errorf("it took longer than %v; is the target reachable?", limit)

// Log holds the changes that the agent made to files and that were not reverted. It is safe for concurrent use; use
// New.
type Log struct {
	stream *stream.Stream
	files  func(ctx context.Context, target string) (Files, error)
	first  string // name of the first target, which is left out of file names
	dir    string // for copies that an undo makes; "": an undo can't be redone

	Commands *Commands // what commands change on this machine

	mu       sync.Mutex              // guards the fields below
	works    map[int]agent           // subagents, by task
	titles   map[int]string          // titles of the other tasks
	prompted prompts                 // prompts in the main conversation
	steps    []step                  // oldest first
	taken    []taken                 // undone steps, newest last
	half     *interrupted            // restore that started and did not end; nil: none
	earlier  *interrupted            // previous value of half
	bytes    int64                   // size of the copies
	stop     context.CancelCauseFunc // ends the current Undo; nil: there is none
}

// prompts counts the user's prompts in the main conversation.
type prompts struct {
	last  int  // newest prompt that opened an exchange
	count int  // number of prompts
	fresh bool // nothing was changed since the last one
}

// New returns an empty log. files returns access to the files of a target; if it is nil, changes can't be undone, and
// the log stores nothing. first is the target that file names do not mention. Copies of contents that an undo replaces
// are stored below dir.
func New(s *stream.Stream, files func(ctx context.Context, target string) (Files, error), first, dir string) *Log {
	l := &Log{stream: s, files: files, first: first, dir: dir, works: make(map[int]agent), titles: make(map[int]string)}
	l.Commands = &Commands{log: l}
	return l
}

// agent is a subagent, with the task that called it.
type agent struct {
	parent int
	name   string // for display
}

// Begun records the start of a task. Changes of a subagent belong to the prompt for which its caller works.
func (l *Log) Begun(e event.TaskStarted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Kind == event.SubagentTask {
		l.works[e.ID] = agent{e.Parent, fmt.Sprintf("%s #%d", e.Agent, e.ID)}
	} else {
		l.titles[e.ID] = e.Title
	}
}

// Opened records that a prompt started an exchange in the main conversation.
func (l *Log) Opened(p event.PromptSubmitted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prompted = prompts{p.ID, l.prompted.count + 1, true}
}

// Replay updates the log from a stored event.
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

// Keep stores the present contents of the files that a call is about to change, and publishes an event about them. It
// implements [tools.Call].Keep. After an error the call must not change anything.
func (l *Log) Keep(task, turn int, call tools.Call, files []tools.Before) error {
	if l.files == nil || call.Dir == "" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var now step
	if n := len(l.steps); n > 0 && l.inNewest(task) {
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

// Diff returns how the files in the log differ from their contents before the first recorded change, and the number of
// such files. For each file, diff has a line with mark and the file's name, then a unified diff.
func (l *Log) Diff(ctx context.Context, mark string) (diff string, count int, err error) {
	l.Commands.Settle(ctx)
	l.mu.Lock()
	steps := slices.Clone(l.steps)
	l.mu.Unlock()
	return l.diff(ctx, steps, nil, mark)
}

// diff is Diff for some steps only. It leaves out what was changed in later, the steps that follow them.
func (l *Log) diff(ctx context.Context, steps, later []step, mark string) (diff string, count int, err error) {
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
		var text string
		var n int
		switch {
		case f.commands, len(later) > 0 && f.target == l.Commands.target:
			text, n, err = l.Commands.diff(ctx, on, steps, later, where)
		case len(later) > 0:
			return "", 0, fmt.Errorf("files on %s can only be compared with the present ones", f.target)
		default:
			text, n, err = on.Difference(ctx, f.files, where)
		}
		if err != nil {
			return "", 0, err
		}
		diff, count = diff+text, count+n
	}
	return diff, count, nil
}

// Able returns nil if undo is possible in this session, otherwise the reason why not.
func (l *Log) Able() error {
	if l.files == nil {
		return errors.New("file changes can't be undone here")
	}
	if err := l.stream.StoreError(); err != nil {
		return fmt.Errorf("nothing was undone, because the session can't be saved: %w", err)
	}
	return nil
}

// Running reports whether files are being restored.
func (l *Log) Running() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stop != nil
}

// Cancel makes a running restore stop waiting for its target.
func (l *Log) Cancel() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop != nil {
		l.stop(errors.New("cancelled"))
	}
}

func (l *Log) elsewhere(target string) bool {
	return target != "" && l.first != "" && target != l.first
}

// placed returns file names that include their target, such as web:/etc/hosts, unless it is the first one.
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

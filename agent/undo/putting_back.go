package undo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/texts"
)

// maxWords limits the characters of a prompt quoted in an error.
const maxWords = 60

// maxTaken limits the undos that can still be redone; the oldest are dropped.
const maxTaken = 20

// maxPrompts limits the prompts named in an event.
const maxPrompts = 5

// taken holds the steps that one undo reverted.
type taken struct {
	steps  []step
	target string
	kept   []event.KeptFile // file contents before the undo
	list   string           // instead of kept, if commands changed files: see [event.FileKept]
	seq    uint64           // number of its event
}

// LaterError means that nothing was undone, because other prompts came after the prompt whose changes would be undone.
type LaterError struct {
	Prompt string   // first words of the prompt that would be undone
	Agents []string // subagents that made some of these changes
	Since  int      // number of later prompts
}

// Error quotes the prompt whose changes would be undone.
func (e *LaterError) Error() string {
	who := ""
	if len(e.Agents) > 0 {
		who = ", also through agents (" + strings.Join(e.Agents, ", ") + ")"
	}
	came := "you sent 1 prompt"
	if e.Since > 1 {
		came = fmt.Sprintf("you sent %d prompts", e.Since)
	}
	return fmt.Sprintf("the last file changes were made for “%s”%s, and %s after that", texts.Clip(e.Prompt, maxWords), who, came)
}

var errNothing = errors.New("nothing to undo: neither file tools nor commands have changed a file")

// Begin prepares to undo the changes of the newest n prompts that changed files. 0 means only the newest one, and then
// fails with a [LaterError] if other prompts came after it. The Undo is under way until [Undo.End]. ctx, [Log.Cancel]
// and a time limit end the wait for the target.
func (l *Log) Begin(ctx context.Context, n int) (*Undo, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.steps) == 0 {
		return nil, errNothing
	}
	if later := l.later(); n == 0 && later > 0 {
		last := l.steps[len(l.steps)-1]
		return nil, &LaterError{last.title, last.agents(), later}
	}
	return l.begin(ctx, slices.Clone(l.steps[max(0, len(l.steps)-max(1, n)):])), nil
}

// later returns the number of prompts after the last one that changed files, or 0 if what those later prompts had
// changed was just undone. l.steps must not be empty; the caller holds l.mu.
func (l *Log) later() int {
	if l.prompted.count <= l.newestPrompt() {
		return 0
	}
	return l.prompted.count - l.steps[len(l.steps)-1].prompted.count
}

// newestPrompt returns how many prompts there were when the newest change was made. Undone changes count too, so that
// the user is not asked again at each of several undos in a row. The caller holds l.mu.
func (l *Log) newestPrompt() int {
	n := l.steps[len(l.steps)-1].prompted.count
	if len(l.taken) > 0 {
		steps := l.taken[len(l.taken)-1].steps
		n = max(n, steps[len(steps)-1].prompted.count)
	}
	return n
}

// begin prepares an undo of steps, extended to all steps of an interrupted undo. The caller holds l.mu.
func (l *Log) begin(ctx context.Context, steps []step) *Undo {
	if n := len(steps); l.half.undo() && n > 0 && n < len(l.half.steps) {
		steps = slices.Clone(l.half.steps)
	}
	u := &Undo{log: l, steps: steps, again: "/undo --force"}
	u.ctx, u.stop = context.WithCancelCause(ctx)
	l.stop = u.stop
	return u
}

// BeginSince prepares to undo all changes, if any, since a prompt of the main conversation. again is the command with
// which the user can overwrite newer changes.
func (l *Log) BeginSince(ctx context.Context, prompt int, again string) *Undo {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.begin(ctx, l.since(prompt))
	u.again = again
	return u
}

func (l *Log) since(prompt int) []step {
	i := slices.IndexFunc(l.steps, func(s step) bool { return s.prompted.last >= prompt })
	if i < 0 {
		return nil
	}
	return slices.Clone(l.steps[i:])
}

// BeginRedo prepares to revert the newest undo.
func (l *Log) BeginRedo(ctx context.Context) (*Undo, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.lastTaken()
	if last == nil {
		return nil, errors.New("nothing to redo: nothing was undone")
	}
	t := *last
	if len(t.kept) == 0 && t.list == "" {
		return nil, errors.New("the undo can't be redone: the changes were not saved")
	}
	u := l.begin(ctx, t.steps)
	u.redo, u.again = &t, "/redo --force"
	return u, nil
}

// Undo reverts the newest steps of a log, or redoes an undo. It can be used once.
type Undo struct {
	log   *Log
	ctx   context.Context
	stop  context.CancelCauseFunc
	steps []step
	redo  *taken // the undo to redo; nil: the steps are undone
	again string // the command to retry with force

	on        filesOn          // files to restore
	kept      []event.KeptFile // contents of the files before the undo
	tree      treeUndo         // if commands changed files
	announced bool             // the restore was announced
	changed   []string         // files changed since, because of which nothing was done
	err       error            // why nothing was done
}

// PutBack restores all files or none, and reports whether they were restored. force restores even files that somebody
// has changed since. If the target takes long, PutBack publishes a notice and keeps waiting.
func (u *Undo) PutBack(force bool) bool {
	defer u.stop(nil)
	if len(u.steps) == 0 {
		return true
	}
	defer time.AfterFunc(limit, func() { u.stop(errLimit) }).Stop()
	defer time.AfterFunc(patience, func() {
		u.log.stream.Publish(0, 0, event.Notice{Text: "restoring files on " + u.steps[0].kept[0].Target + "; your prompts wait until that is done", Code: "undo"})
	}).Stop()
	u.err = u.putBack(force)
	if u.err != nil && u.ctx.Err() != nil {
		u.err = context.Cause(u.ctx)
	}
	return u.err == nil && len(u.changed) == 0
}

// putBack restores the files. It fails if they are on several targets.
func (u *Undo) putBack(force bool) error {
	all, err := u.wanted()
	if err != nil {
		return err
	}
	if len(all) > 1 {
		return fmt.Errorf("the files are on %s and %s; buddy restores all or none, so they must be on one target", all[0].target, all[1].target)
	}
	on, err := u.log.files(u.ctx, all[0].target)
	if err != nil {
		return err
	}
	u.on = all[0]
	if u.on.commands {
		return u.putBackTree(on, force)
	}
	if u.redo == nil && u.log.dir != "" {
		if err := u.keep(on); err != nil {
			return err
		}
	}
	if err := u.announce(); err != nil {
		return err
	}
	u.changed, err = on.Restore(u.ctx, u.on.files, force)
	return err
}

func (u *Undo) wanted() ([]filesOn, error) {
	if u.redo == nil {
		return filesBefore(u.steps)
	}
	on := filesOn{target: u.redo.target, commands: u.redo.list != ""}
	for _, f := range u.redo.kept {
		if err := on.add(f); err != nil {
			return nil, err
		}
	}
	return []filesOn{on}, nil
}

// keep stores copies of the files' current contents, so that the undo can be redone.
func (u *Undo) keep(on Files) error {
	paths := make([]string, len(u.on.files))
	for i, f := range u.on.files {
		paths[i] = f.Path
	}
	now, err := on.Contents(u.ctx, paths)
	if err != nil {
		return err
	}
	l := u.log
	l.mu.Lock()
	defer l.mu.Unlock()
	dir := filepath.Join(l.dir, fmt.Sprintf("undo-%d", l.stream.Last()))
	more := int64(0)
	for i, b := range now {
		f := event.KeptFile{Path: b.Path, Existed: b.Existed, Perm: int(b.Perm)}
		if was, ok := l.replaced(u.on.target, b); ok {
			f, u.on.files[i].After = was, was.After // nobody has changed it since
		} else if b.Existed && !b.Lost {
			f.Copy, f.Bytes = filepath.Join(dir, fmt.Sprintf("after-%d", i+1)), int64(len(b.Data))
			more += f.Bytes
			l.free(more)
			if err := writeCopy(f.Copy, b.Data); err != nil {
				return err
			}
		}
		f.After = u.on.files[i].Sum()
		u.kept = append(u.kept, f)
	}
	return nil
}

// End marks the undo as over, so that another one can begin.
func (u *Undo) End() {
	u.log.mu.Lock()
	defer u.log.mu.Unlock()
	u.log.stop = nil
}

// Finish publishes the result of the undo and returns it. It returns the zero value if nothing was reverted. rewind
// marks in the event that the conversation is rewound, too.
func (u *Undo) Finish(rewind bool) (e event.FileRestored) {
	l := u.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if u.announced && (u.err != nil || len(u.changed) > 0) {
		l.stream.Publish(0, 0, event.FileUnchanged{})
		l.failed()
	}
	switch {
	case len(u.steps) == 0:
		return e
	case u.err != nil:
		l.stream.Reject("nothing was undone: %v", u.err)
		return e
	case len(u.changed) > 0:
		l.stream.Publish(0, 0, event.Warning{
			Text: "nothing was undone, because these files have changed since: " + strings.Join(l.placed(u.on.target, u.changed), ", "), Code: "undo",
			NextStep: u.again + " restores them anyway; the newer changes are lost",
		})
		return e
	}
	e = u.event()
	e.Rewind = rewind
	l.stream.Publish(0, 0, e)
	l.restored(l.stream.Last(), e)
	u.explainGit()
	return e
}

func (u *Undo) event() event.FileRestored {
	e := event.FileRestored{Calls: callsOf(u.steps), Steps: len(u.steps), Target: u.on.target, Kept: u.kept, List: u.tree.list, Redo: u.redo != nil}
	for _, s := range u.steps {
		if s.title != "" {
			e.Prompts = append(e.Prompts, s.title)
		}
		for _, name := range s.agents() {
			if !slices.Contains(e.Agents, name) {
				e.Agents = append(e.Agents, name)
			}
		}
	}
	e.Prompts = e.Prompts[max(0, len(e.Prompts)-maxPrompts):]
	if u.on.commands {
		e.Paths, e.Count, e.Left = u.tree.paths, u.tree.count, u.tree.left
	} else {
		for _, f := range u.on.files {
			e.Paths = append(e.Paths, f.Path)
		}
	}
	e.Paths = u.log.placed(u.on.target, e.Paths)
	return e
}

// restored moves the newest steps of the log to the undone steps or, for a redo, the last undone steps back. The caller
// holds l.mu.
func (l *Log) restored(seq uint64, e event.FileRestored) {
	half := l.half
	l.forgetEarlier()
	l.half, l.earlier = nil, nil
	if e.Redo {
		if half.undo() {
			half.forget(l) // its steps are still in the log
		} else if n := len(l.taken); n > 0 {
			l.steps = append(l.steps, l.taken[n-1].steps...)
			slices.SortStableFunc(l.steps, func(a, b step) int { return a.prompted.count - b.prompted.count })
			l.forget(l.taken[n-1].kept)
			l.taken = l.taken[:n-1]
		}
		return
	}
	if !half.undo() { // an earlier version did not announce it
		l.count(e.Kept)
	}
	t := taken{l.newest(len(e.Calls)), e.Target, slices.Clone(e.Kept), e.List, seq}
	l.taken, l.steps = append(l.taken, t), l.steps[:len(l.steps)-len(t.steps)]
	if len(l.taken) > maxTaken {
		l.forget(l.taken[0].kept)
		for _, s := range l.taken[0].steps {
			for _, k := range s.kept {
				l.forget(k.Files)
			}
		}
		l.taken = slices.Clone(l.taken[1:])
	}
}

// newest returns the newest steps that together have the given number of calls. The caller holds l.mu.
func (l *Log) newest(calls int) []step {
	at := len(l.steps)
	for ; calls > 0 && at > 0; at-- {
		calls -= len(l.steps[at-1].kept)
	}
	return slices.Clone(l.steps[at:])
}

// count adds the sizes of files' copies to the total. The caller holds l.mu.
func (l *Log) count(files []event.KeptFile) {
	for _, f := range files {
		l.bytes += f.Bytes
	}
}

// forget subtracts the sizes of copies that are no longer needed from the total. The caller holds l.mu.
func (l *Log) forget(files []event.KeptFile) {
	for _, f := range files {
		l.bytes -= f.Bytes
	}
}

package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/tools"
)

// Files takes changes of files back on one target; [tools.Workspace] does.
type Files interface {
	Restore(ctx context.Context, files []tools.Before, force bool) (changed []string, err error)
	Difference(ctx context.Context, files []tools.Before, mark string) (text string, count int, err error)
}

const (
	maxKept   = 64 << 20    // bytes of earlier contents that a session keeps; the oldest go first
	undoLimit = time.Minute // that putting files back may take
)

// changes are what the agent changed in files and nobody took back, the oldest first.
type changes struct {
	steps []undoStep
	bytes int64 // of the copies
}

// undoStep is what one task changed: what it did for one prompt.
type undoStep struct {
	task int
	kept []event.FileKept
}

// add appends the changes of a call.
func (c *changes) add(task int, e event.FileKept) {
	if n := len(c.steps); n == 0 || c.steps[n-1].task != task {
		c.steps = append(c.steps, undoStep{task: task})
	}
	last := &c.steps[len(c.steps)-1]
	e.Files = slices.Clone(e.Files) // who reads the event has the other
	for i := range e.Files {
		f := &e.Files[i]
		if first, ok := last.first(f.Path); ok && first.Copy == f.Copy {
			f.Bytes = 0 // it is one copy
		}
		c.bytes += f.Bytes
	}
	last.kept = append(last.kept, e)
}

// first returns what a file was before the step.
func (s *undoStep) first(path string) (event.KeptFile, bool) {
	for _, e := range s.kept {
		for _, f := range e.Files {
			if f.Path == path {
				return f, true
			}
		}
	}
	return event.KeptFile{}, false
}

// drop forgets the newest steps, which were taken back.
func (c *changes) drop(n int) {
	for range min(n, len(c.steps)) {
		last := len(c.steps) - 1
		for _, e := range c.steps[last].kept {
			for _, f := range e.Files {
				c.bytes -= f.Bytes
			}
		}
		c.steps = c.steps[:last]
	}
}

// replay repeats what a stored event says.
func (c *changes) replay(task int, e event.Event) {
	switch p := e.(type) {
	case event.FileKept:
		c.add(task, p)
	case event.FileRestored:
		c.drop(p.Steps)
	}
}

// free removes the oldest copies until so many bytes more fit.
func (c *changes) free(more int64) {
	for _, s := range c.steps {
		for _, e := range s.kept {
			for i := range e.Files {
				if c.bytes+more <= maxKept {
					return
				}
				if f := &e.Files[i]; f.Copy != "" {
					_ = os.Remove(f.Copy) // one that is gone can't be put back, which Restore says
					c.bytes -= f.Bytes
					f.Copy, f.Bytes = "", 0
				}
			}
		}
	}
}

// keep stores what a call is about to change, and that it does (tools.Call.Keep).
func (r *Runtime) keep(t *task, turn int, j *job, files []tools.Before) error {
	if r.opts.Files == nil || j.call.Dir == "" {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.usage.changed
	var now undoStep
	if n := len(c.steps); n > 0 && c.steps[n-1].task == t.id {
		now = c.steps[n-1]
	}
	more := int64(0)
	e := event.FileKept{CallID: j.call.ID, Target: j.call.Planned.Target}
	for i, b := range files {
		f := event.KeptFile{Path: b.Path, Existed: b.Existed, Perm: int(b.Perm)}
		if first, ok := now.first(b.Path); ok {
			f = first
		} else if b.Existed && !b.Lost {
			f.Copy, f.Bytes = filepath.Join(j.call.Dir, fmt.Sprintf("before-%d", i+1)), int64(len(b.Data))
			more += f.Bytes
			c.free(more)
			if err := writeCopy(f.Copy, b.Data); err != nil {
				return err
			}
		}
		f.After = b.After
		e.Files = append(e.Files, f)
	}
	if err := r.stream.Record(t.id, turn, e); err != nil {
		return err
	}
	c.add(t.id, e)
	return nil
}

func writeCopy(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// undo puts the files back that the last prompts changed.
func (r *Runtime) undo(u event.Undo) {
	if r.opts.Files == nil {
		r.reject("changes of files can't be taken back here")
		return
	}
	if err := r.stream.ReadOnly(); err != nil {
		r.reject("nothing was taken back, because it can't be recorded: %v", err)
		return
	}
	r.mu.Lock()
	busy, all := r.busy(), r.usage.changed.steps
	steps := slices.Clone(all[max(0, len(all)-max(1, u.Steps)):])
	r.mu.Unlock()
	switch {
	case len(busy) > 0:
		r.reject("nothing can be taken back while task #%d runs", busy[0].id)
		return
	case len(steps) == 0:
		r.reject("there is nothing to take back: no file was changed with the agent's tools for files")
		return
	}
	r.beside(steps[0].kept[0].Target, func(ctx context.Context) func() { return r.takeBack(ctx, steps, u.Force) })
}

// takeBack puts files back and returns what says what came of it, for a caller that holds r.mu.
func (r *Runtime) takeBack(ctx context.Context, steps []undoStep, force bool) (tell func()) {
	target, files, changed, err := r.putBack(ctx, steps, force)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return func() {
		switch {
		case err != nil:
			r.reject("nothing was taken back: %v", err)
		case len(changed) > 0:
			r.emit(0, 0, event.Warning{
				Text: "nothing was taken back: somebody changed since: " + strings.Join(r.placed(target, changed), ", "), Code: "undo",
				NextStep: "/undo --force puts them back all the same, and what was changed is lost",
			})
		default:
			r.restored(steps, target, files)
		}
	}
}

// putBack puts files back, all or none, which is possible on one target only.
func (r *Runtime) putBack(ctx context.Context, steps []undoStep, force bool) (target string, files []tools.Before, changed []string, err error) {
	before, err := r.before(steps)
	if err != nil {
		return "", nil, nil, err
	}
	if len(before) > 1 {
		return "", nil, nil, fmt.Errorf("the files are on %s and %s, and all or none are put back: that needs one target", before[0].target, before[1].target)
	}
	on, err := r.opts.Files(ctx, before[0].target)
	if err != nil {
		return "", nil, nil, err
	}
	changed, err = on.Restore(ctx, before[0].files, force)
	return before[0].target, before[0].files, changed, err
}

// elsewhere says that a target is not the first one.
func (r *Runtime) elsewhere(target string) bool {
	return target != "" && r.opts.Target != "" && target != r.opts.Target
}

// placed names files of a target: web:/etc/hosts where that is not the first.
func (r *Runtime) placed(target string, paths []string) []string {
	if !r.elsewhere(target) {
		return paths
	}
	all := make([]string, len(paths))
	for i, path := range paths {
		all[i] = target + ":" + path
	}
	return all
}

// restored records that steps were taken back, and tells the model. The caller holds r.mu.
func (r *Runtime) restored(steps []undoStep, target string, files []tools.Before) {
	e := event.FileRestored{Steps: len(steps)}
	for _, s := range steps {
		for _, k := range s.kept {
			e.Calls = append(e.Calls, k.CallID)
		}
	}
	for _, f := range files {
		e.Paths = append(e.Paths, f.Path)
	}
	e.Paths = r.placed(target, e.Paths)
	r.emit(0, 0, e)
	r.usage.changed.drop(len(steps))
	told := event.ReminderAttached{Kinds: []string{"undo"}, Text: "<system-reminder>The user took back changes that you made (/undo). " +
		"These files are again as they were before; read one before you change it:\n" + strings.Join(e.Paths, "\n") + "</system-reminder>"}
	r.attach(r.main, 0, 0, told)
}

// filesOn are files of one target.
type filesOn struct {
	target string
	files  []tools.Before
}

// before is what files were before some steps, and what they are to be now, by target.
func (r *Runtime) before(steps []undoStep) ([]filesOn, error) {
	var all []filesOn
	for _, s := range steps {
		for _, e := range s.kept {
			i := slices.IndexFunc(all, func(f filesOn) bool { return f.target == e.Target })
			if i < 0 {
				i, all = len(all), append(all, filesOn{target: e.Target})
			}
			for _, f := range e.Files {
				if err := all[i].add(f); err != nil {
					return nil, err
				}
			}
		}
	}
	return all, nil
}

// add notes one more change of a file, which may be among them.
func (on *filesOn) add(f event.KeptFile) error {
	if i := slices.IndexFunc(on.files, func(b tools.Before) bool { return b.Path == f.Path }); i >= 0 {
		on.files[i].After = f.After
		return nil
	}
	b, err := beforeOf(f)
	on.files = append(on.files, b)
	return err
}

// beforeOf reads the copy of a file.
func beforeOf(f event.KeptFile) (tools.Before, error) {
	b := tools.Before{Path: f.Path, Existed: f.Existed, Perm: fs.FileMode(f.Perm).Perm(), After: f.After, Lost: f.Existed && f.Copy == ""}
	if f.Copy == "" {
		return b, nil
	}
	var err error
	b.Data, err = os.ReadFile(f.Copy)
	if errors.Is(err, fs.ErrNotExist) {
		b.Lost, err = true, nil
	}
	return b, err
}

// Changes is how the files that the agent changed in this session, and nobody put back,
// differ now from what they were: for each that does a line with its name after mark, then
// a unified diff. files counts them.
func (r *Runtime) Changes(ctx context.Context, mark string) (diff string, files int, err error) {
	if r.opts.Files == nil {
		return "", 0, errors.New("changes of files are not kept here")
	}
	r.mu.Lock()
	steps := slices.Clone(r.usage.changed.steps)
	r.mu.Unlock()
	all, err := r.before(steps)
	if err != nil {
		return "", 0, err
	}
	for _, f := range all {
		on, err := r.opts.Files(ctx, f.target)
		if err != nil {
			return "", 0, err
		}
		where := mark
		if len(all) > 1 || r.elsewhere(f.target) {
			where += f.target + ":"
		}
		text, n, err := on.Difference(ctx, f.files, where)
		if err != nil {
			return "", 0, err
		}
		diff, files = diff+text, files+n
	}
	return diff, files, nil
}

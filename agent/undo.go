package agent

import (
	"context"
	"strings"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/undo"
)

// Files takes changes of files back on one target; a *file.Workspace is one.
type Files = undo.Files

// undo puts the files back that the last prompts changed, while commands go on being taken:
// the target may be slow, or away. Prompts wait until that is over.
func (r *Runtime) undo(u event.Undo) {
	if err := r.changes.Able(); err != nil {
		r.reject("%v", err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if busy := r.busy(); len(busy) > 0 {
		r.reject("nothing can be taken back while task #%d runs", busy[0].id)
		return
	}
	run, err := r.changes.Begin(r.ctx, u.Steps)
	if err != nil {
		r.reject("%v", err)
		return
	}
	r.done.Go(func() {
		run.PutBack(u.Force)
		r.mu.Lock()
		defer r.mu.Unlock()
		if paths := run.Finish(); len(paths) > 0 {
			r.attach(r.main, 0, 0, event.ReminderAttached{Kinds: []string{"undo"}, Text: "<system-reminder>The user took back changes that you made (/undo). " +
				"These files are again as they were before; read one before you change it:\n" + strings.Join(paths, "\n") + "</system-reminder>"})
		}
		if c := r.main; c.task == nil && len(c.queue) > 0 && r.ctx.Err() == nil {
			p := c.queue[0]
			c.queue = c.queue[1:]
			r.startTask(c, event.MainTask, []event.PromptSubmitted{p}, r.exchange)
		}
	})
}

// waitsForUndo deals with a command that can't be followed while files are put back, and
// reports whether this is one.
func (r *Runtime) waitsForUndo(c event.Command) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.changes.Running() {
		return false
	}
	switch c := c.(type) {
	case event.Submit:
		if c.Shell || c.Background {
			break
		}
		if err := r.takes(model.Message{Content: c.Text, Images: c.Images}); err != nil {
			r.reject("the prompt was not taken: %v", err)
			return true
		}
		r.ids.prompt++
		p := event.PromptSubmitted{ID: r.ids.prompt, Text: c.Text, Images: c.Images, Queued: true}
		r.main.queue = append(r.main.queue, p)
		r.emit(0, 0, p)
		return true
	case event.Cancel:
		if c.Task != 0 {
			return false
		}
		r.changes.Cancel()
		return true
	case event.Continue, event.Compact, event.Undo:
	default:
		return false
	}
	r.reject("files are being put back; try again when that is done")
	return true
}

// Changes returns how the files that the agent changed in this session, and nobody put back,
// differ now from what they were: for each that does a line with its name after mark, then
// a unified diff. files counts them.
func (r *Runtime) Changes(ctx context.Context, mark string) (diff string, files int, err error) {
	return r.changes.Diff(ctx, mark)
}

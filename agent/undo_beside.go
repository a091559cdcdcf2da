package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
)

// undoPatience is how long putting files back may take until a person is told.
const undoPatience = 2 * time.Second

var errUndoLimit = fmt.Errorf("it took longer than %v; is the target away?", undoLimit)

// beside puts files of a target back while commands go on being taken: it may be slow, or
// away. Prompts wait until that is over; what work returns tells of it, when the next commands
// are taken again.
func (r *Runtime) beside(target string, work func(context.Context) (tell func())) {
	ctx, cancel := context.WithCancelCause(r.ctx)
	r.mu.Lock()
	r.usage.undo = cancel
	r.mu.Unlock()
	r.done.Go(func() {
		limit := time.AfterFunc(undoLimit, func() { cancel(errUndoLimit) })
		slow := time.AfterFunc(undoPatience, func() {
			r.emit(0, 0, event.Notice{Text: "putting files back on " + target + "; what you ask for waits until that is done", Code: "undo"})
		})
		tell := work(ctx)
		limit.Stop()
		slow.Stop()
		cancel(nil)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.usage.undo = nil
		tell()
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
	if r.usage.undo == nil {
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
		r.usage.undo(errors.New("cancelled"))
		return true
	case event.Continue, event.Compact, event.Undo:
	default:
		return false
	}
	r.reject("files are being put back; try again when that is done")
	return true
}

package agent

import (
	"context"
	"errors"

	"buddy/agent/event"
	"buddy/agent/undo"
)

// Files reverts changes of files on one target; *file.Workspace implements it.
type Files = undo.Files

// undo restores the files that the last prompts changed, while other commands are handled: the target may be slow or
// unreachable. Prompts wait until it ends.
func (r *Runtime) undo(u event.Undo) {
	if err := r.changes.Able(); err != nil {
		r.reject("%v", err)
		return
	}
	w := &way{c: event.Rewind{Files: true, Force: u.Force}, all: &wayBack{}}
	beginWay(r, w, func() (err error) {
		w.undo, err = r.changes.Begin(r.life.ctx, u.Steps)
		if later, ok := errors.AsType[*undo.LaterError](err); ok {
			r.Publish(event.Warning{Text: "nothing was undone: " + later.Error(), Code: "undo", NextStep: "/undo 1 undoes it anyway"})
			return errTold
		}
		return err
	})
}

// errTold means that the person already knows why nothing was done.
var errTold = errors.New("told")

// waitsForUndo handles a command that is not possible while files are restored, and reports whether it did.
func (r *Runtime) waitsForUndo(c event.Command) bool {
	if !r.changes.Running() {
		return false
	}
	switch c := c.(type) {
	case event.Submit:
		if !c.Shell && !c.Background {
			return false // the prompt waits in the queue
		}
	case event.Cancel:
		if c.Task != 0 {
			return false
		}
		r.changes.Cancel()
		return true
	case event.Continue, event.Compact, event.Undo, event.Rewind, event.Redo, event.Pin, event.SetGoal, event.ChangeGoal:
	default:
		return false
	}
	r.reject("an undo is running; try again when it is done")
	return true
}

// Changes returns how the files that the agent changed in this session differ from their earlier contents; files that
// were restored are left out. diff has for each file a line that consists of mark and the file's name, then a unified
// diff. files is the number of files.
func (r *Runtime) Changes(ctx context.Context, mark string) (diff string, files int, err error) {
	return r.changes.Diff(ctx, mark)
}

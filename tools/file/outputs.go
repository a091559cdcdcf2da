package file

import (
	"context"
	"fmt"
	"path/filepath"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/tools"
	"buddy/tools/fs"
)

// Outputs lets read_file and grep also read the overflow of calls: the files in dir, which is on this machine whatever
// the workspace's target is. Reading these files needs no approval, because they are results of the model's own calls.
// Other files outside the workspace are not affected. Call it before the first tool call.
func (w *Workspace) Outputs(dir string) { w.outputs = filepath.Clean(dir) }

// isOutput reports whether a path is below the folder of outputs.
func (w *Workspace) isOutput(path string) bool {
	return w.outputs != "" && texts.Below(path, w.outputs)
}

// planOutput returns the plan of a tool that reads an output. A link that leads out of the
// folder is refused.
func (w *Workspace) planOutput(tool, path, why string) (action.Action, error) {
	dir, err := fs.Local.RealPath(context.Background(), w.outputs)
	if err == nil {
		path, err = fs.Local.RealPath(context.Background(), filepath.Clean(path))
	}
	if err != nil {
		return action.Action{}, tools.Failed(err)
	}
	if !texts.Below(path, dir) {
		return action.Action{}, tools.Failed(fmt.Errorf("%q leads out of the session's output folder", texts.ClipBytes(path, 200)))
	}
	act := tools.PlanInternal(tool, why)
	act.Op, act.Path = "read a saved output from this session", path
	return act, nil
}

// planned returns the workspace and the path of an approved call.
func (w *Workspace) planned(call tools.Call) (*Workspace, string, error) {
	path, err := plannedPath(call)
	if err != nil || call.Planned.Kind != action.Internal {
		return w, path, err
	}
	if w.plan != nil && path == w.plan.path {
		return w.plan.files, path, nil
	}
	return &Workspace{files: fs.Local, secret: func(string) string { return "" }, holdsOutputs: true}, path, nil
}

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

// Outputs lets read_file and grep read what calls of the session have printed, too: the
// files in dir, which are on this machine wherever the workspace is. Nobody is asked about
// them, because the model was to see them anyway; nothing else outside the workspace opens
// with it. It comes before the first call.
func (w *Workspace) Outputs(dir string) { w.outputs = filepath.Clean(dir) }

// isOutput reports whether a path is one of them.
func (w *Workspace) isOutput(path string) bool {
	return w.outputs != "" && texts.Below(path, w.outputs)
}

// planOutput is the plan of a tool that reads an output. A link in the folder that leads out
// of it is refused.
func (w *Workspace) planOutput(tool, path, why string) (action.Action, error) {
	dir, err := fs.Local.RealPath(context.Background(), w.outputs)
	if err == nil {
		path, err = fs.Local.RealPath(context.Background(), filepath.Clean(path))
	}
	if err != nil {
		return action.Action{}, tools.Failed(err)
	}
	if !texts.Below(path, dir) {
		return action.Action{}, tools.Failed(fmt.Errorf("%q leads out of the folder of outputs", tools.Clip(path, 200)))
	}
	act := tools.PlanInternal(tool, why)
	act.Op, act.Path = "read an output of this session", path
	return act, nil
}

// planned returns the workspace in which a call works, and the path.
func (w *Workspace) planned(call tools.Call) (*Workspace, string, error) {
	path, err := plannedPath(call)
	if err != nil || call.Planned.Kind != action.Internal {
		return w, path, err
	}
	return &Workspace{files: fs.Local, secret: func(string) string { return "" }}, path, nil
}

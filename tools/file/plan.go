package file

import (
	"context"
	"fmt"
	"path/filepath"

	"buddy/agent/action"
	"buddy/tools"
	"buddy/tools/fs"
)

// Plan is the file with a session's plan, which is on this machine whatever the target of a call is. All workspaces of
// the session share it. It is safe for concurrent use.
type Plan struct {
	path  string     // absolute, a real path
	files *Workspace // files of this machine, with the plan's content as the model last read or wrote it
}

// NewPlan returns a plan stored in path, an absolute real path on this machine.
func NewPlan(path string) *Plan {
	dir := filepath.Dir(path)
	return &Plan{path: path, files: &Workspace{files: fs.Local, root: dir, home: dir, secret: func(string) string { return "" }, seen: new(Readers)}}
}

// KeepPlan lets read_file, write_file and edit_file access the plan by its absolute path, or by a path relative to a
// workspace on this machine. Call it before the first tool call.
func (w *Workspace) KeepPlan(p *Plan) { w.plan = p }

// is reports whether an argument of a tool of w names the plan. On a nil plan it returns false.
func (p *Plan) is(w *Workspace, arg string) bool {
	if p == nil {
		return false
	}
	if !filepath.IsAbs(arg) && w.files.Name() == fs.Local.Name() {
		arg = filepath.Join(w.Root(), arg)
	}
	return filepath.Clean(arg) == p.path
}

// check returns an error if the plan's file is a link, which could lead to any file.
func (p *Plan) check(ctx context.Context) error {
	real, err := fs.Local.RealPath(ctx, p.path)
	if err == nil && real != p.path {
		err = fmt.Errorf("the plan's file %s is a symbolic link to %s: nothing was done", p.path, real)
	}
	return tools.Failed(err)
}

// planRead returns the plan of a tool that reads the file of the session's plan.
func (p *Plan) planRead(tool, why string) (action.Action, error) {
	if err := p.check(context.Background()); err != nil {
		return action.Action{}, err
	}
	act := tools.PlanInternal(tool, why)
	act.Op, act.Path = "read the plan of this session", p.path
	return act, nil
}

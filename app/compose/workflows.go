package compose

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"

	"buddy/agent"
	"buddy/agent/policy"
	"buddy/app/slash"
	"buddy/extensions"
	"buddy/extensions/workflow"
	"buddy/tools/file"
	"buddy/tools/toolset"
)

// Workflows are those of a session or of a folder, and the files that were left out.
type Workflows struct {
	All      []workflow.Workflow // those that take precedence first
	Broken   []workflow.Broken
	Problems []extensions.Problem
}

// Find returns the workflow of a name. The error says why there is none, with its first mistake if
// its file has any.
func (w Workflows) Find(name string) (workflow.Workflow, error) {
	return workflow.Find(w.All, w.Broken, name)
}

// runs says how the session runs workflows.
func (p *Program) runs() agent.Workflows {
	single := ""
	if all := p.Targets.Names(); len(all) == 1 {
		single = all[0]
	}
	return agent.Workflows{
		Find: func(ctx context.Context, name string) (*workflow.Workflow, error) {
			all, err := p.Workflows(ctx)
			if err != nil {
				return nil, err
			}
			w, err := all.Find(name)
			return &w, err
		},
		Exists: p.exists, Draft: p.draft, Single: single,
	}
}

// draft writes calls as a workflow of the project, where that is on this machine, or of the person.
func (p *Program) draft(name, description string, calls []workflow.DraftCall) (string, []agent.WorkflowFile, error) {
	text, err := workflow.Draft(name, description, calls, WorkflowTools())
	if err != nil {
		return "", nil, err
	}
	var dirs []string
	if p.Dest.Name == slash.ThisMachine {
		dirs = append(dirs, filepath.Join(p.Config.Project.Dir, ".buddy"))
	}
	if mine, ok := personExtensions(); ok && len(mine.Dirs) > 0 {
		dirs = append(dirs, filepath.Join(xdg.ConfigHome, "buddy"))
	}
	var files []agent.WorkflowFile
	for _, dir := range dirs {
		path := filepath.Join(dir, string(extensions.Workflow), name+".yaml")
		files = append(files, agent.WorkflowFile{Path: path, Write: func(text string) error { return writeNew(path, text) }})
	}
	return text, files, nil
}

// writeNew writes a file that there is not yet.
func writeNew(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// exists reports whether there is a file on a target, "" for the current one.
func (p *Program) exists(ctx context.Context, target, path string) (bool, error) {
	if target == "" {
		target = p.Targets.Current()
	}
	one, err := p.Targets.Open(target)
	if err != nil {
		return false, err
	}
	return one.Files.Exists(ctx, path)
}

// WorkflowTools returns what the tools take that steps of workflows call.
func WorkflowTools() workflow.Tools {
	all := make(workflow.Tools)
	for name, args := range toolset.Arguments() {
		for _, a := range args {
			all[name] = append(all[name], workflow.Argument(a))
		}
	}
	return all
}

// workflows reads the workflows of a session.
func (x *extensionFiles) workflows(ctx context.Context) (Workflows, error) {
	items, problems, _, err := x.readKinds(ctx, extensions.Workflow)
	var w Workflows
	var left []extensions.Problem
	w.All, w.Broken, left = workflow.All(once(items), WorkflowTools())
	w.Problems = append(problems, left...)
	return w, err
}

// Workflows reads the workflows of the session, those of its project where that is.
func (p *Program) Workflows(ctx context.Context) (Workflows, error) { return p.files.workflows(ctx) }

// WorkflowsHere reads the workflows that a session in the folder of the settings would have, on this
// machine. Files are read, nothing is started.
func WorkflowsHere(o *Options) (Workflows, error) {
	c, _, _, err := LoadConfig(o)
	if err != nil {
		return Workflows{}, err
	}
	there, err := file.NewWorkspace(c.Project.Dir, policy.Secret)
	if err != nil {
		return Workflows{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), styleTime)
	defer cancel()
	files := newExtensionFiles(there, true)
	s := &Setup{Config: c, Target: slash.ThisMachine}
	files.plugins = s.pluginSources
	all, err := files.workflows(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("the workflows were not read within " + styleTime.String())
	}
	return all, err
}

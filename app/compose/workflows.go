package compose

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/adrg/xdg"

	"buddy/agent"
	"buddy/agent/policy"
	"buddy/app/project"
	"buddy/app/slash"
	"buddy/extensions"
	"buddy/extensions/workflow"
	"buddy/features/lsp"
	"buddy/tools"
	"buddy/tools/file"
	"buddy/tools/target"
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

// sessionWorkflows finds the workflows of a session, and files for them.
type sessionWorkflows struct {
	files   *project.Extensions
	targets *target.Set
	project string // the folder whose .buddy gets workflows that are saved; "" if it is not on this machine
}

// workflowsOf says how a session runs workflows.
func workflowsOf(p *Program, headless bool) agent.Workflows {
	w := sessionWorkflows{files: p.files, targets: p.Targets}
	if p.Dest.Name == slash.ThisMachine {
		w.project = p.Config.Project.Dir
	}
	o := agent.Workflows{Find: w.find, Exists: w.exists, Draft: w.draft}
	if all := p.Targets.Names(); len(all) == 1 {
		o.Single = all[0]
	}
	if p.Config.UI.SuggestWorkflows && !headless {
		o.Fitting = w.fitting()
	}
	return o
}

// fitting returns what finds the workflow that a prompt fits. Descriptions are read with the first prompt, once.
func (w sessionWorkflows) fitting() func(prompt string) (name, usage string) {
	read := sync.OnceValue(func() []workflow.Suggestion {
		ctx, cancel := context.WithTimeout(context.Background(), styleTime)
		defer cancel()
		items, _, _ := w.files.Unnamed(ctx, extensions.Workflow) // nothing is suggested of what can't be read
		return workflow.Suggestions(items)
	})
	return func(prompt string) (name, usage string) {
		fits := workflow.Fitting(read(), prompt)
		if fits == nil {
			return "", ""
		}
		ctx, cancel := context.WithTimeout(context.Background(), styleTime)
		defer cancel()
		found, err := w.find(ctx, fits.Name)
		if err != nil { // its file has mistakes, or is gone
			return "", ""
		}
		return found.Name, found.Usage()
	}
}

// find returns the workflow of a name.
func (w sessionWorkflows) find(ctx context.Context, name string) (*workflow.Workflow, error) {
	all, err := readWorkflows(ctx, w.files)
	if err != nil {
		return nil, err
	}
	found, err := all.Find(name)
	return &found, err
}

// draft writes calls as a workflow of the project, where that is on this machine, or of the person.
func (w sessionWorkflows) draft(name, description string, calls []workflow.DraftCall) (string, []agent.WorkflowFile, error) {
	text, err := workflow.Draft(name, description, calls, WorkflowTools())
	if err != nil {
		return "", nil, err
	}
	dirs := []string{filepath.Join(xdg.ConfigHome, "buddy")}
	if w.project != "" {
		dirs = append([]string{filepath.Join(w.project, ".buddy")}, dirs...)
	}
	var files []agent.WorkflowFile
	for _, dir := range dirs {
		path := filepath.Join(dir, string(extensions.Workflow), name+".yaml")
		files = append(files, agent.WorkflowFile{Path: path, Write: func(text string) error { return writeNew(path, text) }})
	}
	return text, files, nil
}

// exists reports whether there is a file on a target, "" for the current one.
func (w sessionWorkflows) exists(ctx context.Context, name, path string) (bool, error) {
	if name == "" {
		name = w.targets.Current()
	}
	one, err := w.targets.Open(ctx, name)
	if err != nil {
		return false, err
	}
	return one.Files.Exists(ctx, path)
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

// WorkflowTools returns what the tools take that steps of workflows call, also those that a session only
// has where there is something for them to do.
func WorkflowTools() workflow.Tools {
	known := toolset.Arguments()
	maps.Copy(known, tools.ArgumentsOf(lsp.New(lsp.Options{}).Tool()))
	return known
}

// readWorkflows reads the workflows of a session.
func readWorkflows(ctx context.Context, files *project.Extensions) (Workflows, error) {
	items, problems, err := files.Unnamed(ctx, extensions.Workflow)
	var w Workflows
	var left []extensions.Problem
	w.All, w.Broken, left = workflow.All(items, WorkflowTools())
	w.Problems = append(problems, left...)
	return w, err
}

// WorkflowsOf reads the workflows of a session.
func WorkflowsOf(ctx context.Context, p *Program) (Workflows, error) {
	ctx, cancel := context.WithTimeout(ctx, styleTime)
	defer cancel()
	return readWorkflows(ctx, p.files)
}

// CompletionsOf returns what arguments of commands are chosen from in a session. What can't be read in time
// is not offered.
func CompletionsOf(p *Program) slash.Offers {
	return slash.Offers{Workflows: func() []workflow.Workflow {
		ctx, cancel := context.WithTimeout(context.Background(), completeTime)
		defer cancel()
		found, _ := readWorkflows(ctx, p.files)
		return found.All
	}}
}

// completeTime limits how long a completion waits for files of a target.
const completeTime = 2 * time.Second

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
	files := project.NewExtensions(there, true)
	s := &Setup{Config: c, Target: slash.ThisMachine}
	files.Plugins = s.Project().PluginTexts
	all, err := readWorkflows(ctx, files)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("reading the workflows took longer than " + styleTime.String())
	}
	return all, err
}

package workflow

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/adrg/xdg"

	"buddy/app/project"
	"buddy/extensions"
	"buddy/extensions/workflow"
	"buddy/tools/target"
)

// Options say which workflows there are, and where runs look for files. The zero value has none.
type Options struct {
	All    func(context.Context) (Set, error)
	Exists func(ctx context.Context, target, path string) (bool, error) // whether there is a file; "" is the current target
	// Fitting returns how a workflow is started that a prompt's words fit, and its name; "" for none. nil: none is suggested.
	Fitting func(prompt string) (name, usage string)
	Single  string         // the name of the only target; "" if there are several
	Tools   workflow.Tools // which steps may call
	Dirs    []string       // that a draft may be written below
	Away    bool           // the files of workflows are not on this machine
}

// Set holds the workflows of a session or of a folder, and the files that were left out.
type Set struct {
	All      []workflow.Workflow // those that take precedence first
	Broken   []workflow.Broken
	Problems []extensions.Problem
}

// Find returns the workflow of a name. The error says why there is none, with its first mistake if
// its file has any.
func (s Set) Find(name string) (workflow.Workflow, error) {
	return workflow.Find(s.All, s.Broken, name)
}

// How long reading the files may take where nobody waits for a run.
const (
	readTime     = 5 * time.Second
	completeTime = 2 * time.Second
)

// Read reads workflows, whose steps may call some tools.
func Read(ctx context.Context, files *project.Extensions, tools workflow.Tools) (Set, error) {
	items, problems, err := files.Unnamed(ctx, extensions.Workflow)
	var s Set
	var left []extensions.Problem
	s.All, s.Broken, left = workflow.All(items, tools)
	s.Problems = append(problems, left...)
	return s, err
}

// Of returns what runs the workflows of a session that has these files, targets and tools. A draft becomes one of the
// project in a folder, where that is on this machine, or of the person.
func Of(files *project.Extensions, targets *target.Set, tools workflow.Tools, folder string, suggest bool) *Part {
	p := New(Options{
		All: func(ctx context.Context) (Set, error) { return Read(ctx, files, tools) }, Tools: tools, Away: !files.Local,
		Exists: func(ctx context.Context, name, path string) (bool, error) {
			if name == "" {
				name = targets.Current()
			}
			one, err := targets.Open(ctx, name)
			if err != nil {
				return false, err
			}
			return one.Files.Exists(ctx, path)
		},
	})
	if folder != "" && files.Local {
		p.Dirs = append(p.Dirs, filepath.Join(folder, ".buddy"))
	}
	p.Dirs = append(p.Dirs, filepath.Join(xdg.ConfigHome, "buddy"))
	if all := targets.Names(); len(all) == 1 {
		p.Single = all[0]
	}
	if suggest {
		p.Fitting = p.fitting(files)
	}
	return p
}

// fitting returns what finds the workflow that a prompt fits. Descriptions are read with the first prompt, once.
func (p *Part) fitting(files *project.Extensions) func(prompt string) (name, usage string) {
	read := sync.OnceValue(func() []workflow.Suggestion {
		ctx, cancel := context.WithTimeout(context.Background(), readTime)
		defer cancel()
		items, _, _ := files.Unnamed(ctx, extensions.Workflow) // nothing is suggested of what can't be read
		return workflow.Suggestions(items)
	})
	return func(prompt string) (name, usage string) {
		fits := workflow.Fitting(read(), prompt)
		if fits == nil {
			return "", ""
		}
		ctx, cancel := context.WithTimeout(context.Background(), readTime)
		defer cancel()
		found, err := p.Find(ctx, fits.Name)
		if err != nil { // its file has mistakes, or is gone
			return "", ""
		}
		return found.Name, found.Usage()
	}
}

// errNone says why no workflow can be run or saved.
var errNone = errors.New("there are no workflows here")

// Find returns the workflow of a name, checked.
func (p *Part) Find(ctx context.Context, name string) (*workflow.Workflow, error) {
	if p.All == nil {
		return nil, errNone
	}
	all, err := p.All(ctx)
	if err != nil {
		return nil, err
	}
	found, err := all.Find(name)
	return &found, err
}

// Offered returns the workflows that a line may name. What can't be read in time is not offered.
func (p *Part) Offered() []workflow.Workflow {
	ctx, cancel := context.WithTimeout(context.Background(), completeTime)
	defer cancel()
	found, _ := p.All(ctx)
	return found.All
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

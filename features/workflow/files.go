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

// Options configure a Part. The zero value has no workflows.
type Options struct {
	All    func(context.Context) (Set, error)
	Exists func(ctx context.Context, target, path string) (bool, error) // whether a file exists; target "" is the current one
	// Fitting returns the workflows that fit a prompt, the best first; nil: none is suggested.
	Fitting func(prompt string) []workflow.Workflow
	Quiet   bool           // suggests no workflow to the person
	Mac     func() bool    // whether commands run on a Mac; nil: they don't
	Single  string         // name of the only target, "" if there are several
	Tools   workflow.Tools // tools that steps may call
	Dirs    []string       // folders for drafts
	Away    bool           // the files of workflows are on another machine
}

// Set holds the workflows of a session or folder, and problems of other files.
type Set struct {
	All      []workflow.Workflow // in the order of precedence
	Broken   []workflow.Broken
	Problems []extensions.Problem
}

// Find returns a workflow by name. The error explains why there is none; for an invalid file it has the first mistake.
func (s Set) Find(name string) (workflow.Workflow, error) {
	return workflow.Find(s.All, s.Broken, name)
}

// Limits for reading files outside of runs.
const (
	readTime     = 5 * time.Second
	completeTime = 2 * time.Second
)

// Read reads the workflows; tools are the tools that steps may call.
func Read(ctx context.Context, files *project.Extensions, tools workflow.Tools) (Set, error) {
	items, problems, err := files.Unnamed(ctx, extensions.Workflow)
	var s Set
	var left []extensions.Problem
	s.All, s.Broken, left = workflow.All(items, tools)
	s.Problems = append(problems, left...)
	return s, err
}

// Of returns the workflows of a session. Drafts are written to the project in folder, if the project is on this
// machine, or to the person's configuration. suggest sets whether the person sees which workflows fit a prompt; mac
// means that the first target is a Mac.
func Of(files *project.Extensions, targets *target.Set, tools workflow.Tools, folder string, suggest, mac bool) *Part {
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
	p.Fitting, p.Quiet = p.fitting(files), !suggest
	p.Mac = func() bool { return mac && targets.Current() == targets.Targets()[0].Name }
	return p
}

// fitting returns a function that finds workflows for a prompt. It reads the descriptions once, with the first prompt.
func (p *Part) fitting(files *project.Extensions) func(prompt string) []workflow.Workflow {
	read := sync.OnceValue(func() []workflow.Suggestion {
		ctx, cancel := context.WithTimeout(context.Background(), readTime)
		defer cancel()
		items, _, _ := files.Unnamed(ctx, extensions.Workflow) // files that can't be read are not suggested
		return workflow.Suggestions(items)
	})
	return func(prompt string) (found []workflow.Workflow) {
		ctx, cancel := context.WithTimeout(context.Background(), readTime)
		defer cancel()
		for _, s := range workflow.Fitting(read(), prompt) {
			if w, err := p.Find(ctx, s.Name); err == nil { // otherwise its file is invalid or gone
				found = append(found, *w)
			}
		}
		return found
	}
}

// errNone is returned where workflows are not available.
var errNone = errors.New("there are no workflows here")

// Find returns a workflow by name, checked.
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

// Offered returns the workflows for completion. Those that can't be read in time are missing.
func (p *Part) Offered() []workflow.Workflow {
	ctx, cancel := context.WithTimeout(context.Background(), completeTime)
	defer cancel()
	found, _ := p.All(ctx)
	return found.All
}

// writeNew writes a file that must not exist yet.
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

package compose

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"

	"buddy/agent/instructions"
	"buddy/agent/policy"
	"buddy/tools/file"
)

// instructions returns a function that reads the instruction files: the user's on this machine and the project's on the
// target. The function returns none if the settings disable them.
func (p *Program) instructions(there *file.Workspace) func(context.Context) (instructions.Set, error) {
	wanted := p.Config.Context.Instructions
	return func(ctx context.Context) (instructions.Set, error) {
		if !wanted {
			return instructions.Set{}, nil
		}
		var sources []instructions.Source
		if mine, ok := personSource(); ok {
			sources = append(sources, mine)
		}
		home, failed := there.Home(ctx) // finds the root of a target, too
		if root := there.Root(); failed == nil {
			var chain []string
			if chain, failed = instructions.Chain(ctx, there, root); failed == nil {
				sources = append(sources, instructions.Source{
					From: instructions.Project, Files: there, Dirs: chain, Inside: chain[0], Home: home,
				})
			}
		}
		set, err := instructions.Read(ctx, sources...)
		return set, errors.Join(failed, err)
	}
}

// instructionsOf returns a function that reads the instruction files of project folders. Even if the settings disable
// these files, the function is needed, because it also adds memory entries about paths.
func (p *Program) instructionsOf(there *file.Workspace) func(context.Context, []string) (instructions.Set, error) {
	wanted := p.Config.Context.Instructions
	return func(ctx context.Context, dirs []string) (instructions.Set, error) {
		if !wanted {
			return instructions.Set{}, nil
		}
		return instructions.Read(ctx, instructions.Source{From: instructions.Project, Files: there, Dirs: dirs, Inside: there.Root()})
	}
}

// HasInstructions reports whether the project on this machine has an instruction file.
func HasInstructions(ctx context.Context) bool {
	dir, err := os.Getwd()
	if err != nil {
		return false
	}
	files, err := file.NewWorkspace(dir, policy.Secret)
	if err != nil {
		return false
	}
	chain, err := instructions.Chain(ctx, files, files.Root())
	return err == nil && instructions.Exist(ctx, files, chain)
}

// personSource returns the source of the user's own instruction files, if their folder exists.
func personSource() (instructions.Source, bool) {
	dir, err := filepath.EvalSymlinks(filepath.Join(xdg.ConfigHome, "buddy"))
	if err != nil {
		return instructions.Source{}, false
	}
	files, err := file.NewWorkspace(dir, policy.Secret)
	if err != nil {
		return instructions.Source{}, false
	}
	s := instructions.Source{From: instructions.Person, Files: files, Dirs: []string{dir}, Inside: dir}
	if home, err := os.UserHomeDir(); err == nil {
		if home, err = filepath.EvalSymlinks(home); err == nil {
			s.Home, s.Inside = home, home
		}
	}
	return s, true
}

package project

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adrg/xdg"

	"buddy/agent/instructions"
	"buddy/agent/policy"
	"buddy/extensions"
	"buddy/extensions/skill"
	"buddy/tools/file"
)

// Extensions reads the extensions of a session: the user's on this machine, the project's on the target, and the
// built-in ones.
type Extensions struct {
	There *file.Workspace // of the first target; nil reads no project
	Local bool            // whether that target is this machine
	// Plugins returns the texts of plugins, and which plugins are fully trusted; nil reads none.
	Plugins func() (texts []extensions.Source, acts map[string]bool, err error)

	mu    sync.Mutex      // guards the fields below
	acts  map[string]bool // whether a plugin's skills may run commands
	dirs  []string        // folders of this machine whose changes require another read
	began time.Time       // start of the latest read
	below []string        // folders below the working directory that hold skills, sorted

	Read chan struct{} // receives a value after each read
}

// NewExtensions returns the reader of a session's extensions. there holds the files of the first target; local means
// that the target is this machine.
func NewExtensions(there *file.Workspace, local bool) *Extensions {
	return &Extensions{There: there, Local: local, Read: make(chan struct{}, 1)}
}

// sources returns the sources of extensions. An error means that the target can't be read.
func (x *Extensions) sources(ctx context.Context) ([]extensions.Source, error) {
	all := []extensions.Source{extensions.BuiltInSource()}
	if mine, ok := PersonExtensions(); ok {
		all = append(all, mine)
	}
	if x.Plugins != nil {
		texts, acts, err := x.Plugins()
		if err != nil {
			return all, err
		}
		all = append(all, texts...)
		x.mu.Lock()
		x.acts = acts
		x.mu.Unlock()
	}
	if x.There == nil {
		return all, nil
	}
	_, err := x.There.Home(ctx) // finds the root of a target, too
	if err != nil {
		return all, err
	}
	chain, err := instructions.Chain(ctx, x.There, x.There.Root())
	if err != nil {
		return all, err
	}
	project := extensions.Source{Origin: extensions.Project, Files: x.There, Dirs: extensions.ProjectDirs(chain), Inside: chain[0]}
	return append(all, project, x.nested(chain[0])), nil
}

// nested returns the source of the skills in folders below the working directory. They come after the project's skills,
// because finding such a folder later must not change what a skill's name means.
func (x *Extensions) nested(inside string) extensions.Source {
	x.mu.Lock()
	defer x.mu.Unlock()
	var roots []string
	for _, dir := range x.below {
		roots = append(roots, extensions.SkillFolders(dir)...)
	}
	return extensions.Source{Origin: extensions.Project, Files: x.There, Inside: inside, Roots: map[extensions.Kind][]string{extensions.Skill: roots}}
}

// LookBelow records those of the given folders below the working directory that hold skills, and reports whether it has
// found a new one.
func (x *Extensions) LookBelow(ctx context.Context, dirs []string) (found bool, err error) {
	for _, dir := range dirs {
		for _, folder := range extensions.SkillFolders(dir) {
			there, err := x.There.Exists(ctx, folder)
			if err != nil {
				return found, err
			}
			found = there && x.keepBelow(dir) || found
		}
	}
	return found, nil
}

// IsFile reports whether a path exists on the target. It may start with ~/ or be relative to the working directory.
func (x *Extensions) IsFile(ctx context.Context, name string) bool {
	if x.There == nil {
		return false
	}
	home, err := x.There.Home(ctx) // finds the root of a target, too
	switch rest, ok := strings.CutPrefix(name, "~/"); {
	case err != nil || ok && home == "":
		return false
	case ok:
		name = path.Join(home, rest)
	case !path.IsAbs(name):
		name = path.Join(x.There.Root(), name)
	}
	there, err := x.There.Exists(ctx, name)
	return there && err == nil
}

// keepBelow records a folder and reports whether it is new.
func (x *Extensions) keepBelow(dir string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	i, known := slices.BinarySearch(x.below, dir)
	if !known {
		x.below = slices.Insert(x.below, i, dir)
	}
	return !known
}

// PersonExtensions returns the source of the user's extensions; ok is false without a home folder.
func PersonExtensions() (extensions.Source, bool) {
	home, err := os.UserHomeDir()
	if err != nil {
		return extensions.Source{}, false
	}
	files, err := file.NewWorkspace(home, policy.Secret)
	if err != nil {
		return extensions.Source{}, false
	}
	file.RefuseForeign(files)
	return extensions.Source{Origin: extensions.Person, Files: files, Dirs: extensions.PersonDirs(filepath.Join(xdg.ConfigHome, "buddy"), home)}, true
}

// Find reads the extensions of some kinds and resolves their names. It leaves out extensions with reserved names.
func (x *Extensions) Find(ctx context.Context, reserved func(string) bool, kinds ...extensions.Kind) ([]extensions.Item, []extensions.Problem, error) {
	began := time.Now()
	items, problems, dirs, failed := x.readKinds(ctx, kinds...)
	if slices.Contains(kinds, extensions.Skill) { // problems of agents are reported with the agents
		_, _, more, _ := x.readKinds(ctx, extensions.Agent)
		dirs = append(dirs, more...)
	}
	x.mu.Lock()
	x.dirs, x.began = dirs, began
	x.mu.Unlock()
	select {
	case x.Read <- struct{}{}:
	default:
	}
	items, clashes := extensions.Resolve(once(items), reserved)
	return items, append(problems, clashes...), failed
}

// Unnamed reads the extensions of a kind without resolving their names, so that several may have the same name.
func (x *Extensions) Unnamed(ctx context.Context, kind extensions.Kind) ([]extensions.Item, []extensions.Problem, error) {
	items, problems, _, err := x.readKinds(ctx, kind)
	return once(items), problems, err
}

// readKinds reads the extensions of some kinds. dirs are the folders on this machine that must be read again after a
// change.
func (x *Extensions) readKinds(ctx context.Context, kinds ...extensions.Kind) (items []extensions.Item, problems []extensions.Problem, dirs []string, failed error) {
	sources, failed := x.sources(ctx)
	for _, kind := range kinds {
		for _, s := range sources {
			found, err := extensions.Read(ctx, kind, s)
			failed = errors.Join(failed, err)
			items, problems = append(items, found.Items...), append(problems, found.Problems...)
			if s.Origin == extensions.Person || s.Origin == extensions.Plugin || s.Origin == extensions.Project && x.Local {
				dirs = append(dirs, found.Dirs...)
			}
		}
	}
	return items, problems, dirs, failed
}

// once removes the project's items whose files are also the user's, because a project in the home folder contains the
// user's files.
func once(items []extensions.Item) []extensions.Item {
	person := make(map[string]bool)
	for _, it := range items {
		if it.Origin == extensions.Person {
			person[it.File] = true
		}
	}
	return slices.DeleteFunc(items, func(it extensions.Item) bool { return it.Origin == extensions.Project && person[it.File] })
}

// LetPluginsAct lets the skills of trusted plugins run commands.
func (x *Extensions) LetPluginsAct(all []skill.Skill) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, s := range all {
		if plugin, _, ok := strings.Cut(s.Name, ":"); ok && s.Origin == extensions.Plugin {
			all[i].Acts = x.acts[plugin]
		}
	}
}

// WatchedDirs returns the folders whose changes require another read, and when the read that found them began.
func (x *Extensions) WatchedDirs() (dirs []string, began time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.dirs), x.began
}

package memory

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"

	"buddy/agent/instructions"
	"buddy/agent/policy"
	"buddy/app/slash"
	"buddy/features/feature"
	"buddy/sessions"
	"buddy/texts"
	files "buddy/tools/file"
)

const fileName = "memory.md"

// FileIn returns the path of a folder's memory file, given its store of sessions.
func FileIn(store sessions.Store) string { return filepath.Join(sessions.MemoryDir(store), fileName) }

// memoryOf returns the memory of a session, or of the working directory if no session runs. It reads and writes
// nothing.
func memoryOf(in feature.Session) *Store {
	set, folder, remote := settings.In(in.Config), sessions.MemoryDir(in.Store), ""
	if in.Target != slash.ThisMachine {
		remote = in.Target
	}
	o := Options{
		Session: in.ID, Target: in.Target, Limit: set.Limit, Person: in.Attended, Redact: in.Redact, Publish: in.Publish,
		Sources: func(ctx context.Context) ([]Source, error) { return sources(ctx, in.Files, remote, folder) },
	}
	if set.Observe {
		o.Dir = folder
	}
	s := Open(o)
	if !set.Enabled {
		s.off = errDisabled
	}
	return s
}

// sources returns the memory files: the person's, the project's from the root of its repository down, and this
// folder's. An error means that the target can't be read.
func sources(ctx context.Context, there *files.Workspace, remote, folder string) (all []Source, failed error) {
	above, below := filepath.Split(filepath.Dir(folder))
	inside, err := filepath.EvalSymlinks(above)
	if err != nil { // the folder is made later
		inside = filepath.Clean(above)
	}
	own := filepath.Join(inside, below, filepath.Base(folder), fileName)
	here, err := files.NewWorkspace("/", func(path string) string {
		if path == own { // allow this file even in buddy's own state, which nothing else may read
			return ""
		}
		return policy.Secret(path)
	})
	if err != nil {
		return nil, err
	}
	_, failed = there.Home(ctx) // also finds the root of a target
	root := there.Root()
	mine := filepath.Join(xdg.ConfigHome, "buddy", fileName)
	all = append(all, Source{Scope: Person, Path: mine, Files: here, Inside: personFolder(mine), Base: root})
	if failed == nil {
		var chain []string
		chain, failed = instructions.Chain(ctx, there, root)
		for _, dir := range chain {
			all = append(all, Source{Scope: Team, Path: filepath.Join(dir, ".buddy", fileName), Files: there, Inside: chain[0], Base: dir, Remote: remote})
		}
	}
	return append(all, Source{Scope: Folder, Path: filepath.Join(folder, fileName), Files: here, Inside: inside, Base: root}), failed
}

// personFolder returns the folder that must contain the person's file: the home directory, or the settings directory if
// that is elsewhere.
func personFolder(path string) string {
	dir := filepath.Dir(filepath.Dir(path))
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(path, home+"/") {
		dir = home
	}
	return texts.RealPath(dir)
}

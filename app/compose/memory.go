package compose

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/adrg/xdg"

	"buddy/agent/event"
	"buddy/agent/instructions"
	"buddy/agent/memory"
	"buddy/agent/policy"
	"buddy/agent/redact"
	"buddy/agent/reminder"
	"buddy/app/slash"
	"buddy/config"
	"buddy/sessions"
	"buddy/tools/file"
)

// memoryFile is the name of files of memory.
const memoryFile = "memory.md"

// newMemory returns the memory of the session, whose project is in there, nil where the settings say that
// there is none. attended says that somebody is there whose prompts may teach. It reads and writes nothing.
func newMemory(p *Program, there *file.Workspace, secret *redact.Redactor, attended bool) *memory.Store {
	remote := ""
	if p.Dest.Name != slash.ThisMachine {
		remote = p.Dest.Name
	}
	return openMemory(p.Config.Memory, p.Store, there, remote, memory.Options{
		Session: p.ID, Target: p.Dest.Name, Person: attended, Redact: secret,
	})
}

// OpenMemory returns the memory of the working directory, for commands that run no session; nil where
// the settings say that there is none.
func OpenMemory(o *Options) (*memory.Store, error) {
	c, _, _, err := LoadConfig(o)
	if err != nil || !c.Memory.Enabled {
		return nil, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	store, _, err := openStore(cwd, c)
	if err != nil {
		return nil, err
	}
	there, err := file.NewWorkspace(cwd, policy.Secret)
	if err != nil {
		return nil, err
	}
	return openMemory(c.Memory, store, there, "", memory.Options{Target: slash.ThisMachine, Redact: redact.New(c.Secrets()...)}), nil
}

// openMemory returns the memory of a project whose files are in there, on this machine or on a target.
func openMemory(c config.Memory, store sessions.Store, there *file.Workspace, remote string, o memory.Options) *memory.Store {
	if !c.Enabled {
		return nil
	}
	if c.Observe {
		o.Dir = sessions.MemoryDir(store)
	}
	o.Limit = c.Limit
	o.Sources = func(ctx context.Context) ([]memory.Source, error) {
		return memorySources(ctx, there, remote, sessions.MemoryDir(store))
	}
	return memory.Open(o)
}

// memorySources returns where files of memory are: the person's, the project's from the root of its
// repository down, and this folder's. An error means that the target can't be read.
func memorySources(ctx context.Context, there *file.Workspace, remote, folder string) (all []memory.Source, failed error) {
	above, below := filepath.Split(filepath.Dir(folder))
	inside, err := filepath.EvalSymlinks(above)
	if err != nil { // it will be made
		inside = filepath.Clean(above)
	}
	own := filepath.Join(inside, below, filepath.Base(folder), memoryFile)
	here, err := file.NewWorkspace("/", func(path string) string {
		if path == own { // it may be in buddy's own state, which nothing else may read
			return ""
		}
		return policy.Secret(path)
	})
	if err != nil {
		return nil, err
	}
	_, failed = there.Home(ctx) // finds the root of a target, too
	root := there.Root()
	mine := filepath.Join(xdg.ConfigHome, "buddy", memoryFile)
	all = append(all, memory.Source{Scope: memory.Person, Path: mine, Files: here, Inside: personFolder(mine), Base: root})
	if failed == nil {
		var chain []string
		chain, failed = instructions.Chain(ctx, there, root)
		for _, dir := range chain {
			all = append(all, memory.Source{Scope: memory.Team, Path: filepath.Join(dir, ".buddy", memoryFile), Files: there, Inside: chain[0], Base: dir, Remote: remote})
		}
	}
	return append(all, memory.Source{Scope: memory.Folder, Path: filepath.Join(folder, memoryFile), Files: here, Inside: inside, Base: root}), failed
}

// personFolder returns the folder that a file of the person must be in: their home, or where their
// settings are if that is elsewhere.
func personFolder(path string) string {
	dir := filepath.Dir(filepath.Dir(path))
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(path, home+"/") {
		dir = home
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// withMemory returns what reads the instruction files, memory after them. At first it learns what the
// sessions before have taught. It is nil when there is neither.
func withMemory(p *Program, read func(context.Context) (instructions.Set, error)) func(context.Context) (instructions.Set, error) {
	if p.Memory == nil {
		return read
	}
	var first sync.Once
	return func(ctx context.Context) (set instructions.Set, err error) {
		if read != nil {
			set, err = read(ctx)
		}
		first.Do(func() {
			learned, failed := p.Memory.Distill(ctx)
			if failed != nil {
				p.Live.Publish(event.Warning{Text: "nothing was learned: " + failed.Error(), Code: memory.Code})
			}
			sayOfMemory(p, learned.Text())
		})
		more, listing, failed := p.Memory.Instructions(ctx)
		sayOfMemory(p, listing.Skipped())
		sayOfMemory(p, listing.Stale())
		set.Files, set.Rules = append(set.Files, more.Files...), append(set.Rules, more.Rules...)
		return set, errors.Join(err, failed)
	}
}

func sayOfMemory(p *Program, text string) {
	if text != "" {
		p.Live.Publish(event.Notice{Text: text, Code: memory.Code})
	}
}

// rulesOfMemory returns what reads the instruction files of folders. With memory there is always one:
// entries for some paths are told by the same way.
func rulesOfMemory(p *Program, read func(context.Context, []string) (instructions.Set, error)) func(context.Context, []string) (instructions.Set, error) {
	if read == nil && p.Memory != nil {
		return func(context.Context, []string) (instructions.Set, error) { return instructions.Set{}, nil }
	}
	return read
}

// remindersOfMemory returns what models are told of a memory during a session.
func remindersOfMemory(m *memory.Store) []reminder.Generator {
	if m == nil {
		return nil
	}
	return []reminder.Generator{{Kind: reminder.Memory, Say: m.Reminder}}
}

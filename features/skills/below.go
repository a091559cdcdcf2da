package skills

import (
	"context"
	"path"
	"slices"
	"sync"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/instructions"
	"buddy/extensions"
)

// Limits of what is remembered of the files that a model used.
const (
	maxFolders = 200 // that were searched for skills
	maxFiles   = 500 // the newest, for skills that are for some files only
	maxRecent  = 50  // the newest of an earlier process, whose folders are searched before the first request
)

// below remembers the files that models have used, in whose folders skills are looked for. It is safe for concurrent use.
type below struct {
	looking sync.Mutex // held while folders are searched

	mu      sync.Mutex        // guards all below; who holds it publishes nothing
	files   []string          // that were used, the newest last
	fresh   []string          // of these, since the skills were asked for last
	folders map[string]bool   // that were searched
	asked   map[string]string // files of calls without a result yet, by call
}

// see takes up an event about a call that may have used a file of the first target.
func (b *below) see(e event.Event, target string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch p := e.(type) {
	case event.ToolRequested:
		k, here := p.Action.Kind, p.Target == "" || p.Target == target
		if here && p.Action.Path != "" && (k == action.FileRead || k == action.FileWrite) {
			b.asked[p.CallID] = p.Action.Path
		}
	case event.ToolResult:
		if file := b.asked[p.CallID]; file != "" && !p.IsError {
			b.files, b.fresh = latest(b.files, file), latest(b.fresh, file)
		}
		delete(b.asked, p.CallID)
	}
}

// latest returns files with one more as the newest.
func latest(files []string, file string) []string {
	files = append(slices.DeleteFunc(files, func(f string) bool { return f == file }), file)
	return files[max(0, len(files)-maxFiles):]
}

// used returns the files that were used, the newest last.
func (b *below) used() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.files)
}

// take returns the files that were used since the last call.
func (b *below) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	fresh := b.fresh
	b.fresh = nil
	return fresh
}

// forget lets folders be searched again when they are used the next time.
func (b *below) forget(dirs []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, dir := range dirs {
		delete(b.folders, dir)
	}
}

// newFolders returns the folders of files that were not searched yet, and notes them. A file of a
// skill lets its folder be searched again: the skill may be new.
func (b *below) newFolders(workspace string, files []string) (dirs []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, file := range files {
		folders := instructions.Below(workspace, file)
		holder := slices.IndexFunc(folders, func(dir string) bool { return slices.Contains(extensions.Holders, path.Base(dir)) })
		if holder >= 0 {
			folders = folders[:holder]
		}
		for i, dir := range folders {
			known := b.folders[dir]
			if known && i != holder-1 || slices.Contains(dirs, dir) || !known && len(b.folders) >= maxFolders {
				continue
			}
			b.folders[dir] = true
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// lookBelow takes up that files were used, most of the newest: the skills of folders that hold them, and those that are for
// such files only, are there from now on.
func (b *Book) lookBelow(ctx context.Context, most int) {
	b.below.looking.Lock()
	defer b.below.looking.Unlock()
	files := b.below.take()
	files = files[max(0, len(files)-most):]
	if dirs := b.below.newFolders(b.s.Workspace, files); len(dirs) > 0 && b.o.Below != nil {
		ctx, cancel := context.WithTimeout(ctx, readTime)
		defer cancel()
		found, err := b.o.Below(ctx, dirs)
		if err != nil {
			b.below.forget(dirs)
		}
		if found {
			b.stale.Store(true)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wake(files)
}

// wake lets the skills that are for some files only be listed if one of these is among them. The
// caller holds b.mu.
func (b *Book) wake(files []string) {
	for i, s := range b.set.Skills {
		if s.Asleep && slices.ContainsFunc(files, func(file string) bool { return s.For(b.s.Workspace, file) }) {
			b.set.Skills[i].Asleep = false
		}
	}
}

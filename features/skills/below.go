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

// Limits of the files that models used.
const (
	maxFolders = 200 // searched for skills
	maxFiles   = 500 // the newest, for skills limited to some files
	maxRecent  = 50  // the newest of an earlier process, whose folders are searched before the first request
)

// below tracks the files that models used, to find skills in their folders. It is safe for concurrent use.
type below struct {
	looking sync.Mutex // held while folders are searched

	mu      sync.Mutex        // guards all below; its holder publishes nothing
	files   []string          // used files, the newest last
	fresh   []string          // files used since the last drain
	folders map[string]bool   // searched folders
	asked   map[string]string // files of calls without a result yet, by call
}

// see tracks the file of a call on the first target.
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

// latest appends a file as the newest.
func latest(files []string, file string) []string {
	files = append(slices.DeleteFunc(files, func(f string) bool { return f == file }), file)
	return files[max(0, len(files)-maxFiles):]
}

// used returns the used files, the newest last.
func (b *below) used() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.files)
}

// drain returns the files used since its last call.
func (b *below) drain() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	fresh := b.fresh
	b.fresh = nil
	return fresh
}

// forget lets folders be searched again the next time that they are used.
func (b *below) forget(dirs []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, dir := range dirs {
		delete(b.folders, dir)
	}
}

// newFolders returns the folders of files that were not searched yet, and marks them as searched. For a skill's own
// file it always returns the folder, because the skill may be new.
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

// lookBelow adds the skills in the folders of recently used files, and wakes skills limited to such files. most limits
// the files that it looks at, starting with the newest.
func (b *Book) lookBelow(ctx context.Context, most int) {
	b.below.looking.Lock()
	defer b.below.looking.Unlock()
	files := b.below.drain()
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

// wake adds the skills that are limited to certain files to the model's list, if files has such a file. The caller
// holds b.mu.
func (b *Book) wake(files []string) {
	for i, s := range b.set.Skills {
		if s.Asleep && slices.ContainsFunc(files, func(file string) bool { return s.For(b.s.Workspace, file) }) {
			b.set.Skills[i].Asleep = false
		}
	}
}

package skills

import (
	"context"
	"path"
	"slices"

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

// below remembers the folders of files that the model has used, in which skills are looked for.
type below struct {
	files   []string          // the newest last
	folders map[string]bool   // that were searched
	asked   map[string]string // of an earlier process: files of calls without a result yet, by call
}

// Touched takes up that the model has used files: the skills of folders that hold them, and those
// that are for such files only, are there from the next request on.
func (b *Book) Touched(ctx context.Context, files []string) {
	if b.o.Read == nil || len(files) == 0 {
		return
	}
	b.mu.Lock()
	b.remember(files...)
	dirs := b.newFolders(files)
	b.mu.Unlock()
	b.search(ctx, dirs)
}

// searchAgain looks for skills in the folders that an earlier process worked in last.
func (b *Book) searchAgain() {
	b.mu.Lock()
	dirs := b.newFolders(b.below.files[max(0, len(b.below.files)-maxRecent):])
	b.mu.Unlock()
	b.search(b.whole, dirs)
}

// search looks for skills in folders.
func (b *Book) search(ctx context.Context, dirs []string) {
	if len(dirs) == 0 || b.o.Below == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	found, err := b.o.Below(ctx, dirs)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil { // they are searched the next time that they are used
		for _, dir := range dirs {
			delete(b.below.folders, dir)
		}
	}
	b.stale = b.stale || found
}

// remember keeps files that were used. The caller holds b.mu.
func (b *Book) remember(files ...string) {
	for _, file := range files {
		if i := slices.Index(b.below.files, file); i >= 0 {
			b.below.files = slices.Delete(b.below.files, i, i+1)
		}
		b.below.files = append(b.below.files, file)
	}
	if n := len(b.below.files) - maxFiles; n > 0 {
		b.below.files = slices.Delete(b.below.files, 0, n)
	}
	b.wake(files)
}

// newFolders returns the folders of files that were not searched yet, and notes them. A file of a
// skill lets its folder be searched again: the skill may be new. The caller holds b.mu.
func (b *Book) newFolders(files []string) (dirs []string) {
	for _, file := range files {
		folders := instructions.Below(b.o.Workspace, file)
		holder := slices.IndexFunc(folders, func(dir string) bool { return slices.Contains(extensions.Holders, path.Base(dir)) })
		if holder >= 0 {
			folders = folders[:holder]
		}
		for i, dir := range folders {
			known := b.below.folders[dir]
			if known && i != holder-1 || slices.Contains(dirs, dir) || !known && len(b.below.folders) >= maxFolders {
				continue
			}
			b.below.folders[dir] = true
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// wake lets the skills that are for some files only be listed if one of these is among them. The
// caller holds b.mu.
func (b *Book) wake(files []string) {
	for i, s := range b.set.Skills {
		if s.Asleep && slices.ContainsFunc(files, func(file string) bool { return s.For(b.o.Workspace, file) }) {
			b.set.Skills[i].Asleep = false
		}
	}
}

// replayFile feeds a stored event about a call that may have used a file.
func (b *Book) replayFile(e event.Event) {
	switch p := e.(type) {
	case event.ToolRequested:
		k, here := p.Action.Kind, p.Target == "" || p.Target == b.o.Target
		if here && p.Action.Path != "" && (k == action.FileRead || k == action.FileWrite) {
			b.below.asked[p.CallID] = p.Action.Path
		}
	case event.ToolResult:
		if file := b.below.asked[p.CallID]; file != "" && !p.IsError {
			b.remember(file)
		}
		delete(b.below.asked, p.CallID)
	}
}

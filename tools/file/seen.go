package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"buddy/tmux/host"
	"buddy/tools"
)

// maxSeen bounds the files that a workspace remembers. Beyond it the tenth that was not
// read for the longest time is forgotten, and has to be read again before it is changed.
const maxSeen = 10_000

// State is what a workspace knows of a file that the model read or wrote.
type State struct {
	Path     string    // absolute, symbolic links resolved
	Bytes    int64     // of the whole file
	Tokens   int       // estimate for the whole file
	Modified time.Time // when the file was changed last, as of the last read
	LastRead time.Time // when the model read or wrote it last
	Reads    int       // how often it did
}

// seenFile is a State with what tells a changed file from the one that was seen.
type seenFile struct {
	State
	sum   uint64 // of the content, unless it is larger than [fs.MaxText]
	told  bool   // that it changed
	order int64  // of the last read; clocks may stand still
}

// seenFiles remembers what the model saw. The zero value remembers nothing.
type seenFiles struct {
	mu    sync.Mutex // guards what is below
	files map[string]*seenFile
	seed  maphash.Seed
	reads int64
}

// saw remembers that s is what the model knows to be in the file at path.
func (f *seenFiles) saw(path string, s snapshot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.files == nil {
		f.files, f.seed = make(map[string]*seenFile), maphash.MakeSeed()
	}
	known, ok := f.files[path]
	if !ok {
		if len(f.files) >= maxSeen {
			f.forget()
		}
		known = &seenFile{}
		f.files[path] = known
	}
	f.reads++
	*known = seenFile{
		State: State{Path: path, Bytes: s.size, Tokens: int(s.size / 4), Modified: s.modified, LastRead: time.Now(), Reads: known.Reads + 1},
		order: f.reads,
	}
	if s.whole() {
		known.sum = maphash.Bytes(f.seed, s.data)
	}
}

// forget drops the tenth of the files that was not read for the longest time.
func (f *seenFiles) forget() {
	all := slices.SortedFunc(maps.Values(f.files), func(a, b *seenFile) int { return cmp.Compare(a.order, b.order) })
	for _, s := range all[:max(len(all)/10, 1)] {
		delete(f.files, s.Path)
	}
}

// unsee forgets a file that was deleted.
func (f *seenFiles) unsee(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.files, path)
}

// check compares s, what is in the file at path now, with what the model last saw
// there. known is false if it never read or wrote the file.
func (f *seenFiles) check(path string, s snapshot) (known, same bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	was, known := f.files[path]
	return known, known && f.same(was, s)
}

func (f *seenFiles) same(was *seenFile, s snapshot) bool {
	if was.Bytes != s.size {
		return false
	}
	if s.whole() {
		return was.sum == maphash.Bytes(f.seed, s.data)
	}
	return was.Modified.Equal(s.modified)
}

// sorted returns what is remembered, the first as less has it.
func (f *seenFiles) sorted(compare func(a, b *seenFile) int) []State {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []State
	for _, s := range slices.SortedFunc(maps.Values(f.files), compare) {
		all = append(all, s.State)
	}
	return all
}

func latest(a, b *seenFile) int { return cmp.Compare(b.order, a.order) }

// Recent returns the files that the model read or wrote, the last one first.
func (w *Workspace) Recent() []State { return w.seen.sorted(latest) }

// MostRead returns the files that the model read or wrote, the one that it did most
// often first.
func (w *Workspace) MostRead() []State {
	return w.seen.sorted(func(a, b *seenFile) int { return cmp.Or(cmp.Compare(b.Reads, a.Reads), latest(a, b)) })
}

// maxWatched is how many files are looked at for changes.
const maxWatched = 200

// Changed returns which of the files that the model read or wrote last have another
// content now, or are gone. It tells each change once; reading the file again
// begins anew. Files whose size and time are as before are not opened. On a target, whose
// times are in whole seconds, only the last four are looked at.
func (w *Workspace) Changed() []string {
	ctx, done := tools.PlanContext()
	defer done()
	var changed []string
	recent := w.Recent()
	for _, s := range recent[:min(len(recent), maxWatched/w.files.BatchSize())] { // a target takes time for each
		info, err := w.files.Lstat(ctx, s.Path)
		var down *host.DownError
		if errors.As(err, &down) {
			break
		}
		if err == nil && info.Size == s.Bytes && info.Modified.Equal(s.Modified) {
			continue
		}
		now := snapshot{}
		if err == nil {
			now, err = w.snap(ctx, s.Path)
		}
		if (err == nil || errors.Is(err, os.ErrNotExist)) && w.seen.tell(s.Path, now) {
			changed = append(changed, s.Path)
		}
	}
	slices.Sort(changed)
	return changed
}

// tell reports whether the file at path has changed to now and nobody was told yet.
func (f *seenFiles) tell(path string, now snapshot) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	was, ok := f.files[path]
	if !ok || was.told {
		return false
	}
	if now.exists && f.same(was, now) {
		was.Modified = now.modified // touched only
		return false
	}
	was.told = true
	return true
}

// mayReplace returns an error unless the model knows what is in the file at path, which
// is old. So no content is lost that it never saw, and no error tells it what is in a
// file that nobody allowed it to read.
func (w *Workspace) mayReplace(path string, old snapshot) error {
	known, same := w.seen.check(path, old)
	switch {
	case !known:
		return fmt.Errorf("%q was not read in this session, nothing was written; read it first", w.show(path))
	case !same:
		return fmt.Errorf("%q changed since you last read it, nothing was written; read it again", w.show(path))
	default:
		return nil
	}
}

// ChangedNote says which of the files that the model has read were changed by somebody
// since; "" for none. Each change is told once.
func (w *Workspace) ChangedNote(context.Context) string {
	changed := w.Changed()
	if len(changed) == 0 {
		return ""
	}
	const most = 20
	var b strings.Builder
	b.WriteString("Changed since you last read or wrote them, so read them again before you rely on them:\n")
	for i, path := range changed {
		if i == most {
			fmt.Fprintf(&b, "… and %d more\n", len(changed)-most)
			break
		}
		fmt.Fprintf(&b, "- %q\n", w.show(path))
	}
	return strings.TrimRight(b.String(), "\n")
}

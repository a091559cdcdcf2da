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

// maxSeen bounds the files that a workspace remembers. Beyond it the tenth that was not read
// for the longest time is evicted, and must be read again before it is changed.
const maxSeen = 10_000

// State describes a file that the model read or wrote.
type State struct {
	Path     string    // absolute, symbolic links resolved
	Bytes    int64     // of the whole file
	Tokens   int       // estimate for the whole file
	Modified time.Time // last modification, as of the last read
	LastRead time.Time // when the model last read or wrote it
	Reads    int       // number of reads and writes
}

// seenFile is a State with what detects a change of the file since.
type seenFile struct {
	State
	sum      uint64 // of the content, unless it is larger than [fs.MaxText]
	reported bool   // the change was reported
	order    int64  // rank of the last read; clocks may stand still
}

// seenFiles remembers the files that the model saw. The zero value is empty.
type seenFiles struct {
	mu    sync.Mutex // guards what is below
	files map[string]*seenFile
	seed  maphash.Seed
	reads int64
}

// seenBy returns what a reader knows of files; 0 is the main conversation.
func (w *Workspace) seenBy(reader int) *seenFiles {
	w.readers.Lock()
	defer w.readers.Unlock()
	if w.seen == nil {
		w.seen = make(map[int]*seenFiles)
	}
	if w.seen[reader] == nil {
		w.seen[reader] = &seenFiles{}
	}
	return w.seen[reader]
}

// forget drops a deleted file for all readers.
func (w *Workspace) forget(path string) {
	w.readers.Lock()
	defer w.readers.Unlock()
	for _, f := range w.seen {
		f.forget(path)
	}
}

// record stores s as the content that the model knows of the file at path.
func (f *seenFiles) record(path string, s snapshot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.files == nil {
		f.files, f.seed = make(map[string]*seenFile), maphash.MakeSeed()
	}
	known, ok := f.files[path]
	if !ok {
		if len(f.files) >= maxSeen {
			f.evict()
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

// evict drops the tenth of the files that was not read for the longest time.
func (f *seenFiles) evict() {
	all := slices.SortedFunc(maps.Values(f.files), func(a, b *seenFile) int { return cmp.Compare(a.order, b.order) })
	for _, s := range all[:max(len(all)/10, 1)] {
		delete(f.files, s.Path)
	}
}

// forget drops a deleted file.
func (f *seenFiles) forget(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.files, path)
}

// check compares s, the current content of the file at path, with what the model last saw.
// known is false if it never read or wrote the file.
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

// sorted returns the remembered files in the order of compare.
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

// Recent returns the files that the main model read or wrote, most recent first.
func (w *Workspace) Recent() []State { return w.seenBy(0).sorted(latest) }

// MostRead returns the files that the model read or wrote, most frequent first.
func (w *Workspace) MostRead() []State {
	return w.seenBy(0).sorted(func(a, b *seenFile) int { return cmp.Or(cmp.Compare(b.Reads, a.Reads), latest(a, b)) })
}

// maxWatched bounds the files that are checked for changes.
const maxWatched = 200

// Changed returns the recently read or written files that have other content now, or are gone.
// It reports each change once; reading the file again starts over. Files with unchanged size
// and time are not opened. On a target, whose times are in whole seconds, only the last four
// are checked.
func (w *Workspace) Changed() []string {
	ctx, done := tools.PlanContext()
	defer done()
	var changed []string
	recent := w.Recent()
	for _, s := range recent[:min(len(recent), maxWatched/w.files.BatchSize())] { // each costs time on a target
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
		if (err == nil || errors.Is(err, os.ErrNotExist)) && w.seenBy(0).reportChange(s.Path, now) {
			changed = append(changed, s.Path)
		}
	}
	slices.Sort(changed)
	return changed
}

// reportChange reports whether the file at path has changed to now and this was not reported
// yet.
func (f *seenFiles) reportChange(path string, now snapshot) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	was, ok := f.files[path]
	if !ok || was.reported {
		return false
	}
	if now.exists && f.same(was, now) {
		was.Modified = now.modified // only its time changed
		return false
	}
	was.reported = true
	return true
}

// mayReplace returns an error unless a reader knows the content old of the file at path. So
// it can't overwrite content that it never saw, and no error reveals content of a file that it
// was not allowed to read.
func (w *Workspace) mayReplace(reader int, path string, old snapshot) error {
	known, same := w.seenBy(reader).check(path, old)
	switch {
	case !known:
		return fmt.Errorf("%q was not read in this session, nothing was written; read it first", w.show(path))
	case !same:
		return fmt.Errorf("%q changed since you last read it, nothing was written; read it again", w.show(path))
	default:
		return nil
	}
}

// ChangedNote lists the files that the model has read and somebody else changed since; "" for
// none. Each change is reported once.
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

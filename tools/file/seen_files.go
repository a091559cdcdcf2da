package file

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"buddy/agent/action"
	"buddy/tools"
)

// maxSeen bounds the files that a workspace remembers. Above it, the least recently read tenth is evicted, and must be
// read again before a change.
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

// seenFile is a State with the data that detects later changes of the file.
type seenFile struct {
	State
	call     string // the call that read or wrote the file last
	sum      string // see snapshot.sum
	assumed  string // the note to the model about how the file is shown
	text     []byte // the content in UTF-8, for a diff; nil for long files, other data, or if dropped for newer texts
	reported bool   // a change was reported, but the model does not know the new content
	order    int64  // rank of the last read; several reads may have the same time
}

// seenFiles remembers the files that the model saw. The zero value is empty.
type seenFiles struct {
	mu    sync.Mutex // guards the fields below
	files map[string]*seenFile
	reads int64
	held  int  // bytes of all texts
	plain bool // keeps no texts, because nobody asks for changes
}

// Readers holds what each reader knows of files, see [tools.Call].Reader. It is safe for concurrent use; the zero value
// is empty.
type Readers struct {
	mu  sync.Mutex // guards all
	all map[int]*seenFiles
}

// by returns the files that a reader knows; reader 0 is the main conversation.
func (r *Readers) by(reader int) *seenFiles {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = make(map[int]*seenFiles)
	}
	if r.all[reader] == nil {
		r.all[reader] = &seenFiles{plain: reader != 0}
	}
	return r.all[reader]
}

// ForkReader copies the knowledge of one reader to another, except for the files of unfinished calls: underWay reports
// these, whose results the fork does not contain.
func (r *Readers) ForkReader(from, to int, underWay func(call string) bool) {
	forked := r.by(from).clone()
	for path, s := range forked.files {
		if underWay(s.call) {
			delete(forked.files, path)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all[to] = forked
}

// Unread drops a reader's knowledge of the files that were last read or written by a call for which by returns true.
func (r *Readers) Unread(reader int, by func(call string) bool) {
	f := r.by(reader)
	f.mu.Lock()
	defer f.mu.Unlock()
	for path, s := range f.files {
		if by(s.call) {
			f.held -= len(s.text)
			delete(f.files, path)
		}
	}
}

// EndReader drops the knowledge of a reader.
func (r *Readers) EndReader(reader int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, reader)
}

// clone returns a copy without texts.
func (f *seenFiles) clone() *seenFiles {
	f.mu.Lock()
	defer f.mu.Unlock()
	other := &seenFiles{files: make(map[string]*seenFile, len(f.files)), reads: f.reads, plain: true}
	for path, s := range f.files {
		one := *s
		one.text = nil
		other.files[path] = &one
	}
	return other
}

// forget drops a deleted file for all readers.
func (r *Readers) forget(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.all {
		f.forget(path)
	}
}

// See restores what a reader knew of files in an earlier process: from the result of a call or, if call is "", from a
// report of changes.
func (r *Readers) See(reader int, call string, all []action.SeenFile) {
	f := r.by(reader)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range all {
		if f.files[s.Path] == nil && call == "" {
			continue
		}
		known := f.note(call, s.Path)
		known.Bytes, known.Tokens, known.Modified, known.sum = s.Bytes, int(s.Bytes/4), time.Unix(0, s.ModifiedNS), s.Sum
		known.reported = s.Sum == ""
	}
}

// see records that the reader of a call knows s as the content of the file at path, and returns the record for the
// result of the call. The record is nil for the session's plan, because a fork keeps its plan at another path.
func see(w *Workspace, call tools.Call, path string, s snapshot) []action.SeenFile {
	if w.seen == nil { // files that never change
		return nil
	}
	sum := w.seen.by(call.Reader).record(call.ID, path, s)
	if k := call.Planned.Kind; k == action.Internal || k == action.PlanFile {
		return nil
	}
	return []action.SeenFile{{Target: w.files.Name(), Path: path, Sum: sum, Bytes: s.size, ModifiedNS: s.modified.UnixNano()}}
}

// record stores s as the content of the file at path that the reader knows from a call, and returns its sum.
func (f *seenFiles) record(call, path string, s snapshot) (sum string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.note(call, path)
	f.know(known, s)
	return known.sum
}

// note returns the entry of the file at path, and marks it as read or written by a call. The caller holds f.mu.
func (f *seenFiles) note(call, path string) *seenFile {
	if f.files == nil {
		f.files = make(map[string]*seenFile)
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
	known.Path, known.call, known.LastRead, known.Reads, known.order, known.reported = path, call, time.Now(), known.Reads+1, f.reads, false
	return known
}

// once returns assumed, a note about how the file is shown, or "" if the reader has already got this note. Nil Readers
// always return assumed.
func (r *Readers) once(reader int, path, assumed string) string {
	if r == nil {
		return assumed
	}
	f := r.by(reader)
	f.mu.Lock()
	defer f.mu.Unlock()
	known, ok := f.files[path]
	if !ok {
		return assumed
	}
	if known.assumed == assumed {
		return ""
	}
	known.assumed = assumed
	return assumed
}

// know stores s as the content that the reader now knows. The caller holds f.mu.
func (f *seenFiles) know(known *seenFile, s snapshot) {
	known.Bytes, known.Tokens, known.Modified, known.sum = s.size, int(s.size/4), s.modified, s.sum()
	f.hold(known, s)
}

// evict drops the least recently read tenth of the files.
func (f *seenFiles) evict() {
	all := slices.SortedFunc(maps.Values(f.files), func(a, b *seenFile) int { return cmp.Compare(a.order, b.order) })
	for _, s := range all[:max(len(all)/10, 1)] {
		f.held -= len(s.text)
		delete(f.files, s.Path)
	}
}

func (f *seenFiles) forget(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, ok := f.files[path]; ok {
		f.held -= len(s.text)
		delete(f.files, path)
	}
}

// check compares s, the current content of the file at path, with the content that the reader knows. known is false if
// the reader never read or wrote the file.
func (f *seenFiles) check(path string, s snapshot) (known, same bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	was, known := f.files[path]
	return known, known && was.same(s)
}

func (was *seenFile) same(s snapshot) bool { return was.Bytes == s.size && was.sum == s.sum() }

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

// Readers returns what each reader knows of the files.
func (w *Workspace) Readers() *Readers { return w.seen }

// UseReaders replaces the knowledge of all readers of a workspace. Call it before the first tool call.
func UseReaders(w *Workspace, seen *Readers) { w.seen = seen }

// Recent returns the files that the main conversation read or wrote, most recent first.
func (w *Workspace) Recent() []State { return w.seen.by(0).sorted(latest) }

// MostRead returns the files that the main conversation read or wrote, most frequent first.
func (w *Workspace) MostRead() []State {
	return w.seen.by(0).sorted(func(a, b *seenFile) int { return cmp.Or(cmp.Compare(b.Reads, a.Reads), latest(a, b)) })
}

// mayReplace returns an error unless the reader knows old, the content of the file at path. So the model can't
// overwrite content that it never saw, and no error reveals content of a file that it was not allowed to read.
func (w *Workspace) mayReplace(reader int, path string, old snapshot) error {
	known, same := w.seen.by(reader).check(path, old)
	switch {
	case !known:
		return fmt.Errorf("%q was not read since this session began or was resumed, nothing was written; read it first", w.show(path))
	case !same:
		return fmt.Errorf("%q changed since you last read it, nothing was written; read it again", w.show(path))
	default:
		return nil
	}
}

package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/google/renameio/v2"

	"buddy/texts"
)

// step is one changed line: its text before and after; "" where there is no line.
type step struct {
	src         Source
	kind        Kind
	before, now string
}

// writing is one change of files, made under their locks.
type writing struct {
	s     *Store
	files []*file
	now   []Entry // the changed entries
	gone  []Entry
	steps []step
	after func() error // called after the files are written, still under the locks; may be nil
}

// change calls edit, which changes the files, and writes them. An error of edit leaves the files as they are.
func (s *Store) change(ctx context.Context, edit func(*writing) error) (Change, error) {
	if err := s.mayWrite(); err != nil {
		return Change{}, err
	}
	sources, err := s.o.Sources(ctx)
	if err != nil {
		return Change{}, err
	}
	unlock, err := lockAll(sources)
	defer unlock()
	if err != nil {
		return Change{}, err
	}
	w := &writing{s: s}
	for _, src := range sources {
		f, problems := load(ctx, src)
		if !f.exists && len(problems) > 0 { // its content would be lost
			continue
		}
		f.doc.complete(s.today())
		w.files = append(w.files, &f)
	}
	if err := edit(w); err != nil {
		return Change{}, err
	}
	return w.write()
}

// lockAll locks the folders on this machine that exist, in sorted order, so that two processes can't block each other.
func lockAll(sources []Source) (unlock func(), err error) {
	var held []*os.File
	unlock = func() {
		for _, f := range held {
			_ = f.Close() // nothing is written to it; closing unlocks
		}
	}
	dirs := make(map[string]bool)
	for _, src := range sources {
		if src.Remote == "" {
			dirs[filepath.Dir(src.Path)] = true
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		f, err := os.Open(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return unlock, fmt.Errorf("memory: %w", err)
		}
		if again, err := isHeld(held, f); again || err != nil {
			if err = errors.Join(err, f.Close()); err != nil {
				return unlock, fmt.Errorf("memory: %w", err)
			}
			continue
		}
		held = append(held, f)
		if err := flock(f); err != nil {
			return unlock, err
		}
	}
	return unlock, nil
}

// isHeld reports whether a folder is already locked under another path.
func isHeld(held []*os.File, f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	for _, h := range held {
		if other, err := h.Stat(); err != nil || os.SameFile(info, other) {
			return true, err
		}
	}
	return false, nil
}

// file returns the writable file of a scope: the nearest one that exists, or the first.
func (w *writing) file(scope Scope) (*file, error) {
	var found *file
	for _, f := range w.files {
		if f.Scope == scope && (found == nil || f.exists) {
			found = f
		}
	}
	switch {
	case found == nil:
	case found.Remote != "":
		return nil, fmt.Errorf("%s is on %s: edit it there", found.Path, found.Remote)
	default:
		return found, nil
	}
	return nil, fmt.Errorf("no memory file for the scope %q can be read and written on this machine (/memory lists the skipped files and entries)", scope)
}

// taken reports whether an id is in use.
func (w *writing) taken(id string) bool {
	return slices.ContainsFunc(w.files, func(f *file) bool { return f.doc.find(id) >= 0 })
}

// find returns the file and the line of an entry.
func (w *writing) find(id string) (*file, int, error) {
	for _, f := range w.files {
		i := f.doc.find(id)
		switch {
		case i < 0:
			continue
		case f.Remote != "":
			return nil, 0, fmt.Errorf("%s is in %s on %s: edit it there", id, f.Path, f.Remote)
		}
		return f, i, nil
	}
	return nil, 0, fmt.Errorf("memory has no entry %q (/memory lists them)", id)
}

func (w *writing) add(f *file, e Entry) {
	e.Scope, e.File = f.Scope, f.Path
	f.doc.add(e)
	w.now = append(w.now, e)
	w.steps = append(w.steps, step{src: f.Source, kind: e.Kind, now: format(e, "")})
}

func (w *writing) replace(f *file, i int, e Entry) {
	e.Scope, e.File = f.Scope, f.Path
	before := *f.doc.lines[i].entry
	f.doc.replace(i, e)
	w.now = append(w.now, e)
	w.steps = append(w.steps, step{f.Source, e.Kind, format(before, ""), format(e, "")})
}

// confirm adds the support and the sources of a repeated entry to the first one.
func (w *writing) confirm(f *file, i int, again Entry) {
	e := *f.doc.lines[i].entry
	support := e.Note.Support() + again.Note.Support()
	e.Note = e.Note.with("support", strconv.Itoa(support)).with("checked", w.s.today())
	if from := slices.Concat(e.Note.Sources(), again.Note.Sources()); len(from) > 0 {
		e.Note = e.Note.with("from", strings.Join(from[max(0, len(from)-maxFrom):], ","))
	}
	w.replace(f, i, e)
}

// drop removes an entry that this change may have added.
func (w *writing) drop(f *file, i int) {
	id := f.doc.lines[i].entry.ID
	w.remove(f, i)
	w.now = slices.DeleteFunc(w.now, func(e Entry) bool { return e.ID == id && e.File == f.Path })
}

func (w *writing) remove(f *file, i int) {
	e := *f.doc.lines[i].entry
	e.Scope, e.File = f.Scope, f.Path
	f.doc.remove(i)
	w.gone = append(w.gone, e)
	w.steps = append(w.steps, step{f.Source, e.Kind, format(e, ""), ""})
}

// revert reverts steps. It fails if somebody has changed their lines since.
func (w *writing) revert(steps []step) error {
	for _, st := range slices.Backward(steps) {
		i := slices.IndexFunc(w.files, func(f *file) bool { return f.Path == st.src.Path })
		if i < 0 {
			return fmt.Errorf("%s can't be read", st.src.Path)
		}
		f := w.files[i]
		at := slices.IndexFunc(f.doc.lines, func(l line) bool {
			return l.entry != nil && format(*l.entry, "") == st.now
		})
		var before *Entry
		if st.before != "" {
			p := parser{kind: st.kind}
			p.line(st.before)
			p.dropDoubles()
			before = p.doc.lines[0].entry
		}
		switch {
		case st.now != "" && at < 0:
			return fmt.Errorf("%s was changed meanwhile: undo the change there", st.src.Path)
		case st.now == "":
			w.add(f, *before)
		case before == nil:
			w.remove(f, at)
		default:
			w.replace(f, at, *before)
		}
	}
	return nil
}

// write checks and writes the changed files. Files that gain lines come first, so that a moved entry is in two files,
// not lost, if a later file can't be written.
func (w *writing) write() (Change, error) {
	c := Change{Entries: w.now, Gone: w.gone}
	var gaining, losing []*file
	text := make(map[*file][]byte)
	for _, f := range w.files {
		of := func(st step) bool { return st.src.Path == f.Path }
		if !slices.ContainsFunc(w.steps, of) {
			continue
		}
		data, err := w.checked(f)
		if err != nil {
			return Change{}, err
		}
		text[f] = data
		if slices.ContainsFunc(w.steps, func(st step) bool { return of(st) && st.now != "" }) {
			gaining = append(gaining, f)
		} else {
			losing = append(losing, f)
		}
	}
	for _, f := range append(gaining, losing...) {
		if err := put(f.Source, text[f]); err != nil {
			return Change{}, err
		}
		c.Diff += udiff.Unified(f.Path, f.Path, string(f.data), string(text[f]))
	}
	w.s.recordChange(w)
	if w.after != nil {
		return c, w.after()
	}
	return c, nil
}

// checked returns the new content of a file, or an error if it would not parse to the written entries.
func (w *writing) checked(f *file) ([]byte, error) {
	data := w.titled(f)
	again, _ := parse(data)
	for _, e := range w.now {
		if e.File == f.Path && again.find(e.ID) < 0 {
			return nil, fmt.Errorf("%s has an open code block or comment where %q would be added: close it first", f.Path, e.Text)
		}
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s would have more than %d MB: forget some entries first", f.Path, maxFile>>20)
	}
	return data, nil
}

// titled returns the content of a file; a new file starts with a title.
func (w *writing) titled(f *file) []byte {
	data := f.doc.bytes()
	if f.exists {
		return data
	}
	name := map[Scope]string{Person: "Memory", Team: "Memory of " + filepath.Base(f.Base), Folder: "Memory of " + filepath.Base(f.Base) + ", on this machine"}[f.Scope]
	return append([]byte("# "+name+"\n\n"), data...)
}

// put replaces a file and creates its folder. Only the owner can read files other than the team's, and git ignores the
// folder's file.
func put(src Source, data []byte) error {
	dir, perm, dirPerm := filepath.Dir(src.Path), fs.FileMode(0o600), fs.FileMode(0o700)
	if src.Scope == Team {
		perm, dirPerm = 0o644, 0o755
	}
	if err := makeDir(dir, src.Inside, dirPerm); err != nil {
		return err
	}
	var err error
	switch src.Scope {
	case Folder:
		err = writeNew(filepath.Join(dir, ".gitignore"), "*\n", perm)
	case Team: // both sides of a merge count
		err = writeNew(filepath.Join(dir, ".gitattributes"), "memory.md merge=union\n", perm)
	}
	if err == nil {
		err = replaceFile(src, data, perm)
	}
	if err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	return nil
}

// replaceFile replaces the content of a file. A symbolic link stays, because people may keep their settings elsewhere.
func replaceFile(src Source, data []byte, perm fs.FileMode) error {
	path := src.Path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	} else if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s is a link that leads nowhere", path)
	}
	if src.Inside != "" && !texts.Below(path, src.Inside) {
		return fmt.Errorf("%s is outside %s", src.Path, src.Inside)
	}
	return renameio.WriteFile(path, data, perm, renameio.WithTempDir(filepath.Dir(path)))
}

// makeDir makes a folder. It fails if a symbolic link on the way leads out of inside, a path without symbolic links.
func makeDir(dir, inside string, perm fs.FileMode) error {
	for at := dir; ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at) {
			if _, err := os.Lstat(at); err != nil { // no dangling link
				continue
			}
		}
		if err != nil || inside != "" && !texts.Below(real, inside) && !texts.Below(inside, real) {
			return fmt.Errorf("memory: %s is not in %s", dir, inside)
		}
		break
	}
	if err := os.MkdirAll(dir, perm); err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	return nil
}

// writeNew writes a file unless it exists.
func writeNew(path, text string, perm fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	return nil
}

// recordChange stores a change for undo and for the reminders of models.
func (s *Store) recordChange(w *writing) {
	var all []Entry
	for _, f := range w.files {
		all = append(all, f.entries()...)
	}
	now := s.o.Now()
	for i := range all {
		all[i].age(now)
	}
	override(all)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active = holding(all)
	if len(w.steps) > 0 {
		s.undo = append(s.undo, w.steps)
	}
	replaced := func(e Entry) bool {
		return slices.ContainsFunc(slices.Concat(w.now, w.gone), func(n Entry) bool { return n.ID == e.ID })
	}
	s.news = append(slices.DeleteFunc(s.news, replaced), w.now...)
	s.gone = slices.DeleteFunc(s.gone, replaced)
	for _, e := range w.gone {
		kept := slices.ContainsFunc(w.now, func(n Entry) bool { return n.ID == e.ID })
		if s.inPrompt.ids[e.ID] && !kept {
			s.gone = append(s.gone, e)
		}
	}
}

package snapshot

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	files "buddy/tools/fs"
)

// granularity is the largest interval within which two changes of a file can get the same timestamps, on older kernels.
const granularity = 100 * time.Millisecond

// tick is the most by which the timestamps of a new file can lag behind the clock.
const tick = 20 * time.Millisecond

type scan struct {
	tree  *Tree
	ctx   context.Context
	began time.Time
	since time.Time // see ScanSince; zero is the last scan

	old   *indexReader
	ahead *record // the next one of old
	first bool    // the session has no index yet
	seen  int     // paths
	bytes int64   // contents of the present files that are kept
	lacks int     // files without a kept content
	store error   // why the store takes no more contents, such as a full disk
	diffs []diff  // in walk order
	buf   []byte
}

// diff is a path whose stamp has changed, or whose content is not stored yet. before or after is nil if the path did
// not or does not exist.
type diff struct {
	before, after *entry
	update        bool // same state, only the stamp changed
	existed       bool // new in the index, but older than the last scan
}

func (s *scan) run() (done Scanned, err error) {
	from := s.tree.index()
	if s.first = !s.tree.Started(); s.first {
		from = s.tree.base()
	}
	if s.old, err = openIndex(from); err != nil {
		s.old, s.first = &indexReader{}, true // a damaged index is made again
	}
	defer s.old.close()
	s.ahead = s.old.next()
	for _, root := range s.tree.o.Roots {
		if err := s.walk(root); err != nil {
			return done, err
		}
	}
	for s.ahead != nil {
		s.gone()
	}
	if s.old.err != nil { // it is made again
		if err := os.Remove(from); err != nil {
			return done, err
		}
		again := &scan{tree: s.tree, ctx: s.ctx, began: s.began}
		return again.run()
	}
	if s.seen > manyPaths && time.Since(s.began) > maxScan {
		return done, ErrTooLarge
	}
	s.classify()
	s.keep()
	s.compare()
	if len(s.diffs) > 0 || s.first {
		if err := s.write(from); err != nil {
			return done, err
		}
	}
	return s.result(), os.Chtimes(s.tree.index(), s.began, s.began)
}

// walk compares the files below a root with the index.
func (s *scan) walk(root string) error {
	rules := files.RulesAbove(s.ctx, files.Local, root)
	top, err := files.Local.OpenDir(s.ctx, root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Lstat(root, &st); err != nil {
		files.Release(top)
		return err
	}
	dev := uint64(st.Dev)
	s.visit(root, &st, nil, "")
	w := files.Walker{
		Skip: func(name string) bool { return name == ".buddyx" },
		Stop: func() error {
			if s.seen > maxEntries || s.seen > manyPaths && s.seen%1000 == 0 && time.Since(s.began) > maxScan {
				return ErrTooLarge
			}
			return nil
		},
		Enter: func(parent files.Folder, rel string, e os.DirEntry) (bool, error) {
			st, err := files.StatIn(parent, e.Name())
			path := files.Join(root, rel)
			if err != nil || uint64(st.Dev) != dev || slices.Contains(s.tree.o.Own, path) {
				return false, nil // gone meanwhile, another file system, or files of this program
			}
			s.visit(path, &st, nil, "")
			return true, nil
		},
		Visit: func(dir files.Folder, rel string, e os.DirEntry) error {
			st, err := files.StatIn(dir, e.Name())
			if err == nil && uint64(st.Dev) == dev {
				s.visit(files.Join(root, rel), &st, dir, e.Name())
			}
			return nil
		},
	}
	return w.Walk(top, "", rules, 1)
}

// visit compares the next path of the walk with the index. If the path is a link, visit reads its target through dir,
// the folder in which it is called name.
func (s *scan) visit(path string, st *unix.Stat_t, dir files.Folder, name string) {
	mode := files.ModeOf(st)
	now := entry{stamp: stampOf(st), State: State{Perm: mode.Perm()}}
	switch {
	case mode.IsRegular():
		now.Kind, now.Size = File, st.Size
		now.fresh = max(now.stamp.mtime, now.stamp.ctime) > s.began.Add(-granularity).UnixNano()
	case mode.IsDir():
		now.Kind = Folder
		now.stamp.size, now.stamp.mtime = 0, 0 // they depend on the content
	case mode&os.ModeSymlink != 0:
		now.Kind, now.Perm = Link, 0
	default:
		return
	}
	s.seen++
	for s.ahead != nil && before(s.ahead.path, path) {
		s.gone()
	}
	var was *entry
	if s.ahead != nil && string(s.ahead.path) == path {
		if s.same(&now) {
			s.count(s.ahead)
			s.ahead = s.old.next()
			return
		}
		was = s.ahead.entry()
		s.ahead = s.old.next()
	}
	if now.path = path; now.Kind == Link {
		now.Link, _ = dir.Readlink(name) // "" if it is gone meanwhile
	}
	s.diffs = append(s.diffs, diff{before: was, after: new(now)})
}

// same reports whether the next record of the index still describes the path, so that the path need not be examined
// further.
func (s *scan) same(now *entry) bool {
	was := s.ahead
	if was.kind() == Folder {
		return now.Kind == Folder && was.perm == now.Perm && was.stamp.ino == now.stamp.ino // its time changes with its content
	}
	if was.stamp != now.stamp || was.fresh() {
		return false
	}
	size := was.stamp.size
	return was.kind() != File || was.hasSum() || size > s.tree.o.Limits.File || s.bytes+size > s.tree.o.Limits.Folder
}

// count counts a record that stays in the index: its content, or that it has none.
func (s *scan) count(r *record) {
	switch {
	case r.hasSum():
		s.bytes += r.stamp.size
	case r.kind() == File:
		s.lacks++
	}
}

// gone handles the next record of the index, whose path the walk has not found.
func (s *scan) gone() {
	was := s.ahead.entry()
	var st unix.Stat_t
	err := unix.Lstat(was.path, &st)
	if errors.Is(err, unix.EACCES) {
		s.seen++ // as it can't be seen, it stays in the index
		s.count(s.ahead)
	} else {
		excluded := err == nil && !throughLink(was.path) // a rule excludes it now
		s.diffs = append(s.diffs, diff{before: was, update: excluded})
	}
	s.ahead = s.old.next()
}

// throughLink reports whether a symbolic link is among the folders of a path.
func throughLink(path string) bool {
	dir := filepath.Dir(path)
	real, err := filepath.EvalSymlinks(dir)
	return err != nil || real != dir
}

// classify finds paths that are new in the index but older than the last scan: a rule that excluded them was removed,
// or they were moved or linked into the tree. They are recorded, but do not count as changes, because an undo would
// delete files that the command did not create.
func (s *scan) classify() {
	moved := make(map[[2]uint64]bool)
	for _, d := range s.diffs {
		if d.before != nil && d.after == nil && !d.update {
			moved[[2]uint64{d.before.stamp.dev, d.before.stamp.ino}] = true
		}
	}
	last := s.old.when
	if !s.since.IsZero() && s.since.Before(last) {
		last = s.since
	}
	last = last.Add(-tick)
	for i := range s.diffs {
		if d := &s.diffs[i]; d.before == nil {
			e := d.after
			d.existed = !moved[[2]uint64{e.stamp.dev, e.stamp.ino}] && !born(e).After(last)
		}
	}
}

// keep stores the contents of new and changed files, the smallest first, until ctx ends or a limit is reached.
func (s *scan) keep() {
	var todo []*diff
	for i := range s.diffs {
		if d := &s.diffs[i]; d.after != nil && d.after.Kind == File {
			todo = append(todo, d)
		}
	}
	if len(todo) > 1 {
		slices.SortStableFunc(todo, func(a, b *diff) int { return cmp.Compare(a.after.Size, b.after.Size) })
	}
	for _, d := range todo {
		e := d.after
		if e.Size > s.tree.o.Limits.File || s.bytes+e.Size > s.tree.o.Limits.Folder || s.ctx.Err() != nil {
			continue
		}
		sum, err := s.read(e)
		if errors.Is(err, errStore) {
			s.store = err
			return
		}
		if err == nil && sum != "" {
			e.Sum = sum
			s.bytes += e.Size
		}
	}
}

// compare marks paths as unchanged if only the stamp has changed, or if the content is unknown and the stamp is the
// same.
func (s *scan) compare() {
	for i := range s.diffs {
		d := &s.diffs[i]
		if b, a := d.before, d.after; b != nil && a != nil {
			d.update = b.Same(a.State) || b.Kind == File && b.Sum == "" && b.stamp == a.stamp
		}
	}
}

// read stores the content of a file. If the file's size has changed since the walk, read updates it in e.
func (s *scan) read(e *entry) (string, error) {
	f, err := files.Local.Open(s.ctx, e.path)
	if err != nil {
		return "", err
	}
	defer files.Release(f)
	sum, err := s.tree.keep(f, f.Size, &s.buf)
	if err == nil && f.Size != e.Size {
		e.fresh = true
		e.Size = f.Size
	}
	return sum, err
}

// write writes the new index: the old one with the differences applied.
func (s *scan) write(from string) error {
	old, err := openIndex(from)
	if err != nil {
		old = &indexReader{}
	}
	defer old.close()
	w, err := createIndex(s.tree.index())
	if err != nil {
		return err
	}
	ahead := old.next()
	for i := range s.diffs {
		d := &s.diffs[i]
		path := ""
		if d.after != nil {
			path = d.after.path
		} else {
			path = d.before.path
		}
		for ahead != nil && before(ahead.path, path) && err == nil {
			err = w.copy(ahead)
			ahead = old.next()
		}
		if ahead != nil && string(ahead.path) == path {
			ahead = old.next()
		}
		if d.after != nil && err == nil {
			err = w.add(d.after)
		}
	}
	for ahead != nil && err == nil {
		err = w.copy(ahead)
		ahead = old.next()
	}
	return w.end(errors.Join(err, old.err))
}

func (s *scan) result() Scanned {
	done := Scanned{Files: s.seen, Bytes: s.bytes, Missing: s.lacks, Store: s.store}
	for _, d := range s.diffs {
		if d.after != nil && d.after.Kind == File && d.after.Sum == "" {
			done.Missing++
		}
		if s.first || d.update || d.existed {
			continue
		}
		c := Change{}
		if d.before != nil {
			c.Path, c.Before = d.before.path, d.before.State
		}
		if d.after != nil {
			c.Path, c.After = d.after.path, d.after.State
		}
		done.Changes = append(done.Changes, c)
	}
	return done
}

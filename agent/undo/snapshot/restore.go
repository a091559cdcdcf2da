package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	files "buddy/tools/fs"
)

// Restored is the result of Restore.
type Restored struct {
	Changes []Change // what was put back: from the state before the call to the restored one
	Changed []string // paths that somebody has changed since; without force nothing was restored because of them
	Left    []string // paths that are not restored, because their content is not kept or other things are in a folder
}

// Restore restores the state before some changes, all of it or nothing. Without force, it restores nothing if a path
// has changed since. Before it changes the first path, it calls announce with the changes that it will make; if
// announce fails, it changes nothing. An existing file keeps its other attributes; a missing one is created with its
// content and permissions. Restored files get new modification times, because otherwise programs such as make would see
// no change.
func (t *Tree) Restore(ctx context.Context, changes []Change, force bool, announce func([]Change) error) (Restored, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := restore{tree: t, ctx: ctx, flat: make(map[string]bool)}
	for _, c := range slices.SortedFunc(slices.Values(changes), byPath) {
		if err := r.plan(c); err != nil {
			return r.done, err
		}
	}
	r.keepFolders()
	if len(r.done.Changed) > 0 && !force || len(r.done.Changes) == 0 {
		return r.done, nil
	}
	if err := announce(r.done.Changes); err != nil {
		return r.done, err
	}
	r.ctx = context.WithoutCancel(ctx) // half restored files are no use
	err := r.apply(r.done.Changes)
	if err == nil {
		if r.many() {
			files.Sync(t.o.Roots)
		}
		return r.done, nil
	}
	if back := r.apply(Reverse(r.done.Changes)); back != nil {
		return r.done, fmt.Errorf("%w; what was restored before that could not be changed back: %w", err, back)
	}
	return Restored{}, fmt.Errorf("nothing was restored: %w", err)
}

// Present returns the present state of a path, and stores the content if the path is a file.
func (t *Tree) Present(ctx context.Context, path string) (State, error) {
	r := restore{tree: t, ctx: ctx}
	return r.present(path)
}

type restore struct {
	tree *Tree
	ctx  context.Context
	done Restored
	flat map[string]bool // paths of the changes that are no folder now
	buf  []byte
}

// plan decides what to do about a change, by the path's present state.
func (r *restore) plan(c Change) error {
	now, err := r.present(c.Path)
	if err != nil {
		return err
	}
	if now.Kind == Other && r.flat[filepath.Dir(c.Path)] {
		now = State{}
	}
	r.flat[c.Path] = now.Kind != Folder
	switch {
	case now.Same(c.Before):
		return nil
	case !r.has(c.Before), now.Kind == File && now.Sum == "": // what is not kept is not removed either
		r.done.Left = append(r.done.Left, c.Path)
		return nil
	case !now.Same(c.After):
		r.done.Changed = append(r.done.Changed, c.Path)
	}
	want := c.Before
	if want.short() {
		want.Perm = now.Perm
	}
	r.done.Changes = append(r.done.Changes, Change{c.Path, now, want})
	return nil
}

func (r *restore) has(s State) bool {
	if s.Kind != File {
		return s.Kind != Other
	}
	if len(s.Sum) != wholeSum {
		return false
	}
	_, err := os.Lstat(r.tree.object(s.Sum))
	return err == nil
}

// present returns the present state of a path, and stores the content if the path is a file.
func (r *restore) present(path string) (s State, err error) {
	dir, err := files.Local.PassDir(r.ctx, filepath.Dir(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return State{Kind: Other}, nil // its folder is a file or a link now
	}
	defer files.Release(dir)
	name := filepath.Base(path)
	st, err := files.StatIn(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	mode := files.ModeOf(&st)
	switch {
	case mode.IsDir():
		return State{Kind: Folder, Perm: mode.Perm()}, nil
	case mode&fs.ModeSymlink != 0:
		target, err := dir.Readlink(name)
		return State{Kind: Link, Link: target}, err
	case !mode.IsRegular():
		return State{Kind: Other}, nil
	}
	s = State{Kind: File, Perm: mode.Perm(), Size: st.Size}
	if st.Size > r.tree.o.Limits.File {
		return s, nil
	}
	f, err := dir.Open(name)
	if errors.Is(err, fs.ErrPermission) {
		return s, nil // another user's, or closed by chmod: it stays, and the other files are restored
	}
	if err != nil {
		return s, err
	}
	defer files.Release(f)
	s.Sum, err = r.tree.keep(f, f.Size, &r.buf)
	return s, err
}

// keepFolders drops each change that would remove a folder in which other paths remain. A remaining path that
// .gitignore does not exclude was created since, so it counts as changed.
func (r *restore) keepFolders() {
	goes, left := make(map[string]bool), make(map[string]bool)
	for _, c := range r.done.Changes {
		goes[c.Path] = c.After.Kind == None
	}
	for _, path := range r.done.Left {
		left[path] = true
	}
	slices.SortFunc(r.done.Changes, byPath)
	var stay []Change
	for _, c := range slices.Backward(r.done.Changes) { // the content of a folder before the folder
		others := false
		for _, path := range r.content(c) {
			if goes[path] {
				continue
			}
			others = true
			if !left[path] && !ignored(r.ctx, path) {
				r.done.Changed = append(r.done.Changed, path)
			}
		}
		if others {
			goes[c.Path], left[c.Path] = false, true
			r.done.Left = append(r.done.Left, c.Path)
			continue
		}
		stay = append(stay, c)
	}
	slices.Reverse(stay)
	r.done.Changes = stay
}

// content returns the paths in a folder that the change would remove.
func (r *restore) content(c Change) (all []string) {
	if c.Before.Kind != Folder || c.After.Kind == Folder {
		return nil
	}
	dir, err := files.Local.OpenDir(r.ctx, c.Path)
	if err != nil {
		return nil // removing it fails
	}
	defer files.Release(dir)
	entries, _ := dir.ReadDir(-1)
	for _, e := range entries {
		all = append(all, filepath.Join(c.Path, e.Name()))
	}
	return all
}

// ignored reports whether a tree leaves out a path, for example because of .gitignore.
func ignored(ctx context.Context, path string) bool {
	name := filepath.Base(path)
	if name == ".git" || name == ".buddyx" {
		return true
	}
	st, err := os.Lstat(path)
	return err == nil && files.RulesAbove(ctx, files.Local, path).Ignored(path, st.IsDir())
}

func byPath(a, b Change) int {
	switch {
	case a.Path == b.Path:
		return 0
	case before(a.Path, b.Path):
		return -1
	}
	return 1
}

// apply makes changes, which are sorted by path. It first removes paths, then creates folders, files and links, and
// last sets the permissions of folders.
func (r *restore) apply(changes []Change) error {
	for _, c := range slices.Backward(changes) {
		if c.Before.Kind != None && c.Before.Kind != c.After.Kind {
			if err := ignoreMissing(files.RemoveEntry(c.Path, c.Before.Kind == Folder)); err != nil {
				return err
			}
		}
	}
	for _, c := range changes {
		if err := r.put(c); err != nil {
			return err
		}
	}
	for _, c := range slices.Backward(changes) {
		if c.After.Kind == Folder {
			if err := files.SetPermissions(c.Path, c.After.Perm); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *restore) put(c Change) error {
	switch c.After.Kind {
	case Folder:
		if c.Before.Kind == Folder {
			return files.SetPermissions(c.Path, c.After.Perm|0o700) // its content may change
		}
		if err := files.MakeFolder(c.Path); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	case Link:
		return files.MakeLink(c.Path, c.After.Link)
	case File:
		return r.write(c)
	}
	return nil
}

// many reports whether to sync restored files to disk together: one by one, thousands would take minutes.
func (r *restore) many() bool { return len(r.done.Changes) > 50 }

// write writes a file. An existing file keeps its other attributes.
func (r *restore) write(c Change) error {
	if c.Before.Kind == File && c.Before.Sum == c.After.Sum && c.After.Sum != "" {
		return files.SetPermissions(c.Path, c.After.Perm)
	}
	data, err := r.tree.Content(c.After)
	if err != nil {
		return fmt.Errorf("%q: %w", c.Path, err)
	}
	rights := files.Rights{Perm: c.After.Perm, Unsynced: r.many()}
	if c.Before.Kind == File && c.Before.Perm == c.After.Perm {
		rights.Perm = 0
	}
	s, err := files.Local.Stage(r.ctx, c.Path, data, rights)
	if err != nil {
		return err
	}
	defer files.Release(s)
	var kept *files.Kept
	_, err = s.Commit(func() (err error) {
		kept, err = r.tree.o.Recovery.Keep(r.ctx, files.Local, c.Path, data)
		return err
	})
	if kept != nil {
		err = kept.End(err)
	}
	if err == nil && c.After.Perm == 0 {
		err = files.SetPermissions(c.Path, 0)
	}
	return err
}

func ignoreMissing(err error) error {
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// Name returns a path for display, relative to the first root if it is inside.
func (t *Tree) Name(path string) string {
	if rel, ok := strings.CutPrefix(path, t.o.Roots[0]+"/"); ok {
		return rel
	}
	return path
}

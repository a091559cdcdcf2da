package tools

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"buddy/tmux/host"
)

// targetTree is what is in some folders of a target: one, or those below a folder that a
// search looks into. These are listed level by level, many in one go, because each
// question takes the time of a way there and back.
type targetTree struct {
	t     *target
	ctx   context.Context            // of the call
	lists map[string][]host.FileInfo // sorted by name
	rules map[string][]byte          // what the .gitignore files say, by their path
	more  bool                       // there is more in the folder that alone is listed
}

func (t *target) folder(ctx context.Context, path string) (folder, error) {
	list, more, err := t.host.ReadDir(ctx, path)
	if err != nil {
		return nil, folderError(path, err)
	}
	slices.SortFunc(list, byInfoName)
	tree := &targetTree{t: t, ctx: ctx, lists: map[string][]host.FileInfo{path: list}, more: more}
	return targetFolder{tree, path}, nil
}

func byInfoName(a, b host.FileInfo) int { return cmp.Compare(a.Name, b.Name) }

func folderError(path string, err error) error {
	var p *fs.PathError
	if err = plainly(err); errors.As(err, &p) && errors.Is(p.Err, syscall.ENOTDIR) {
		return swapped(&fs.PathError{Op: p.Op, Path: path, Err: p.Err})
	}
	return err
}

func (t *target) pass(ctx context.Context, path string) (folder, error) {
	return targetFolder{&targetTree{t: t, ctx: ctx}, path}, nil
}

// tree lists the folders. Those beyond treeFolders are left out, so that the walk counts
// them as not read.
func (t *target) tree(ctx context.Context, top string, rules ignoreRules, skip func(name string) bool) (folder, error) {
	tree := &targetTree{t: t, ctx: ctx, lists: make(map[string][]host.FileInfo), rules: make(map[string][]byte)}
	level := []branch{{top, rules}}
	for len(level) > 0 && len(tree.lists) < treeFolders {
		paths := make([]string, len(level))
		for i, b := range level {
			paths[i] = b.path
		}
		if err := tree.add(top, paths); err != nil {
			if skip != nil && ctx.Err() != nil && len(tree.lists) > 0 {
				break
			}
			return nil, folderError(top, err)
		}
		if _, ok := tree.lists[top]; !ok {
			_, err := t.folder(ctx, top) // which says why
			return nil, err
		}
		var next []branch
		for _, b := range level {
			next = append(next, tree.below(b, skip)...)
		}
		level = next
	}
	return targetFolder{tree, top}, nil
}

// branch is a folder of a tree, with the rules for what is in it.
type branch struct {
	path  string
	rules ignoreRules
}

// below returns the folders in one that was listed, less those that are left out.
func (tr *targetTree) below(b branch, skip func(name string) bool) []branch {
	rules := b.rules
	if _, ok := tr.rules[join(b.path, ".gitignore")]; ok {
		rules = rules.with(targetFolder{tr, b.path})
	}
	var next []branch
	for _, f := range tr.lists[b.path] {
		at := join(b.path, f.Name)
		if f.Mode.IsDir() && f.Name != ".git" && (skip == nil || !skip(f.Name)) && !rules.ignored(at, true) {
			next = append(next, branch{at, rules})
		}
	}
	return next
}

// add lists folders below top and reads the .gitignore files in them.
func (tr *targetTree) add(top string, paths []string) error {
	var ignoring []string
	for len(paths) > 0 {
		batch := paths[:min(len(paths), treeBatch)]
		paths = paths[len(batch):]
		var dirs []string
		for _, p := range batch {
			rel := strings.TrimPrefix(strings.TrimPrefix(p, top), "/")
			if rel == "" {
				rel = "."
			}
			dirs = append(dirs, rel)
		}
		lists, _, err := tr.t.host.ReadDirs(tr.ctx, top, dirs)
		if err != nil {
			return err
		}
		for i, p := range batch {
			list, ok := lists[dirs[i]]
			if !ok {
				continue
			}
			slices.SortFunc(list, byInfoName)
			tr.lists[p] = list
			for _, f := range list {
				if f.Name == ".gitignore" && f.Mode.IsRegular() {
					ignoring = append(ignoring, join(p, f.Name))
				}
			}
		}
	}
	for len(ignoring) > 0 {
		batch := ignoring[:min(len(ignoring), fetchBatch)]
		ignoring = ignoring[len(batch):]
		files, err := tr.t.host.ReadFiles(tr.ctx, batch, maxText/fetchBatch, host.Texts{})
		if err != nil {
			return err
		}
		for i, f := range files {
			if f.Err == nil { // a file that can't be read rules nothing, as with git
				tr.rules[batch[i]] = f.Data
			}
		}
	}
	return nil
}

// targetFolder is a folder of a tree.
type targetFolder struct {
	tree *targetTree
	path string
}

func (d targetFolder) Name() string { return d.path }
func (targetFolder) Close() error   { return nil }

func (d targetFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	list, ok := d.tree.lists[d.path]
	if !ok {
		return nil, &fs.PathError{Op: "list", Path: d.path, Err: fs.ErrPermission}
	}
	var err error
	if d.tree.more {
		err = errMoreNames
	}
	if n > 0 && len(list) > n {
		list, err = list[:n], errMoreNames
	}
	entries := make([]fs.DirEntry, len(list))
	for i, f := range list {
		entries[i] = targetEntry{f}
	}
	return entries, err
}

func (d targetFolder) enter(name string) (folder, error) {
	at := join(d.path, name)
	if _, ok := d.tree.lists[at]; !ok {
		return nil, &fs.PathError{Op: "list", Path: at, Err: fs.ErrPermission}
	}
	return targetFolder{d.tree, at}, nil
}

func (d targetFolder) open(name string) (*file, error) {
	at := join(d.path, name)
	if text, ok := d.tree.rules[at]; ok && name == ".gitignore" {
		return &file{ending{bytes.NewBuffer(text), nil}, at, facts{size: int64(len(text))}}, nil
	}
	info, err := d.lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.mode.IsRegular() {
		return nil, notRegular(at, info.mode)
	}
	return d.tree.t.file(d.tree.ctx, at, info), nil
}

func (d targetFolder) lstat(name string) (facts, error) {
	if list, ok := d.tree.lists[d.path]; ok {
		if i, ok := slices.BinarySearchFunc(list, name, func(f host.FileInfo, name string) int { return cmp.Compare(f.Name, name) }); ok {
			return factsThere(list[i]), nil
		}
		return facts{}, &fs.PathError{Op: "lstat", Path: path.Join(d.path, name), Err: fs.ErrNotExist}
	}
	return d.tree.t.lstat(d.tree.ctx, join(d.path, name))
}

func (d targetFolder) readlink(name string) (string, error) {
	return d.tree.t.host.Readlink(d.tree.ctx, join(d.path, name))
}

// targetEntry is a name in a folder.
type targetEntry struct{ info host.FileInfo }

func (e targetEntry) Name() string               { return e.info.Name }
func (e targetEntry) IsDir() bool                { return e.info.Mode.IsDir() }
func (e targetEntry) Type() fs.FileMode          { return e.info.Mode.Type() }
func (e targetEntry) Info() (fs.FileInfo, error) { return nil, errors.ErrUnsupported }

package fs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"buddy/tmux/host"
)

// remoteTree holds the listings of folders of a target: of one folder, or of all folders below a searched one. Folders
// are listed level by level, many per command, because each command costs a round trip.
type remoteTree struct {
	t     *remoteFS
	ctx   context.Context            // of the call
	lists map[string][]host.FileInfo // sorted by name
	rules map[string][]byte          // contents of .gitignore files by path
	more  bool                       // the only listed folder has more names
}

func (t *remoteFS) OpenDir(ctx context.Context, path string) (Folder, error) {
	list, more, err := t.host.ReadDir(ctx, path)
	if err != nil {
		return nil, folderError(path, err)
	}
	slices.SortFunc(list, byInfoName)
	tree := &remoteTree{t: t, ctx: ctx, lists: map[string][]host.FileInfo{path: list}, more: more}
	return remoteFolder{tree, path}, nil
}

func byInfoName(a, b host.FileInfo) int { return cmp.Compare(a.Name, b.Name) }

func folderError(path string, err error) error {
	err = localError(err)
	if p, ok := errors.AsType[*os.PathError](err); ok && errors.Is(p.Err, syscall.ENOTDIR) {
		return swapped(&os.PathError{Op: p.Op, Path: path, Err: p.Err})
	}
	return err
}

func (t *remoteFS) PassDir(ctx context.Context, path string) (Folder, error) {
	return remoteFolder{&remoteTree{t: t, ctx: ctx}, path}, nil
}

// OpenTree lists the folders level by level. Folders beyond treeFolders are omitted, and the walk counts them as
// unread.
func (t *remoteFS) OpenTree(ctx context.Context, top string, rules IgnoreRules, skip func(name string) bool) (Folder, error) {
	tree := &remoteTree{t: t, ctx: ctx, lists: make(map[string][]host.FileInfo), rules: make(map[string][]byte)}
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
			_, err := t.OpenDir(ctx, top) // OpenDir gives a better error
			return nil, err
		}
		var next []branch
		for _, b := range level {
			next = append(next, tree.below(b, skip)...)
		}
		level = next
	}
	return remoteFolder{tree, top}, nil
}

// branch is a folder of a tree with the rules that apply in it.
type branch struct {
	path  string
	rules IgnoreRules
}

// below returns the subfolders of a listed folder, without the excluded ones.
func (tr *remoteTree) below(b branch, skip func(name string) bool) []branch {
	rules := b.rules
	if _, ok := tr.rules[Join(b.path, ".gitignore")]; ok {
		rules = rules.with(remoteFolder{tr, b.path})
	}
	var next []branch
	for _, f := range tr.lists[b.path] {
		at := Join(b.path, f.Name)
		if f.Mode.IsDir() && f.Name != ".git" && (skip == nil || !skip(f.Name)) && !rules.Ignored(at, true) {
			next = append(next, branch{at, rules})
		}
	}
	return next
}

// add lists folders below top and reads the .gitignore files in them.
func (tr *remoteTree) add(top string, paths []string) error {
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
					ignoring = append(ignoring, Join(p, f.Name))
				}
			}
		}
	}
	for len(ignoring) > 0 {
		batch := ignoring[:min(len(ignoring), fetchBatch)]
		ignoring = ignoring[len(batch):]
		files, err := tr.t.host.ReadFiles(tr.ctx, batch, MaxText/fetchBatch, host.Texts{})
		if err != nil {
			return err
		}
		for i, f := range files {
			if f.Err == nil { // an unreadable file has no rules, as with git
				tr.rules[batch[i]] = f.Data
			}
		}
	}
	return nil
}

// remoteFolder is a folder of a tree.
type remoteFolder struct {
	tree *remoteTree
	path string
}

func (d remoteFolder) Name() string { return d.path }
func (remoteFolder) Close() error   { return nil }

func (d remoteFolder) ReadDir(n int) ([]os.DirEntry, error) {
	list, ok := d.tree.lists[d.path]
	if !ok {
		return nil, &os.PathError{Op: "list", Path: d.path, Err: os.ErrPermission}
	}
	var err error
	if d.tree.more {
		err = ErrMoreNames
	}
	if n > 0 && len(list) > n {
		list, err = list[:n], ErrMoreNames
	}
	entries := make([]os.DirEntry, len(list))
	for i, f := range list {
		entries[i] = remoteEntry{f}
	}
	return entries, err
}

func (d remoteFolder) Enter(name string) (Folder, error) {
	at := Join(d.path, name)
	if _, ok := d.tree.lists[at]; !ok {
		return nil, &os.PathError{Op: "list", Path: at, Err: os.ErrPermission}
	}
	return remoteFolder{d.tree, at}, nil
}

func (d remoteFolder) Open(name string) (*File, error) {
	at := Join(d.path, name)
	if text, ok := d.tree.rules[at]; ok && name == ".gitignore" {
		return &File{failingBuffer{bytes.NewBuffer(text), nil}, at, Info{Size: int64(len(text))}}, nil
	}
	info, err := d.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode.IsRegular() {
		return nil, notRegular(at, info.Mode)
	}
	return d.tree.t.file(d.tree.ctx, at, info), nil
}

func (d remoteFolder) Lstat(name string) (Info, error) {
	if list, ok := d.tree.lists[d.path]; ok {
		if i, ok := slices.BinarySearchFunc(list, name, func(f host.FileInfo, name string) int { return cmp.Compare(f.Name, name) }); ok {
			return infoOfRemote(list[i]), nil
		}
		return Info{}, &os.PathError{Op: "lstat", Path: path.Join(d.path, name), Err: os.ErrNotExist}
	}
	return d.tree.t.Lstat(d.tree.ctx, Join(d.path, name))
}

func (d remoteFolder) Readlink(name string) (string, error) {
	return d.tree.t.host.Readlink(d.tree.ctx, Join(d.path, name))
}

// remoteEntry is a name in a folder.
type remoteEntry struct{ info host.FileInfo }

func (e remoteEntry) Name() string               { return e.info.Name }
func (e remoteEntry) IsDir() bool                { return e.info.Mode.IsDir() }
func (e remoteEntry) Type() os.FileMode          { return e.info.Mode.Type() }
func (e remoteEntry) Info() (os.FileInfo, error) { return nil, errors.ErrUnsupported }

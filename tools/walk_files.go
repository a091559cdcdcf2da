package tools

import (
	"context"
	"io/fs"
)

// WalkFiles visits what is below a folder of this machine and is no folder, in the order of the paths, which
// are relative to it. It leaves out .git, what .gitignore files name, and all entries
// whose name skip tells to leave out. An error of visit ends the walk and is returned.
// The path of dir must be absolute and without symbolic links.
func WalkFiles(dir string, skip func(name string) bool, visit func(rel string) error) error {
	ctx := context.Background()
	top, err := machine{}.tree(ctx, dir, nil)
	if err != nil {
		return err
	}
	return walkNames(top, rulesAbove(ctx, machine{}, dir), skip, visit)
}

// WalkFiles is [WalkFiles] of the workspace, wherever it is. Where that is a target, what
// can't be listed before ctx ends is left out.
func (w *Workspace) WalkFiles(ctx context.Context, skip func(name string) bool, visit func(rel string) error) error {
	root, _, err := w.find(ctx)
	if err != nil {
		return err
	}
	t, away := w.files.(*target)
	if !away {
		return WalkFiles(root, skip, visit)
	}
	rules := rulesAbove(ctx, t, root)
	top, err := t.treeOf(ctx, root, rules, skip)
	if err != nil {
		return err
	}
	return walkNames(top, rules, skip, visit)
}

func walkNames(top folder, rules ignoreRules, skip func(name string) bool, visit func(rel string) error) error {
	w := walker{
		stop:  func() error { return nil },
		skip:  skip,
		visit: func(_ folder, rel string, _ fs.DirEntry) error { return visit(rel) },
	}
	return w.walk(top, "", rules, 1)
}

package fs

import (
	"context"
	"os"
)

// WalkFiles visits everything below a folder except folders, in the order of the paths, which are relative to the
// folder. It skips .git, entries that .gitignore files exclude, and entries for whose name skip returns true. An error
// of visit ends the walk and is returned. The path of dir must be absolute and without symbolic links. On a host,
// folders that can't be listed before ctx ends are omitted.
func WalkFiles(ctx context.Context, files FS, dir string, skip func(name string) bool, visit func(rel string) error) error {
	rules := RulesAbove(ctx, files, dir)
	top, err := files.OpenTree(ctx, dir, rules, skip)
	if err != nil {
		return err
	}
	w := Walker{
		Stop:  func() error { return nil },
		Skip:  skip,
		Visit: func(_ Folder, rel string, _ os.DirEntry) error { return visit(rel) },
	}
	return w.Walk(top, "", rules, 1)
}

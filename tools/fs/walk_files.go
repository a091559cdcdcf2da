package fs

import (
	"context"
	"os"
)

// WalkFiles visits what is below a folder and is no folder, in the order of the paths, which
// are relative to it. It leaves out .git, what .gitignore files name, and all entries
// whose name skip tells to leave out. An error of visit ends the walk and is returned.
// The path of dir must be absolute and without symbolic links. Where the files are on a host, what
// can't be listed before ctx ends is left out.
func WalkFiles(ctx context.Context, files FS, dir string, skip func(name string) bool, visit func(rel string) error) error {
	rules := RulesAbove(ctx, files, dir)
	top, err := files.OpenTree(ctx, dir, rules, skip)
	if err != nil {
		return err
	}
	w := Walker{
		Stop:  func() error { return nil },
		skip:  skip,
		Visit: func(_ Folder, rel string, _ os.DirEntry) error { return visit(rel) },
	}
	return w.Walk(top, "", rules, 1)
}

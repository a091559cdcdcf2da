package tools

import (
	"io/fs"
	"os"
)

// WalkFiles visits what is below a folder and is no folder, in the order of the paths, which
// are relative to it. It leaves out .git, what .gitignore files name, and all entries
// whose name skip tells to leave out. An error of visit ends the walk and is returned.
// The path of dir must be absolute and without symbolic links.
func WalkFiles(dir string, skip func(name string) bool, visit func(rel string) error) error {
	top, err := openDir(dir)
	if err != nil {
		return err
	}
	w := walker{
		stop:  func() error { return nil },
		skip:  skip,
		visit: func(_ *os.File, rel string, _ fs.DirEntry) error { return visit(rel) },
	}
	return w.walk(top, "", rulesAbove(dir), 1)
}

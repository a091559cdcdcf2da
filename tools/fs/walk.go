package fs

import (
	"os"
	"slices"
)

// Walker visits the files of a folder in the order of their paths. It skips .git and whatever
// .gitignore files exclude, and follows no symbolic links.
type Walker struct {
	// Visit gets each entry that is not a folder; dir is open only during the call. An error
	// ends the walk.
	Visit func(dir Folder, rel string, e os.DirEntry) error
	// Enter, if set, gets each folder before its content, and reports whether to enter it. An error ends the walk.
	Enter func(parent Folder, rel string, e os.DirEntry) (bool, error)
	// Ignored, if set, gets each entry that .gitignore files exclude, and returns true for a file that is visited
	// nevertheless.
	Ignored func(rel string, e os.DirEntry) bool
	Stop    func() error           // called before each entry; an error ends the walk
	Skip    func(name string) bool // if set, excludes further entries
	Failed  int                    // folders that could not be read
}

// maxDepth bounds the number of folders open at the same time.
const maxDepth = 100

// Walk visits the content of dir, whose path is rel, and closes dir. depth is the number of open folders, dir included.
func (w *Walker) Walk(dir Folder, rel string, rules IgnoreRules, depth int) error {
	defer Release(dir)
	entries, err := dir.ReadDir(-1)
	if err != nil {
		w.Failed++
	}
	slices.SortFunc(entries, ByName)
	if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == ".gitignore" }) {
		rules = rules.with(dir)
	}
	for _, e := range entries {
		if err := w.Stop(); err != nil {
			return err
		}
		if e.Name() == ".git" || w.Skip != nil && w.Skip(e.Name()) {
			continue
		}
		at := Join(rel, e.Name())
		if rules.Ignored(Join(dir.Name(), e.Name()), e.IsDir()) && (w.Ignored == nil || !w.Ignored(at, e)) {
			continue
		}
		if err := w.reach(dir, at, e, rules, depth); err != nil {
			return err
		}
	}
	return nil
}

// reach visits an entry that nothing excludes.
func (w *Walker) reach(dir Folder, rel string, e os.DirEntry, rules IgnoreRules, depth int) error {
	if !e.IsDir() {
		return w.Visit(dir, rel, e)
	}
	if w.Enter != nil {
		if in, err := w.Enter(dir, rel, e); err != nil || !in {
			return err
		}
	}
	return w.enter(dir, rel, e.Name(), rules, depth)
}

func (w *Walker) enter(dir Folder, rel, name string, rules IgnoreRules, depth int) error {
	if depth == maxDepth {
		w.Failed++
		return nil
	}
	sub, err := dir.Enter(name)
	if err != nil {
		w.Failed++
		return nil
	}
	return w.Walk(sub, rel, rules, depth+1)
}

package tools

import (
	"io/fs"
	"slices"
)

// walker visits the files of a folder in the order of their paths. It leaves out .git
// and what .gitignore files name, and follows no symbolic link.
type walker struct {
	// visit gets each entry that is no folder; dir is open during the call only. An
	// error of it ends the walk.
	visit  func(dir folder, rel string, e fs.DirEntry) error
	stop   func() error           // asked before each entry
	skip   func(name string) bool // if set, tells which entries to leave out as well
	failed int                    // folders that could not be read
}

// maxDepth bounds the folders that are open at the same time.
const maxDepth = 100

// walk visits what is in dir and closes it.
func (w *walker) walk(dir folder, rel string, rules ignoreRules, depth int) error {
	defer release(dir)
	entries, err := dir.ReadDir(-1)
	if err != nil {
		w.failed++
	}
	slices.SortFunc(entries, byName)
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".gitignore" }) {
		rules = rules.with(dir)
	}
	for _, e := range entries {
		if err := w.stop(); err != nil {
			return err
		}
		if e.Name() == ".git" || w.skip != nil && w.skip(e.Name()) || rules.ignored(join(dir.Name(), e.Name()), e.IsDir()) {
			continue
		}
		at := join(rel, e.Name())
		if !e.IsDir() {
			if err := w.visit(dir, at, e); err != nil {
				return err
			}
			continue
		}
		if err := w.enter(dir, at, e.Name(), rules, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) enter(dir folder, rel, name string, rules ignoreRules, depth int) error {
	if depth == maxDepth {
		w.failed++
		return nil
	}
	sub, err := dir.enter(name)
	if err != nil {
		w.failed++
		return nil
	}
	return w.walk(sub, rel, rules, depth+1)
}

//go:build linux && (amd64 || arm64)

package confine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"buddy/texts"
	"buddy/texts/secretfile"
)

// maxLooked is the number of files that are looked at for secrets. What lies beyond is protected
// by its name only, when a command names it.
const maxLooked = 10_000

// listing is a folder whose entries have rules of their own. Entries that are made later have
// none.
type listing struct {
	dir      string
	modified time.Time
}

// visible returns the rules by which commands may read root, but not the hidden files and folders
// in it, nor the files whose names say that they hold secrets. Landlock can't exclude anything
// from an allowed folder, so the folders above those are listed entry by entry; their names can
// be read. Links have no rule: what they lead to has one, or may not be read.
func visible(root string, hidden []string) (rules []pathRule, listed []listing) {
	secrets := secretsBelow(root, hidden)
	if len(secrets) == 0 {
		return []pathRule{{path: root, access: toRead}}, nil
	}
	if slices.Contains(secrets, root) {
		return nil, nil
	}
	above := make(map[string]bool) // folders with secrets at some depth
	out := make(map[string]bool)
	for _, s := range secrets {
		out[s] = true
		for dir := filepath.Dir(s); texts.Below(dir, root) && !above[dir]; dir = filepath.Dir(dir) {
			above[dir] = true
		}
	}
	rules = []pathRule{{path: root, access: ll.AccessFSReadDir}}
	for dir := range above {
		info, err := os.Lstat(dir)
		entries, readErr := os.ReadDir(dir)
		if err != nil || readErr != nil || !info.IsDir() {
			continue // nobody reads it
		}
		listed = append(listed, listing{dir, info.ModTime()})
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if !out[path] && !above[path] && e.Type()&fs.ModeSymlink == 0 {
				rules = append(rules, pathRule{path: path, access: toRead, noLink: true})
			}
		}
	}
	return rules, listed
}

// secretsBelow returns the hidden paths in root, which may be root itself, and the files below it
// whose names say that they hold secrets. It looks at neither .git nor node_modules.
func secretsBelow(root string, hidden []string) (all []string) {
	for _, h := range hidden {
		switch {
		case texts.Below(root, h):
			return []string{root}
		case texts.Below(h, root):
			all = append(all, h)
		}
	}
	named, _ := secretfile.Find(root) // then the person chose such a folder
	looked := 0
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if looked++; looked > maxLooked {
			return errLooked
		}
		switch {
		case err != nil:
			return nil // what can't be read is no secret for commands
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules"), e.IsDir() && slices.Contains(all, path):
			return fs.SkipDir
		case e.IsDir() || e.Type()&fs.ModeSymlink != 0:
			return nil
		}
		name := path
		if named != "" {
			name, _ = filepath.Rel(root, path)
		}
		if part, _ := secretfile.Find(name); part != "" {
			all = append(all, path)
		}
		return nil
	})
	return all
}

var errLooked = errors.New("more files than are looked at")

// place is what there was at a path; nil: nothing was.
type place struct {
	path string
	info os.FileInfo
}

func lookAt(path string) place {
	info, err := os.Stat(path)
	if err != nil {
		info = nil
	}
	return place{path, info}
}

// Stale reports whether, since the box was made, a folder to work in was made or replaced, or entries were in a
// folder that is listed entry by entry. A command in the box can't read those.
func (b *Box) Stale() bool {
	return slices.ContainsFunc(b.roots, func(was place) bool {
		now := lookAt(was.path)
		return now.info != nil && (was.info == nil || !os.SameFile(now.info, was.info))
	}) || slices.ContainsFunc(b.listed, func(l listing) bool {
		info, err := os.Lstat(l.dir)
		return err != nil || !info.ModTime().Equal(l.modified)
	})
}

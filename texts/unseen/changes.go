package unseen

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxChanges = 5000                   // listed changes
	slack      = 100 * time.Millisecond // the clock of a file system may be behind by this
)

// These files are left out of the list of changes: the files in .git that every commit changes, and our own files,
// which the sandbox hides.
var (
	gitOwn   = []string{"objects", "refs", "logs", "index", "HEAD", "ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG"}
	buddyOwn = []string{".buddyx", ".agentx"}
)

// Changes returns the paths that have changed in the folders of marks since the marks were set, sorted, and relative to
// the first folder if they are in it. A folder from which entries were removed has a slash at its end. Changes takes at
// most limit; more means that there may be more changes.
func Changes(marks []Mark, limit time.Duration) (paths []string, more bool) {
	until := time.Now().Add(limit)
	for _, m := range marks {
		w := walk{root: m.Folder, since: m.Since.Add(-slack), until: until, filled: make(map[string]bool)}
		_ = filepath.WalkDir(m.Folder, w.visit)
		more = more || w.more
		for _, dir := range w.dirs {
			if !w.filled[dir] {
				w.paths = append(w.paths, dir+"/")
			}
		}
		for _, path := range w.paths {
			if rel, err := filepath.Rel(marks[0].Folder, path); err == nil && filepath.IsLocal(rel) {
				path = rel + path[len(strings.TrimSuffix(path, "/")):]
			}
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), more
}

// walk looks for changes in a folder.
type walk struct {
	root         string
	since, until time.Time
	paths, dirs  []string
	filled       map[string]bool // folders with a changed file of their own
	more         bool
}

func (w *walk) visit(path string, e fs.DirEntry, err error) error {
	if time.Now().After(w.until) || len(w.paths)+len(w.dirs) >= maxChanges {
		w.more = true
		return fs.SkipAll
	}
	if err != nil {
		w.more = true
		return nil //nolint:nilerr // the rest is still useful
	}
	if dir := filepath.Dir(path); dir == w.root && slices.Contains(buddyOwn, e.Name()) || filepath.Base(dir) == ".git" && slices.Contains(gitOwn, e.Name()) {
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil || time.Unix(0, max(st.Ctim.Nano(), st.Mtim.Nano())).Before(w.since) {
		return nil
	}
	w.filled[filepath.Dir(path)] = true
	switch {
	case !e.IsDir():
		w.paths = append(w.paths, path)
	case e.Name() != ".git": // every commit changes it
		w.dirs = append(w.dirs, path)
	}
	return nil
}

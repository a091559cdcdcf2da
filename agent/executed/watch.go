package executed

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"buddy/agent/action"
)

// Limits of what a Watch looks at.
const (
	maxFolders = 20_000    // in one workspace; those beyond are not compared, which is said once
	maxFiles   = 20_000    // that are compared
	maxDigest  = 256 << 10 // bytes of a file whose content is compared; of a larger one its size and times are
	maxDeep    = 1         // levels that are compared below a folder of packages
)

// settles is how long after its last change a file or folder is read anew although it looks the same:
// the clock of file systems is coarse.
const settles = 100 * time.Millisecond

// packages are listed folders with more files than can be compared: of them the upper levels are.
var packages = []string{"node_modules", ".venv", "venv", "site-packages", "__pycache__", ".yarn", ".gradle", ".direnv", ".jj", ".hg", ".svn", ".ipython", ".jupyter"}

// Watch notices which of the listed files in some folders were changed by commands. It reads nothing
// before the first Begin. It is safe for concurrent use.
type Watch struct {
	mu      sync.Mutex
	roots   []string
	now     func() time.Time
	known   map[string]*folder // by absolute path
	partial map[string]bool    // roots of which not everything could be compared, and that was said
	running int                // commands
	left    []<-chan struct{}  // closed when a command that went on has ended
}

// NewWatch returns a watch over folders: absolute paths, the workspace first.
func NewWatch(roots ...string) *Watch {
	return &Watch{roots: roots, now: time.Now, partial: make(map[string]bool)}
}

// folder holds what was seen in a folder.
type folder struct {
	stamp   stamp
	at      time.Time // when its names were read
	git     bool      // git keeps a repository in it
	level   int       // of how many below everything is compared; plain: only listed names are
	folders []below
	files   map[string]*file // listed ones, by name
}

// below is a folder in one.
type below struct {
	name  string
	level int
}

// The levels of folders.
const (
	plain      = -1
	everything = 1 << 20
)

// file holds what was seen of a listed file.
type file struct {
	stamp    stamp
	at       time.Time // when the digest was made
	digest   string
	by, what string
}

// Begin notes the state of the files before a command. What has changed while no other command ran was
// changed by somebody else; what has changed while one ran is returned.
func (w *Watch) Begin() []action.Executed {
	w.mu.Lock()
	defer w.mu.Unlock()
	changes := w.compare()
	if !w.busy() {
		changes = slices.DeleteFunc(changes, func(e action.Executed) bool { return e.How != action.Unknown })
	}
	w.running++
	return changes
}

// End returns what has changed since the command began. left is closed when what the command left
// running has ended, nil if it left nothing.
func (w *Watch) End(left <-chan struct{}) []action.Executed {
	w.mu.Lock()
	defer w.mu.Unlock()
	changes := w.compare()
	w.running--
	if left != nil {
		w.left = append(w.left, left)
	}
	return changes
}

// Now returns what has changed because of commands that still run, or ended since the last look.
func (w *Watch) Now() []action.Executed {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running == 0 && len(w.left) == 0 {
		return nil
	}
	changes := w.compare()
	w.busy()
	return changes
}

// busy reports whether a command ran until just now. Those that have ended are forgotten.
func (w *Watch) busy() bool {
	before := w.running + len(w.left)
	w.left = slices.DeleteFunc(w.left, func(done <-chan struct{}) bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	})
	return before > 0
}

// compare reads what may have changed, and returns the differences from what was known, by path.
func (w *Watch) compare() []action.Executed {
	s := scan{w: w, before: w.known, known: make(map[string]*folder, len(w.known)), changes: make(map[string]action.Executed)}
	for _, s.root = range w.roots {
		s.full = false
		s.folder(s.root, plain)
		if s.full && !w.partial[s.root] {
			w.partial[s.root] = true
			s.changes[s.root] = action.Executed{Path: s.root, By: "buddy", What: "in which not everything could be compared", How: action.Unknown}
		}
	}
	s.gone()
	first := w.known == nil
	w.known = s.known
	var all []action.Executed
	for _, path := range slices.Sorted(maps.Keys(s.changes)) {
		if e := s.changes[path]; !first || e.How == action.Unknown {
			all = append(all, e)
		}
	}
	return all
}

// scan is one look at the folders.
type scan struct {
	w             *Watch
	root          string // that is looked at
	before, known map[string]*folder
	files         int
	full          bool // there is more than is looked at
	changes       map[string]action.Executed
}

// folder looks at a folder and at those below.
func (s *scan) folder(path string, level int) {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || s.known[path] != nil {
		return
	}
	if len(s.known) >= maxFolders || s.files >= maxFiles {
		s.full = true
		return
	}
	f, now := s.before[path], stampOf(info)
	if f == nil || f.stamp != now || f.level != level || !now.settled(f.at) {
		f = &folder{stamp: now, at: s.w.now(), level: level}
		s.list(path, f)
	}
	s.known[path] = f
	if f.git {
		s.git(path)
		return
	}
	s.compareFiles(path, f.files)
	for _, b := range f.folders {
		s.folder(filepath.Join(path, b.name), b.level)
	}
}

// list reads the names in a folder.
func (s *scan) list(path string, f *folder) {
	if f.git = isGit(path); f.git {
		return
	}
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.full = true
	}
	f.files = make(map[string]*file)
	for _, e := range entries {
		name := e.Name()
		by, what, listed := s.find(path, name, f.level)
		switch {
		case e.IsDir() && f.level != 0 && name != ".buddyx": // which buddy itself writes all the time
			f.folders = append(f.folders, below{name, levelBelow(name, f.level, listed)})
		case !e.IsDir() && listed:
			f.files[name] = &file{by: by, what: what}
		}
	}
}

// find returns the row of a name in a folder.
func (s *scan) find(path, name string, level int) (by, what string, ok bool) {
	if level == plain && !mayList(name) {
		return "", "", false
	}
	rel, err := filepath.Rel(s.root, filepath.Join(path, name))
	if err != nil {
		return "", "", false
	}
	by, what, _, ok = Find(rel)
	return by, what, ok
}

// levelBelow returns the level of a folder in one of a level.
func levelBelow(name string, level int, listed bool) int {
	switch {
	case level != plain:
		return level - 1
	case !listed:
		return plain
	case slices.Contains(packages, strings.ToLower(name)):
		return maxDeep
	}
	return everything
}

// compareFiles looks at the listed files of a folder.
func (s *scan) compareFiles(path string, listed map[string]*file) {
	if len(listed) == 0 && len(s.known[path].files) == 0 {
		return // as in most
	}
	f, old, next := *s.known[path], map[string]*file(nil), make(map[string]*file, len(listed))
	if was := s.before[path]; was != nil {
		old = was.files
	}
	for name, entry := range listed {
		full := filepath.Join(path, name)
		info, err := os.Lstat(full)
		if err != nil {
			continue // gone says so
		}
		s.files++
		was, now := old[name], &file{stamp: stampOf(info), at: s.w.now(), by: entry.by, what: entry.what}
		switch {
		case was != nil && was.stamp == now.stamp && now.stamp.settled(was.at) && info.Mode().IsRegular():
			now.digest, now.at = was.digest, was.at
		case f.level >= 0 && f.level <= maxDeep: // too many to read
			now.digest = now.stamp.String()
		default:
			now.digest = digest(full, info)
		}
		switch {
		case was == nil:
			s.changed(full, now, action.Created)
		case was.digest != now.digest:
			s.changed(full, now, action.Changed)
		}
		next[name] = now
	}
	f.files = next
	s.known[path] = &f // what was known before stays
}

// gone adds the files that were there before.
func (s *scan) gone() {
	for path, was := range s.before {
		now := s.known[path]
		for name, f := range was.files {
			if now == nil || now.files[name] == nil {
				s.changed(filepath.Join(path, name), f, action.Removed)
			}
		}
	}
}

// changed notes a change. Of packages it is that of their folder, whatever happened in it.
func (s *scan) changed(path string, f *file, how action.Change) {
	for _, root := range s.w.roots[:1] {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			path = rel
		}
	}
	elements := strings.Split(path, "/")
	if i := slices.IndexFunc(elements, func(e string) bool { return slices.Contains(packages, strings.ToLower(e)) }); i >= 0 && i < len(elements)-1 {
		path, how = strings.Join(elements[:i+1], "/")+"/", action.Changed
	}
	s.changes[path] = action.Executed{Path: path, By: f.by, What: f.what, How: how}
}

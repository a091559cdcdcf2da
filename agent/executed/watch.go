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

	"golang.org/x/sys/unix"

	"buddy/agent/action"
)

// Limits of what a Watch looks at.
const (
	maxFolders = 20_000    // in one workspace; those beyond are not compared, which is said once
	maxFiles   = 20_000    // that are compared
	maxDigest  = 256 << 10 // bytes of a file whose content is compared; of a larger one its size and times are
	maxDeep    = 1         // levels that are compared below a folder of packages
)

// settles is the least age of a change at which its stamp is trusted. The clock of a file system may tick only
// every 10 ms, and a second change within one tick leaves the stamp as it is.
const settles = 100 * time.Millisecond

// packages are listed folders with too many files to compare all: only their upper levels are compared.
var packages = []string{"node_modules", ".venv", "venv", "site-packages", "__pycache__", ".yarn", ".gradle", ".direnv", ".jj", ".hg", ".svn", ".ipython", ".jupyter"}

func holdsPackages(name string) bool { return slices.Contains(packages, strings.ToLower(name)) }

// InPackages reports whether a path is a folder of packages or lies in one, of which a Watch compares only
// the upper levels.
func InPackages(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), holdsPackages)
}

// Watch notices which of the listed files in some folders were changed by commands. It reads nothing
// before the first Begin. It is safe for concurrent use.
type Watch struct {
	mu      sync.Mutex
	roots   []string
	now     func() time.Time
	known   map[string]*folder // by absolute path; nil before the first look
	looks   int
	partial map[string]bool   // roots of which not everything could be compared, and that was said
	running int               // commands
	left    []<-chan struct{} // closed when a command that went on has ended
}

// NewWatch returns a watch over folders: absolute paths, the workspace first.
func NewWatch(roots ...string) *Watch {
	return &Watch{roots: roots, now: time.Now, partial: make(map[string]bool)}
}

// folder holds what was seen in a folder.
type folder struct {
	path    string
	look    int // the last one that saw it
	stamp   stamp
	at      time.Time // when its names were read
	git     bool      // git keeps a repository in it
	level   int       // of how many below everything is compared; plain: only listed names are
	folders []*folder
	files   map[string]*file // listed ones, by name; nil if there are none
}

// The levels of folders.
const (
	plain      = -1
	everything = 1 << 20
)

// file holds what was seen of a listed file.
type file struct {
	path     string
	stamp    stamp
	at       time.Time // when the digest was made
	digest   string    // "" before the first look
	by, what string
}

// Begin notes the state of the files before a command. It returns what has changed while another command ran;
// what has changed while none ran was changed by somebody else, and is not returned.
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

// compare reads what may have changed, and returns the differences from what was known, by path. Where nothing
// changed it costs one system call for each folder and each listed file, and little else.
func (w *Watch) compare() []action.Executed {
	first := w.known == nil
	if first {
		w.known = make(map[string]*folder)
	}
	w.looks++
	s := scan{w: w, changes: make(map[string]action.Executed)}
	for _, root := range w.roots {
		s.rootFolder(root)
		if s.full && !w.partial[root] {
			w.partial[root] = true
			s.changes[root] = action.Executed{Path: root, By: "buddy", What: "in which not everything could be compared", How: action.Unknown}
		}
	}
	s.gone()
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
	w              *Watch
	root           string // that is looked at
	dir            int    // the root, open: names from there on cost less than whole paths
	folders, files int
	full           bool // there is more than is looked at
	changes        map[string]action.Executed
}

// rootFolder looks at one of the roots.
func (s *scan) rootFolder(root string) {
	s.root, s.full = root, false
	dir, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if s.dir = dir; err != nil {
		s.dir = -1
	} else {
		defer func() { _ = unix.Close(dir) }()
	}
	s.folder(s.at(root, plain))
}

// stamp returns the stamp of a file or folder; links are not followed.
func (s *scan) stamp(path string) (stamp, error) {
	if len(path) > len(s.root)+1 && path[len(s.root)] == '/' && path[:len(s.root)] == s.root && s.dir >= 0 {
		return stampOf(s.dir, path[len(s.root)+1:], false)
	}
	return stampOf(unix.AT_FDCWD, path, false)
}

// at returns what is known of a folder, which may be nothing yet.
func (s *scan) at(path string, level int) *folder {
	f := s.w.known[path]
	switch {
	case f == nil:
		f = &folder{path: path, level: level}
	case f.level != level && f.look != s.w.looks: // else another root has it, too
		f.level, f.at = level, time.Time{} // its names are to be read again
	}
	return f
}

// folder looks at a folder and at those below.
func (s *scan) folder(f *folder) {
	now, err := s.stamp(f.path)
	if err != nil || !now.is(unix.S_IFDIR) || f.look == s.w.looks {
		return
	}
	if s.folders >= maxFolders || s.files >= maxFiles {
		s.full = true
		return
	}
	s.folders++
	if f.look == 0 {
		s.w.known[f.path] = f
	}
	f.look = s.w.looks
	if f.stamp != now || !now.settled(f.at) {
		f.stamp, f.at = now, s.w.now()
		s.list(f)
	}
	if f.git {
		s.git(f)
		return
	}
	s.compareFiles(f)
	for _, below := range f.folders {
		s.folder(below)
	}
}

// list reads the names in a folder.
func (s *scan) list(f *folder) {
	f.folders = nil
	if f.git = isGit(f.path); f.git {
		return
	}
	entries, err := os.ReadDir(f.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.full = true
	}
	var files map[string]*file
	for _, e := range entries {
		name := e.Name()
		by, what, listed := s.find(f.path, name, f.level)
		switch {
		case e.IsDir() && f.level != 0 && name != ".buddyx": // which buddy itself writes all the time
			f.folders = append(f.folders, s.at(filepath.Join(f.path, name), levelBelow(name, f.level, listed)))
		case !e.IsDir() && listed:
			if files == nil { // as in most
				files = make(map[string]*file)
			}
			files[name] = &file{path: filepath.Join(f.path, name), by: by, what: what}
		}
	}
	s.listed(f, files)
}

// listed notes which files of a folder are listed now.
func (s *scan) listed(f *folder, now map[string]*file) {
	for name, was := range f.files {
		if next := now[name]; next != nil {
			was.by, was.what, now[name] = next.by, next.what, was
		} else {
			s.removed(was)
		}
	}
	f.files = now
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
	case holdsPackages(name):
		return maxDeep
	}
	return everything
}

// compareFiles looks at the listed files of a folder. It looks at each, because writing through another hard
// link of a file changes nothing in its folder.
func (s *scan) compareFiles(f *folder) {
	for name, file := range f.files {
		now, err := s.stamp(file.path)
		if err != nil {
			s.removed(file)
			delete(f.files, name)
			continue
		}
		s.files++
		if file.stamp == now && now.settled(file.at) && now.is(unix.S_IFREG) {
			continue
		}
		was := file.digest
		file.stamp, file.at = now, s.w.now()
		if f.level >= 0 && f.level <= maxDeep { // too many to read
			file.digest = now.String()
		} else {
			file.digest = digest(file.path, now)
		}
		switch was {
		case file.digest:
		case "":
			s.changed(file, action.Created)
		default:
			s.changed(file, action.Changed)
		}
	}
}

// gone forgets the folders that this look did not see.
func (s *scan) gone() {
	if s.folders == len(s.w.known) {
		return
	}
	for path, f := range s.w.known {
		if f.look != s.w.looks {
			for _, file := range f.files {
				s.removed(file)
			}
			delete(s.w.known, path)
			*f = folder{path: path, level: f.level} // its parent may have it still
		}
	}
}

// removed notes that a file is no more.
func (s *scan) removed(f *file) {
	if f.digest != "" { // else nobody saw it
		s.changed(f, action.Removed)
	}
}

// changed notes a change. Of packages it is that of their folder, whatever happened in it.
func (s *scan) changed(f *file, how action.Change) {
	path := f.path
	for _, root := range s.w.roots[:1] {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			path = rel
		}
	}
	elements := strings.Split(path, "/")
	if i := slices.IndexFunc(elements, holdsPackages); i >= 0 && i < len(elements)-1 {
		path, how = strings.Join(elements[:i+1], "/")+"/", action.Changed
	}
	s.changes[path] = action.Executed{Path: path, By: f.by, What: f.what, How: how}
}

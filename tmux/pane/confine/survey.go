//go:build darwin || (linux && (amd64 || arm64))

package confine

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"buddy/texts"
	"buddy/texts/secretfile"
)

// maxLooked limits the files examined for secrets. Folders beyond the limit can't be read at all.
const maxLooked = 300_000

// settled is the time that an unwatched folder must be unchanged before its entries are cached. The file system's clock
// has coarse ticks, so a folder that changes twice in quick succession can get the same time twice.
const settled = time.Second

// survey tracks the files with secrets in a workspace folder. The first look reads all folders; later looks read only
// changed folders.
type survey struct {
	root    string
	hidden  []string // may not be read, whatever their names
	named   bool     // the name of root itself indicates secrets, although the user chose it
	around  bool     // root is a repository around the workspace folders
	work    []string // the workspace folders, which are skipped, if around is set
	most    int      // maximum number of examined files
	watch   *watch   // nil: the folders are compared with their earlier state
	folders map[string]folder
	found   []string          // by the last look
	names   map[fileID]uint64 // at the last look, for secrets with several names: the number of names
	read    int               // folders read by the last look
}

// Around tracks the files and folders with secrets in a repository around workspace folders: files with names from
// package secretfile, and folders with agents' sessions and memory. It is not safe for concurrent use.
type Around struct{ survey }

// NewAround returns the survey of a repository; work are the workspace folders.
func NewAround(root string, work []string) *Around {
	a := &Around{*newSurvey(root, nil)}
	a.around, a.work = true, work
	return a
}

// Is reports whether the survey is for this repository and these folders.
func (a *Around) Is(root string, work []string) bool {
	return a.root == root && slices.Equal(a.work, work)
}

// Look returns the current secrets. all is false if it could not examine all folders within limit.
func (a *Around) Look(limit time.Duration) (secrets []string, all bool) {
	late := time.Now().Add(limit)
	return a.walk(changes{all: true}, func(int) bool { return time.Now().After(late) })
}

// folder holds a survey's result for one folder.
type folder struct {
	device, inode uint64
	changed       unix.Timespec // its ctime, which no program can set back, unlike the mtime
	settled       bool
	watched       bool
	below         []string // its folders to examine
	secrets       []string // paths
	entries       int
	linked        map[string]fileID // its files with several names, by path; nil: not determined
}

// fileID identifies a file independently of its names.
type fileID struct{ device, inode uint64 }

// changes holds the changes in the folders of a survey.
type changes struct {
	all      bool            // anything may have changed
	entries  map[string]bool // folders with changed entries
	replaced map[string]bool // folders that may have been replaced, with everything below them
}

func (c changes) none() bool { return !c.all && len(c.entries) == 0 }

func newSurvey(root string, hidden []string) *survey {
	part, _ := secretfile.Find(root)
	return &survey{root: root, hidden: hidden, named: part != "", most: maxLooked}
}

// look returns the paths to hide: the hidden paths in the root (or the root itself), the files with secret names, all
// other names of these files, and the folders beyond the limit of files. It skips .git and node_modules.
func (s *survey) look() []string {
	if s.watch == nil {
		s.watch = newWatch(s.root)
	}
	dirty := s.watch.changes()
	if was, ok := s.folders[s.root]; ok && !was.at(s.root) {
		s.watch, s.folders = newWatch(s.root), nil // root was replaced by another folder
	}
	if s.folders != nil && dirty.none() && s.watch.complete() {
		s.read = 0
		return s.found
	}
	var secrets []string
	for _, h := range s.hidden {
		switch {
		case texts.Below(s.root, h):
			s.found, s.folders = []string{s.root}, map[string]folder{}
			return s.found
		case texts.Below(h, s.root):
			secrets = append(secrets, h)
		}
	}
	found, _ := s.walk(dirty, func(looked int) bool { return looked >= s.most })
	s.found = append(secrets, s.withNames(found)...)
	return s.found
}

// walk examines folders until enough returns true; enough gets the number of entries examined so far. In a workspace,
// the remaining folders then count as secrets. In a repository around the workspace, walk ends, and all is false.
func (s *survey) walk(dirty changes, enough func(looked int) bool) (secrets []string, all bool) {
	s.read = 0
	looked, seen := 0, make(map[string]folder, len(s.folders))
	var walk func(dir string, known bool) bool
	walk = func(dir string, known bool) bool {
		known = known && !dirty.replaced[dir]
		f := s.folder(dir, known, dirty)
		seen[dir] = f
		looked += f.entries
		secrets = append(secrets, f.secrets...)
		for _, name := range f.below {
			path := filepath.Join(dir, name)
			switch {
			case !enough(looked):
				if !walk(path, known) {
					return false
				}
			case s.around:
				return false
			default:
				secrets = append(secrets, path)
			}
		}
		return true
	}
	all = walk(s.root, true)
	s.folders = seen
	return secrets, all
}

// folder returns a folder's result, from the cache if it has not changed. Unreadable files are not secrets, because
// commands can't read them.
func (s *survey) folder(dir string, known bool, dirty changes) folder {
	f, ok := s.folders[dir]
	known = known && ok
	if known && f.watched && !dirty.all && !dirty.entries[dir] {
		return f
	}
	watched := s.watch.add(dir) // before reading, so that later changes are reported
	var st unix.Stat_t
	if unix.Lstat(dir, &st) != nil {
		return folder{}
	}
	if known && f.settled && f.device == uint64(st.Dev) && f.inode == st.Ino && f.changed == st.Ctim && !dirty.entries[dir] {
		f.watched, f.linked = watched, nil
		return f
	}
	s.read++
	f = folder{device: uint64(st.Dev), inode: st.Ino, changed: st.Ctim, settled: time.Since(time.Unix(st.Ctim.Unix())) > settled, watched: watched}
	s.list(dir, &f)
	return f
}

// list reads the entries of a folder.
func (s *survey) list(dir string, f *folder) {
	entries, _ := os.ReadDir(dir)
	f.entries = len(entries)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir() && s.around && s.wholeSecret(path):
			f.secrets = append(f.secrets, path)
		case e.IsDir():
			if s.looksAt(path) {
				f.below = append(f.below, e.Name())
			}
		case s.secret(path):
			if real := s.behind(path, e); real != "" {
				f.secrets = append(f.secrets, real)
			}
		}
	}
}

// at reports whether a path still leads to the folder.
func (f folder) at(path string) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil && uint64(st.Dev) == f.device && st.Ino == f.inode
}

// withNames returns the secrets and all other names of their files in the examined folders: a kernel rule that makes
// one name of a file readable makes the file readable by every name.
func (s *survey) withNames(secrets []string) []string {
	several := make(map[fileID]uint64)
	again := false // a file's number of names changed: an unchanged folder may have one of them
	for _, path := range secrets {
		if id, n := namesOf(path); n > 1 {
			several[id] = n
			again = again || s.names[id] != n
		}
	}
	if s.names = several; len(several) == 0 {
		return secrets
	}
	is := make(map[string]bool, len(secrets))
	for _, path := range secrets {
		is[path] = true
	}
	for dir, f := range s.folders {
		if again || f.linked == nil {
			f.linked = linkedIn(dir)
			s.folders[dir] = f
		}
		for path, id := range f.linked {
			if several[id] > 0 && !is[path] {
				secrets, is[path] = append(secrets, path), true
			}
		}
	}
	slices.Sort(secrets)
	return secrets
}

// namesOf returns the identity of a regular file, and its number of names.
func namesOf(path string) (id fileID, names uint64) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return id, 0
	}
	return fileID{uint64(st.Dev), st.Ino}, uint64(st.Nlink) //nolint:unconvert // another type on other architectures
}

// linkedIn returns the files with several names in a folder.
func linkedIn(dir string) map[string]fileID {
	all := make(map[string]fileID)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.Type().IsRegular() {
			continue
		}
		if id, n := namesOf(path); n > 1 {
			all[path] = id
		}
	}
	return all
}

// looksAt reports whether a folder is examined.
func (s *survey) looksAt(dir string) bool {
	name := filepath.Base(dir)
	return name != ".git" && (s.around || name != "node_modules") && !slices.Contains(s.hidden, dir) && !slices.Contains(s.work, dir)
}

// behind returns the file that a name leads to, or "" for skipped links: links in a workspace folder, and links that
// lead out of the repository, whose targets are not visible.
func (s *survey) behind(path string, e fs.DirEntry) string {
	if e.Type()&fs.ModeSymlink == 0 {
		return path
	}
	real, err := filepath.EvalSymlinks(path)
	if !s.around || err != nil || !texts.Below(real, s.root) || slices.ContainsFunc(s.work, func(w string) bool { return texts.Below(real, w) || texts.Below(w, real) }) {
		return ""
	}
	return real
}

// agentFolders lists the names of folders with agents' sessions and memory.
var agentFolders = []string{".buddyx", ".agentx"}

// wholeSecret reports whether a folder is hidden with all its contents, including source files.
func (s *survey) wholeSecret(dir string) bool {
	return slices.Contains(agentFolders, filepath.Base(dir)) || s.secret(filepath.Join(dir, "main.go"))
}

// secret reports whether the name of a file means that it holds secrets.
func (s *survey) secret(path string) bool {
	if s.named {
		path, _ = filepath.Rel(s.root, path)
	}
	part, _ := secretfile.Find(path)
	return part != ""
}

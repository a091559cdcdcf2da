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

// maxLooked is the number of files that are looked at for secrets. Folders beyond can't be read at all.
const maxLooked = 300_000

// settled is the least age of the last change of a folder that is not watched for its entries to be kept: a later change
// within the same tick of the file system's clock would have the same time.
const settled = time.Second

// survey knows the files with secrets in a folder to work in. The first look reads all folders; later ones read
// those that changed since.
type survey struct {
	root    string
	hidden  []string // may not be read, whatever their names say
	named   bool     // the name of root itself says that all in it is secret: the person chose it nevertheless
	around  bool     // root is what lies around the folders to work in
	work    []string // with around: those folders, which are not looked at
	most    int      // files to look at
	watch   *watch   // nil: the folders are compared with what they were
	folders map[string]folder
	found   []string          // by the last look
	names   map[fileID]uint64 // the number of names of secrets that have several, at the last look
	read    int               // folders that the last look read
}

// Around knows the files and folders with secrets in a repository around folders to work in: those that package secretfile
// names, and those of agents. It is for one goroutine at a time.
type Around struct{ survey }

// NewAround returns the survey of a repository; work are the folders to work in.
func NewAround(root string, work []string) *Around {
	a := &Around{*newSurvey(root, nil)}
	a.around, a.work = true, work
	return a
}

// Is reports whether the survey is of a repository around these folders.
func (a *Around) Is(root string, work []string) bool {
	return a.root == root && slices.Equal(a.work, work)
}

// Look returns what has secrets now. It is false when the time did not suffice.
func (a *Around) Look(limit time.Duration) (secrets []string, all bool) {
	late := time.Now().Add(limit)
	return a.walk(changes{all: true}, func(int) bool { return time.Now().After(late) })
}

// folder holds what a survey found in one folder.
type folder struct {
	device, inode uint64
	changed       unix.Timespec // its ctime, which no program can set back as it can the mtime
	settled       bool
	watched       bool
	below         []string // the folders in it that are looked at
	secrets       []string // paths
	entries       int
	linked        map[string]fileID // the files in it that have several names, by path; nil: not looked for
}

// fileID identifies a file, by whatever name.
type fileID struct{ device, inode uint64 }

// changes holds what changed in the folders of a survey.
type changes struct {
	all      bool            // anything may have
	entries  map[string]bool // folders with other entries
	replaced map[string]bool // what may be another folder now, with all below it
}

func (c changes) none() bool { return !c.all && len(c.entries) == 0 }

func newSurvey(root string, hidden []string) *survey {
	part, _ := secretfile.Find(root)
	return &survey{root: root, hidden: hidden, named: part != "", most: maxLooked}
}

// look returns the hidden paths in the root, which may be the root itself, the files below it whose names say
// that they hold secrets, all other names of those, and the folders that it did not look at because there are too many
// files. It looks at neither .git nor node_modules.
func (s *survey) look() []string {
	if s.watch == nil {
		s.watch = newWatch(s.root)
	}
	dirty := s.watch.changes()
	if was, ok := s.folders[s.root]; ok && !was.at(s.root) {
		s.watch, s.folders = newWatch(s.root), nil // another folder has its place
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

// walk looks at folder after folder until enough says so of the number of entries that were looked at. Then it is false
// around the folders to work in; in those the folders that remain count as secrets.
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

// folder returns what a folder has, as it is known if it did not change since. What can't be read is no secret for
// commands.
func (s *survey) folder(dir string, known bool, dirty changes) folder {
	f, ok := s.folders[dir]
	known = known && ok
	if known && f.watched && !dirty.all && !dirty.entries[dir] {
		return f
	}
	watched := s.watch.add(dir) // before it is read: what changes later is told
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

// withNames returns secrets with all other names that those files have in the folders that were looked at: the kernel
// keeps a rule for the file, which would make it readable by all its names.
func (s *survey) withNames(secrets []string) []string {
	several := make(map[fileID]uint64)
	again := false // a file has another number of names: a folder that did not change may have one of them
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

// namesOf returns what a regular file is, and the number of its names.
func namesOf(path string) (id fileID, names uint64) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return id, 0
	}
	return fileID{uint64(st.Dev), st.Ino}, uint64(st.Nlink) //nolint:unconvert // it is another type on other machines
}

// linkedIn returns the files in a folder that have several names.
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

// looksAt reports whether a folder is looked at.
func (s *survey) looksAt(dir string) bool {
	name := filepath.Base(dir)
	return name != ".git" && (s.around || name != "node_modules") && !slices.Contains(s.hidden, dir) && !slices.Contains(s.work, dir)
}

// behind returns the file that a name leads to, "" for links that are not looked at: those of a folder to work in, and
// those that lead out of the repository, which is not there.
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

// agentFolders lists the names of folders with the sessions and the memory of agents.
var agentFolders = []string{".buddyx", ".agentx"}

// wholeSecret reports whether a folder is hidden with all in it, whatever that is called: also the source files.
func (s *survey) wholeSecret(dir string) bool {
	return slices.Contains(agentFolders, filepath.Base(dir)) || s.secret(filepath.Join(dir, "main.go"))
}

// secret reports whether the name of a file says that it holds secrets.
func (s *survey) secret(path string) bool {
	if s.named {
		path, _ = filepath.Rel(s.root, path)
	}
	part, _ := secretfile.Find(path)
	return part != ""
}

//go:build linux && (amd64 || arm64)

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

// maxLooked is the number of files that are looked at for secrets. What lies beyond is protected
// by its name only, when a command names it.
const maxLooked = 10_000

// settled is the least age of a folder's last change for its entries to be kept: a later change within the same tick
// of the file system's clock would have the same time.
const settled = time.Second

// survey knows the files with secrets in a folder to work in. The first look reads all folders; later ones read
// those that changed since.
type survey struct {
	root    string
	hidden  []string // may not be read, whatever their names say
	named   bool     // the name of root itself says that all in it is secret: the person chose it nevertheless
	around  bool     // root is what lies around the folders to work in
	work    []string // with around: those folders, which are not looked at
	folders map[string]folder
	read    int // folders that the last look read
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
	return a.walk(func(int) bool { return time.Now().After(late) })
}

// folder holds what a survey found in one folder.
type folder struct {
	device, inode uint64
	changed       unix.Timespec // its ctime, which no program can set back as it can the mtime
	settled       bool
	below         []string // the folders in it that are looked at
	secrets       []string // paths
	entries       int
}

func newSurvey(root string, hidden []string) *survey {
	part, _ := secretfile.Find(root)
	return &survey{root: root, hidden: hidden, named: part != ""}
}

// look returns the hidden paths in the root, which may be the root itself, and the files below it whose names say
// that they hold secrets. It looks at neither .git nor node_modules.
func (s *survey) look() (secrets []string) {
	for _, h := range s.hidden {
		switch {
		case texts.Below(s.root, h):
			return []string{s.root}
		case texts.Below(h, s.root):
			secrets = append(secrets, h)
		}
	}
	found, _ := s.walk(func(looked int) bool { return looked >= maxLooked })
	return append(secrets, found...)
}

// walk looks at folder after folder until enough says so of the number of entries that were looked at; then it is false.
func (s *survey) walk(enough func(looked int) bool) (secrets []string, all bool) {
	s.read = 0
	looked, seen := 0, make(map[string]folder, len(s.folders))
	var walk func(dir string) bool
	walk = func(dir string) bool {
		f := s.folder(dir)
		seen[dir] = f
		looked += f.entries
		secrets = append(secrets, f.secrets...)
		for _, name := range f.below {
			if enough(looked) || !walk(filepath.Join(dir, name)) {
				return false
			}
		}
		return true
	}
	all = walk(s.root)
	s.folders = seen
	return secrets, all
}

// folder returns what a folder has, as it is known if it did not change since. What can't be read is no secret for
// commands.
func (s *survey) folder(dir string) folder {
	var st unix.Stat_t
	if unix.Lstat(dir, &st) != nil {
		return folder{}
	}
	f, known := s.folders[dir]
	if known && f.settled && f.device == st.Dev && f.inode == st.Ino && f.changed == st.Ctim {
		return f
	}
	s.read++
	f = folder{device: st.Dev, inode: st.Ino, changed: st.Ctim, settled: time.Since(time.Unix(st.Ctim.Unix())) > settled}
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
	return f
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

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
	folders map[string]folder
	read    int // folders that the last look read
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
	s.read = 0
	left, seen := maxLooked, make(map[string]folder, len(s.folders))
	var walk func(dir string)
	walk = func(dir string) {
		f := s.folder(dir)
		seen[dir] = f
		left -= f.entries
		secrets = append(secrets, f.secrets...)
		for _, name := range f.below {
			if left <= 0 {
				return
			}
			walk(filepath.Join(dir, name))
		}
	}
	walk(s.root)
	s.folders = seen
	return secrets
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
		case e.IsDir():
			if e.Name() != ".git" && e.Name() != "node_modules" && !slices.Contains(s.hidden, path) {
				f.below = append(f.below, e.Name())
			}
		case e.Type()&fs.ModeSymlink == 0 && s.secret(path):
			f.secrets = append(f.secrets, path)
		}
	}
	return f
}

// secret reports whether the name of a file says that it holds secrets.
func (s *survey) secret(path string) bool {
	if s.named {
		path, _ = filepath.Rel(s.root, path)
	}
	part, _ := secretfile.Find(path)
	return part != ""
}

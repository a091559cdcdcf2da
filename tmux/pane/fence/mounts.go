package fence

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"buddy/texts"
	"buddy/tmux/pane/gitfiles"
)

// kind says what a command in the sandbox sees at a path. If a path has two kinds, the higher one counts.
type kind int

const (
	link     kind = iota // a symbolic link, as on this machine
	empty                // its own empty folder, in memory
	readable             // the original, read-only
	writable             // the original
	hidden               // an empty file, or an empty folder in memory
	shown                // the original, read-only, even in a hidden folder
	kept                 // the original, even in a hidden folder
	closed               // an empty folder that can't be read
)

// mount is one path in the fence.
type mount struct {
	path string
	kind kind
	to   string // a link's target, or for readable and writable the original, if that is another path
}

// plan collects mounts by path.
type plan map[string]mount

// add adds the file or folder at an absolute path, if it exists, and the symbolic links that lead to it.
func (p plan) add(k kind, path string) {
	links, real := gitfiles.Links(path)
	for _, l := range links {
		p.put(mount{l.At, link, l.To})
	}
	if info, err := os.Lstat(real); err == nil && info.Mode()&os.ModeSymlink == 0 {
		p.put(mount{path: real, kind: k})
	}
}

// addAll adds mounts of one kind for several paths.
func (p plan) addAll(k kind, paths []string) {
	for _, path := range paths {
		p.add(k, path)
	}
}

// fix makes mount points of the folders between top and path. Otherwise a command could rename one of them, which would
// take the mount away from path.
func (p plan) fix(top, path string) {
	for dir := filepath.Dir(path); dir != top && texts.Below(dir, top); dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			p.put(mount{dir, writable, dir})
		}
	}
}

func (p plan) put(m mount) {
	if old, ok := p[m.path]; !ok || old.kind < m.kind {
		p[m.path] = m
	}
}

// args returns bwrap's arguments for the mounts, parents first, without mounts that change nothing.
func (p plan) args() (args []string) {
	all := slices.SortedFunc(maps.Values(p), func(a, b mount) int {
		return cmp.Compare(strings.ReplaceAll(a.path, "/", "\x00"), strings.ReplaceAll(b.path, "/", "\x00"))
	})
	var above []mount // mounts that contain the current path
	for _, m := range all {
		for len(above) > 0 && !texts.Below(m.path, above[len(above)-1].path) {
			above = above[:len(above)-1]
		}
		in := mount{kind: empty} // the root
		if len(above) > 0 {
			in = above[len(above)-1]
		}
		same := in.kind == m.kind && in.to == "" && m.to == "" && m.kind != empty
		if in.kind == hidden && m.kind < shown || same || m.kind == link && in.kind != empty {
			continue
		}
		args = append(args, m.args()...)
		if m.kind != link {
			above = append(above, m)
		}
	}
	return args
}

func (m mount) args() []string {
	from := cmp.Or(m.to, m.path)
	switch m.kind {
	case link:
		return []string{"--symlink", m.to, m.path}
	case readable, shown:
		return []string{"--ro-bind", from, m.path}
	case writable, kept:
		return []string{"--bind", from, m.path}
	case empty:
		return []string{"--tmpfs", m.path}
	case closed:
		return []string{"--perms", "0000", "--dir", m.path}
	}
	if info, err := os.Stat(m.path); err == nil && !info.IsDir() {
		return []string{"--ro-bind", os.DevNull, m.path}
	}
	return []string{"--tmpfs", m.path}
}

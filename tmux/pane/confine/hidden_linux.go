//go:build linux && (amd64 || arm64)

package confine

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"buddy/texts"
)

// listing is a folder with a rule for each entry. Entries created later have no rule.
type listing struct {
	dir      string
	modified time.Time
}

// visible returns the rules that let commands read root except for its secrets. Landlock can't exclude anything from an
// allowed folder, so each entry of a folder above secrets gets a rule of its own; the names of all entries can be read.
// Links get no rule, because their targets have one or may not be read.
func visible(root string, secrets []string) (rules []pathRule, listed []listing) {
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
			continue // unreadable anyway
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

// pathInfo records which file was at a path when the box was created.
type pathInfo struct {
	path string
	info os.FileInfo // nil: none
}

func statPath(path string) pathInfo {
	info, err := os.Stat(path)
	if err != nil {
		info = nil
	}
	return pathInfo{path, info}
}

// Stale reports whether, since the box was created, a workspace folder was created or replaced, entries changed in a
// folder that is listed entry by entry, files with secrets appeared or disappeared, or git reads other files of the
// user. A command in a stale box could not read new files, but could read new secrets.
func (b *Box) Stale() bool {
	return slices.ContainsFunc(b.roots, func(was pathInfo) bool {
		now := statPath(was.path)
		return now.info != nil && (was.info == nil || !os.SameFile(now.info, was.info))
	}) || slices.ContainsFunc(b.listed, func(l listing) bool {
		info, err := os.Lstat(l.dir)
		return err != nil || !info.ModTime().Equal(l.modified)
	}) || !slices.Equal(b.git, b.config.gitFiles()) || b.otherSecrets()
}

// otherSecrets reports whether the workspace's secrets have changed since the box was created.
func (b *Box) otherSecrets() bool {
	return slices.ContainsFunc(b.surveys, func(s *survey) bool { return !slices.Equal(s.look(), b.secrets[s.root]) })
}

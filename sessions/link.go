package sessions

import (
	"os"
	"path/filepath"
)

// ownLink is the path, in a project, of the link to its sessions: for people, and as a hint after the project was
// moved. The place of sessions never depends on it.
const ownLink = ".buddyx/sessions"

// isOwnLink reports whether a path is a link to the sessions of some project in our state folder.
func isOwnLink(path, state string) bool { return linked(path, state) != "" }

// linked returns the folder in our state folder that a link points to directly; "" if it points elsewhere.
func linked(path, state string) string {
	to, err := os.Readlink(path)
	if err != nil || filepath.Base(to) != "sessions" || filepath.Dir(filepath.Dir(to)) != projects(state) {
		return ""
	}
	return to
}

// MovedFrom returns the former path of a store's project, found by the project's link, if nothing is at that path any
// more; "" for none.
func MovedFrom(s Store) string {
	to := linked(filepath.Join(s.root, ownLink), s.state)
	if to == "" || to == s.dir {
		return ""
	}
	if root := rootOf(to); root != "" && inProjects(s.state, root) == to && !exists(root) {
		return root
	}
	return ""
}

// makeLink creates the link in the project of a store. It ignores errors, because nothing depends on the link.
func makeLink(s Store) {
	root, err := os.OpenRoot(s.root) // no link in the project can lead out of it
	if err != nil {
		return
	}
	defer root.Close() //nolint:errcheck // no pending writes
	repository := isDir(root, ".git")
	switch {
	case !repository && isDir(root, "objects") && isDir(root, "refs"): // a bare repository
		return
	case repository && has(root, ".git/logs/refs/stash"): // git stash -a may contain the link, and git could not restore it
		return
	case has(root, ownLink):
		to := linked(filepath.Join(s.root, ownLink), s.state)
		if to == "" || exists(to) || root.Remove(ownLink) != nil {
			return // not our link, or a link whose sessions a person may want to adopt
		}
	}
	dir := filepath.Dir(ownLink)
	if root.MkdirAll(dir, 0o700) != nil {
		return
	}
	if f, err := root.OpenFile(filepath.Join(dir, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_, _ = f.WriteString("*\n")
		_ = f.Close()
	}
	_ = root.Symlink(s.dir, ownLink)
}

// removeLink removes the link when sessions are to be stored in the project itself.
func removeLink(s Store) error {
	if isOwnLink(s.dir, s.state) {
		return os.Remove(s.dir)
	}
	return nil
}

func has(root *os.Root, path string) bool {
	_, err := root.Lstat(path)
	return err == nil
}

func isDir(root *os.Root, path string) bool {
	fi, err := root.Lstat(path)
	return err == nil && fi.IsDir()
}

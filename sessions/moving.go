package sessions

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/google/renameio/v2"

	"buddy/texts"
)

// Moved holds the counts of [Move] and [Adopt].
type Moved struct {
	Sessions int // sessions that were moved
	Busy     int // sessions that a process works on, which were not moved
	Imported int // sessions of the first programs, see importOld

	Problem string // why an old session was not imported, "" if all were
}

// Move brings all sessions of a project to its store: it moves those in former places, and imports old JSON files.
func Move(s Store) (m Moved, err error) {
	if err := moveFormer(s, &m); err != nil {
		return m, err
	}
	return m, importOld(s, s, &m)
}

// folderOf returns the working directory of the sessions in a folder of the project, or else the project's root.
func folderOf(s Store) string {
	if texts.Below(s.dir, s.state) || filepath.Base(s.dir) != "sessions" {
		return s.root
	}
	return filepath.Dir(filepath.Dir(s.dir))
}

// moveFormer moves the sessions and the memory of a project from former places to its store, if the store is in the state
// folder: one session after the other, and only those that no process works on. It may be killed at any time: the next
// call completes it. Files whose name exists in the new place already are not moved.
func moveFormer(s Store, m *Moved) error {
	if !texts.Below(s.dir, projects(s.state)) {
		return nil
	}
	for _, dir := range s.others {
		from := Store{dir: dir, state: s.state, root: s.root}
		if foreign(s, dir) || !isFolder(dir) && !isFolder(oldMemoryDir(from)) {
			continue
		}
		if err := moveAll(s, from, m); err != nil {
			return fmt.Errorf("sessions of %s were not moved: %w", from.dir, err)
		}
	}
	return nil
}

// Adopt moves the sessions and the memory of a project whose folder was moved: dir is the project's former path, where
// nothing may exist any more.
func Adopt(s Store, dir string) (m Moved, err error) {
	if exists(dir) {
		return m, fmt.Errorf("%s still exists, and its sessions belong to it", dir)
	}
	from := Store{dir: inProjects(s.state, dir), state: s.state, root: dir}
	if rootOf(from.dir) != dir {
		return m, fmt.Errorf("no known sessions for %s (buddy sessions list --all shows the folders)", dir)
	}
	if err := moveAll(s, from, &m); err != nil {
		return m, fmt.Errorf("sessions of %s were not moved: %w", dir, err)
	}
	return m, nil
}

// moveAll moves everything in a store to another one, and removes the emptied folders.
func moveAll(s, from Store, m *Moved) error {
	if err := s.makeDir(); err != nil {
		return err
	}
	lock, err := OpenPlain(filepath.Join(filepath.Dir(s.dir), "moving.lock"), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // it has no content
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if isFolder(from.dir) { // otherwise another process has moved them and created the link
		if err := moveSessions(s, from, m); err != nil {
			return err
		}
	}
	if err := moveTree(oldMemoryDir(from), MemoryDir(s), union); err != nil {
		return err
	}
	if m.Busy == 0 {
		forget(from)
	}
	makeLink(s)
	return nil
}

// moveSessions moves the sessions of a store and the other files in their folder.
func moveSessions(s, from Store, m *Moved) error {
	entries, err := os.ReadDir(from.dir)
	if err != nil {
		return ignoreMissing(err)
	}
	if err := importOld(s, from, m); err != nil {
		return err
	}
	var busy []string
	for _, e := range entries {
		id, ok := sessionID(e.Name())
		if !ok || !e.Type().IsRegular() {
			continue
		}
		switch err := moveSession(s, from, id); {
		case errors.Is(err, ErrLocked):
			busy = append(busy, id)
			m.Busy++
		case err != nil:
			return err
		default:
			m.Sessions++
		}
	}
	for _, e := range entries { // files of the sessions and other files
		name := e.Name()
		ofBusy := func(id string) bool { return name == id || strings.HasPrefix(name, id+".") }
		if slices.ContainsFunc(busy, ofBusy) {
			continue
		}
		if err := moveRest(s, from, name); err != nil {
			return err
		}
	}
	return nil
}

// moveRest moves a file or folder that is no session. It removes files that exist once per store.
func moveRest(s, from Store, name string) error {
	own := []string{".index", ".collected", ".gitignore", ".host", ".pid"} // the last two belong to sessions that no process works on
	if slices.Contains(own, name) || slices.Contains(own[3:], filepath.Ext(name)) || strings.HasPrefix(name, ".index-") {
		return ignoreMissing(os.Remove(filepath.Join(from.dir, name)))
	}
	return moveTree(filepath.Join(from.dir, name), filepath.Join(s.dir, name), keep)
}

// moveSession moves the file of one session under the lock of its writer, so that no program can write to the old place
// meanwhile. moveRest moves the session's other files.
func moveSession(s, from Store, id string) error {
	f, err := from.openFile(id, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	j := &Journal{path: f.Name(), f: f}
	if err := j.lock(); err != nil {
		return errors.Join(err, f.Close())
	}
	defer j.Close() //nolint:errcheck // nothing was written
	return moveTree(from.file(id), s.file(id), longer)
}

// oldMemoryDir returns the memory folder next to sessions in a former place.
func oldMemoryDir(s Store) string {
	if parent := filepath.Dir(s.dir); parent == filepath.Join(s.state, "sessions") {
		return filepath.Join(s.state, "memory", filepath.Base(s.dir))
	}
	return MemoryDir(s)
}

// forget removes the emptied folders of a store, and removes the store from the list of folders.
func forget(s Store) {
	if exists(s.dir) && (!isFolder(s.dir) || os.Remove(s.dir) != nil) {
		return // some files remain, or it is the link
	}
	parent := filepath.Dir(s.dir)
	if filepath.Dir(parent) == projects(s.state) {
		for _, name := range []string{rootFile, "moving.lock"} {
			_ = os.Remove(filepath.Join(parent, name))
		}
	}
	_ = os.Remove(parent) // unless it has other files
	known, err := folders(s.state)
	if left := slices.DeleteFunc(slices.Clone(known), func(d string) bool { return d == s.dir }); err == nil && len(left) < len(known) {
		var text strings.Builder
		for _, dir := range left {
			text.WriteString(dir + "\n")
		}
		_ = renameio.WriteFile(foldersPath(s.state), []byte(text.String()), 0o600) // the list is only a help
	}
}

// meeting decides what happens when a file is moved to a place where another file exists. After a nil error, either the
// old file is gone or both files remain.
type meeting func(from, to string) error

// keep removes the moved file if the file in the new place has the same content; otherwise both remain.
func keep(from, to string) error {
	if same, err := begins(from, to); err != nil || !same {
		return err
	}
	if same, err := begins(to, from); err != nil || !same {
		return err
	}
	return os.Remove(from)
}

// longer keeps the longer one of two session files if the other is its beginning.
func longer(from, to string) error {
	shorter, err := begins(to, from)
	if err != nil {
		return err
	}
	if shorter {
		return os.Remove(from)
	}
	if shorter, err = begins(from, to); err != nil || !shorter {
		return err
	}
	fi, err := os.Lstat(from)
	if err != nil {
		return err
	}
	return moveFile(from, to, fi)
}

// begins reports whether a file begins with the content of another one.
func begins(file, with string) (bool, error) {
	f, err := OpenPlain(file, os.O_RDONLY)
	if err != nil {
		return false, err
	}
	defer f.Close() //nolint:errcheck // only read
	w, err := OpenPlain(with, os.O_RDONLY)
	if err != nil {
		return false, err
	}
	defer w.Close() //nolint:errcheck // only read
	a, b := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(w, b)
		if n == 0 {
			return errors.Is(err, io.EOF), ignoreEOF(err)
		}
		if m, err := io.ReadFull(f, a[:n]); m < n {
			return false, ignoreEOF(err)
		}
		if !bytes.Equal(a[:n], b[:n]) {
			return false, nil
		}
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// union adds to the file in the new place the lines that only the moved file has, and removes the moved file.
func union(from, to string) error {
	old, err := readSmall(from)
	if err != nil {
		return err
	}
	now, err := readSmall(to)
	if err != nil {
		return err
	}
	if now != "" && !strings.HasSuffix(now, "\n") {
		now += "\n"
	}
	have := map[string]bool{}
	for line := range strings.Lines(now) {
		have[strings.TrimSpace(line)] = true
	}
	for line := range strings.Lines(old) {
		if text := strings.TrimSpace(line); text == "" || !have[text] {
			now += line
		}
	}
	if err := renameio.WriteFile(to, []byte(now), 0o600); err != nil {
		return err
	}
	return os.Remove(from)
}

// moveTree moves a file, or a folder with its contents, even to another file system; meet handles files that exist in
// the new place. Links and special files are not moved, because a cloned repository may contain them.
func moveTree(from, to string, meet meeting) error {
	fi, err := os.Lstat(from)
	switch {
	case err != nil:
		return ignoreMissing(err)
	case !fi.IsDir() && !fi.Mode().IsRegular():
		return nil
	case !fi.IsDir():
		there, err := os.Lstat(to)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return moveFile(from, to, fi)
		case err != nil || os.SameFile(fi, there):
			return err
		}
		return meet(from, to)
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if err := moveTree(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()), meet); err != nil {
			return err
		}
	}
	_ = os.Remove(from) // unless something remains
	return nil
}

// moveFile moves a regular file to a free place.
func moveFile(from, to string, fi fs.FileInfo) error {
	err := os.Rename(from, to)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	r, err := OpenPlain(from, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer r.Close()      //nolint:errcheck // only read
	part := to + ".part" // the next call replaces it
	w, err := OpenPlain(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	if err = errors.Join(err, w.Chmod(fi.Mode().Perm()), w.Sync(), w.Close()); err != nil {
		return err
	}
	if err := os.Chtimes(part, fi.ModTime(), fi.ModTime()); err != nil { // lists are sorted by it
		return err
	}
	if err := errors.Join(os.Rename(part, to), syncDir(to)); err != nil {
		return err
	}
	return os.Remove(from)
}

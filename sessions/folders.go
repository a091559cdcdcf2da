package sessions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"

	"buddy/texts"
)

// Folders returns the stores in which this user has started a session: those of the state folder by the names of their
// projects, then others, oldest first.
func Folders() ([]Store, error) {
	state := filepath.Join(xdg.StateHome, "buddy")
	var all []Store
	names, err := os.ReadDir(projects(state))
	for _, name := range names {
		dir := filepath.Join(projects(state), name.Name(), "sessions")
		if isFolder(dir) {
			all = append(all, Store{dir: dir, state: state, root: rootOf(dir)})
		}
	}
	known, err2 := folders(state)
	for _, dir := range known {
		if isFolder(dir) {
			all = append(all, Store{dir: dir, state: state, root: filepath.Dir(filepath.Dir(dir))})
		}
	}
	return all, errors.Join(ignoreMissing(err), err2)
}

func foldersPath(state string) string { return filepath.Join(state, "folders") }

// folders reads the list, one path per line.
func folders(state string) ([]string, error) {
	text, err := readSmall(foldersPath(state))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list of folders: %w", err)
	}
	var all []string
	for line := range strings.Lines(text) {
		if dir, whole := strings.CutSuffix(line, "\n"); whole && filepath.IsAbs(dir) && !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	return all, nil
}

// register adds a store outside the state folder to the list. It ignores errors, because the list only helps to find
// sessions of other folders.
func (s Store) register() {
	if texts.Below(s.dir, projects(s.state)) {
		return
	}
	known, err := folders(s.state)
	if err != nil || slices.Contains(known, s.dir) || strings.Contains(s.dir, "\n") || !filepath.IsAbs(s.dir) {
		return
	}
	f, err := OpenPlain(foldersPath(s.state), os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return
	}
	_, _ = f.WriteString(s.dir + "\n")
	_ = f.Close()
}

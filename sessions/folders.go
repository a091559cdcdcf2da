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
)

// Folders returns the stores of all existing working directories in which this user has
// started a session, the oldest first.
func Folders() ([]Store, error) {
	state := filepath.Join(xdg.StateHome, "buddy")
	known, err := folders(state)
	var all []Store
	for _, dir := range known {
		if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
			all = append(all, Store{dir: dir, state: state})
		}
	}
	return all, err
}

func foldersPath(state string) string { return filepath.Join(state, "folders") }

// folders reads the list, one path a line.
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

// register adds the store to the list. Errors are ignored: the list only helps to find
// sessions of other folders.
func (s Store) register() {
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

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

// Folders returns the stores of all working directories in which this user has begun a
// session, as far as they are still there, in the order of the first one.
func Folders() ([]Store, error) {
	state := filepath.Join(xdg.StateHome, "buddy")
	known, err := folders(state)
	var all []Store
	for _, dir := range known {
		if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
			all = append(all, Store{dir, state})
		}
	}
	return all, err
}

func foldersPath(state string) string { return filepath.Join(state, "folders") }

// folders reads the list of them, one path a line.
func folders(state string) ([]string, error) {
	text, err := readSmall(foldersPath(state))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list of folders: %w", err)
	}
	var all []string
	for line := range strings.Lines(string(text)) {
		if dir, whole := strings.CutSuffix(line, "\n"); whole && filepath.IsAbs(dir) && !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	return all, nil
}

// register adds the store to the list. It is only there to find sessions of other folders,
// so that this can't be done is no error.
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

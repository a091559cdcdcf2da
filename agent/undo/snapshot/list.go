package snapshot

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const listSuffix = ".changes"

// Write stores a list of changes and returns the path of its file.
func (t *Tree) Write(changes []Change) (list string, err error) {
	if err := os.MkdirAll(t.o.State, 0o700); err != nil {
		return "", err
	}
	var f *os.File
	for f == nil {
		list = filepath.Join(t.o.State, fmt.Sprintf("%06d%s", t.lists.Add(1), listSuffix))
		if f, err = os.OpenFile(list, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil && !errors.Is(err, os.ErrExist) {
			return "", err
		}
	}
	w := bufio.NewWriter(f)
	out := json.NewEncoder(w)
	for _, c := range changes {
		if err = out.Encode(c); err != nil {
			break
		}
	}
	return list, errors.Join(err, w.Flush(), f.Close())
}

// Read returns the changes in a file that Write stored.
func Read(list string) (changes []Change, err error) {
	f, err := os.Open(list)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	in := json.NewDecoder(bufio.NewReader(f))
	for {
		var c Change
		switch err := in.Decode(&c); {
		case errors.Is(err, io.EOF):
			return changes, nil
		case err != nil:
			return nil, fmt.Errorf("%q: %w", list, err)
		}
		changes = append(changes, c)
	}
}

// Merge combines lists of changes, the oldest first, into one change per path. It leaves out a path whose last state
// equals its first.
func Merge(lists ...[]Change) (all []Change) {
	at := make(map[string]int)
	for _, changes := range lists {
		for _, c := range changes {
			if i, ok := at[c.Path]; ok {
				all[i].After = c.After
				continue
			}
			at[c.Path] = len(all)
			all = append(all, c)
		}
	}
	kept := all[:0]
	for _, c := range all {
		if !c.Before.Same(c.After) || !c.Before.Kept() {
			kept = append(kept, c)
		}
	}
	return kept
}

// Join returns the changes of a later list, and those of an earlier list that concern other paths.
func Join(earlier, later []Change) []Change {
	has := make(map[string]bool)
	for _, c := range later {
		has[c.Path] = true
	}
	for _, c := range earlier {
		if !has[c.Path] {
			later = append(later, c)
		}
	}
	return later
}

// Reverse returns the changes that revert the given ones.
func Reverse(changes []Change) []Change {
	all := make([]Change, len(changes))
	for i, c := range changes {
		all[i] = Change{c.Path, c.After, c.Before}
	}
	return all
}

package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"buddy/tools/fs"
)

// snapshot is what was in a file at one moment.
type snapshot struct {
	exists   bool
	size     int64
	data     []byte // all of it, unless it is larger than [fs.MaxText]
	perm     os.FileMode
	modified time.Time
}

// whole reports whether data is all that is in the file.
func (s snapshot) whole() bool { return s.size <= fs.MaxText }

// snap reads the regular file at the planned path. A missing file is no error.
func (w *Workspace) snap(ctx context.Context, path string) (snapshot, error) {
	f, err := w.files.Open(ctx, path)
	if errors.Is(err, os.ErrNotExist) {
		return snapshot{}, nil
	}
	if err != nil {
		return snapshot{}, err
	}
	defer fs.Release(f)
	s, err := snapOpen(f)
	if err != nil {
		return snapshot{}, fmt.Errorf("%q: %w", path, fs.Cause(err))
	}
	return s, nil
}

// snapOpen reads an open regular file.
func snapOpen(f *fs.File) (snapshot, error) {
	s := snapshot{exists: true, size: f.Size, perm: f.Mode.Perm(), modified: f.Modified}
	if s.size > fs.MaxText {
		return s, nil
	}
	var err error
	if s.data, err = fs.ReadInto(nil, f, s.size); err != nil {
		return s, err
	}
	s.size = int64(len(s.data)) // what /proc says of its files' sizes is 0
	return s, nil
}

// replaceFile puts data at the planned path, as a whole or not at all: it writes a
// temporary file in the same folder and renames it. Missing folders are made. An
// existing file keeps its permissions, and its owner and group as far as we may set
// them; other hard links to it keep the old content.
func (w *Workspace) replaceFile(ctx context.Context, path string, data []byte) error {
	s, err := w.files.Stage(ctx, path, data, fs.Rights{})
	if err != nil {
		return err
	}
	defer fs.Release(s)
	return s.Commit()
}

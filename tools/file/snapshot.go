package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"buddy/tools/fs"
)

// snapshot is the state of a file at one moment.
type snapshot struct {
	exists   bool
	size     int64
	data     []byte // the content, unless it is larger than [fs.MaxText]
	perm     os.FileMode
	modified time.Time
}

// whole reports whether data is the complete content.
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
	s.size = int64(len(s.data)) // files in /proc report a size of 0
	return s, nil
}

// replaceFile atomically replaces the file at the planned path: it writes a temporary file in
// the same folder and renames it. Missing folders are created. An existing file keeps its
// permissions and, as far as possible, owner and group; other hard links to it keep the old
// content.
func (w *Workspace) replaceFile(ctx context.Context, path string, data []byte) error {
	s, err := w.files.Stage(ctx, path, data, fs.Rights{})
	if err != nil {
		return err
	}
	defer fs.Release(s)
	return s.Commit()
}

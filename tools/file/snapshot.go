package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
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
	links    int // number of hard links
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
	s.perm = f.Perm()
	return s, nil
}

// snapOpen reads an open regular file.
func snapOpen(f *fs.File) (snapshot, error) {
	s := snapshot{exists: true, size: f.Size, perm: f.Mode.Perm(), modified: f.Modified, links: f.Links}
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

// replaceFile replaces the content of the file at the planned path, or creates the file and its folders. An existing
// file keeps its attributes (see finish).
func (w *Workspace) replaceFile(ctx context.Context, path string, data []byte) (dropped []string, err error) {
	s, err := w.files.Stage(ctx, path, data, fs.Rights{})
	if err != nil {
		return nil, err
	}
	defer fs.Release(s)
	return finish(ctx, w, path, data, s)
}

// finish puts staged content in place. It renames the staged file, so that the change is atomic. If a rename would lose
// attributes of the file, it writes the file itself, and keeps the old bytes on the disk until that is done. It returns
// the attributes that were lost nevertheless.
func finish(ctx context.Context, w *Workspace, path string, data []byte, s fs.Staged) (dropped []string, err error) {
	var kept *fs.Kept
	dropped, err = s.Commit(func() error {
		var err error
		kept, err = w.recovery.Keep(ctx, w.files, path, data)
		return err
	})
	if kept != nil {
		err = kept.End(err)
	}
	return dropped, err
}

// droppedNote returns a note on the attributes that a write has lost, "" for none.
func droppedNote(name string, dropped []string) string {
	if len(dropped) == 0 {
		return ""
	}
	return "the write removed " + strings.Join(dropped, " and ") + " from " + name
}

// otherNames returns how many other hard links of a file get its new content as well.
func otherNames(path string, s snapshot) int {
	if s.links < 2 || fs.BreaksLinks(path) {
		return 0
	}
	return s.links - 1
}

// readOnly reports whether the owner of a file has made it read-only.
func (s snapshot) readOnly() bool { return s.exists && s.perm&0o200 == 0 }

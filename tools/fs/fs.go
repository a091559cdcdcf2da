// Package fs opens the files of a target: of this machine, or of another machine or a container.
//
//	files := fs.Local // or fs.On(h, "web")
//	path, err := files.RealPath(ctx, "/srv/app/link")
//	f, err := files.Open(ctx, path)
//	defer f.Close()
//
// Tools plan with the real path of a file, which has no symbolic links. Open follows none, so that it opens exactly
// the planned file, or fails if a link was put into the path after planning.
package fs

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"buddy/tmux/host"
)

// FS accesses the files of a target. Paths are absolute and free of links, except those given to RealPath. If a link
// was put into a path after the plan, FS returns an error instead of following it to read or write a file. It is safe
// for concurrent use.
type FS interface {
	Name() string // of the target, for display
	// Home returns the user's home folder without links, "" if it is unknown.
	Home(ctx context.Context) (string, error)
	// RealPath resolves the links of a clean path. Trailing names that do not exist are kept.
	RealPath(ctx context.Context, path string) (string, error)
	Lstat(ctx context.Context, path string) (Info, error)
	// Open opens a regular file for reading; anything else is refused.
	Open(ctx context.Context, path string) (*File, error)
	// OpenDir opens a folder for listing.
	OpenDir(ctx context.Context, path string) (Folder, error)
	// OpenTree opens a folder to visit all of it except what the rules or skip exclude. skip may be nil. With skip, the
	// tree of a host lacks the folders that could not be listed before ctx ended.
	OpenTree(ctx context.Context, path string, rules IgnoreRules, skip func(name string) bool) (Folder, error)
	// PassDir opens a folder only to reach its entries by name. The folder need not be readable.
	PassDir(ctx context.Context, path string) (Folder, error)
	// BatchSize returns how many files of a tree Fetch should read at once.
	BatchSize() int
	// Fetch reads files at once. It may omit the content of a file that contains none of the texts in need.
	Fetch(ctx context.Context, files []*File, need host.Texts)
	// Stage prepares new content for a file. It makes missing parent folders.
	Stage(ctx context.Context, path string, data []byte, r Rights) (Staged, error)
	// Remove removes a regular file.
	Remove(ctx context.Context, path string) error
	// Rename moves a regular file to another path. It makes missing parent folders.
	Rename(ctx context.Context, from, to string) error
}

// Info holds the metadata of a file.
type Info struct {
	Size     int64
	Mode     os.FileMode
	Modified time.Time
	Links    int // hard links, 0 if unknown
}

func infoOf(info os.FileInfo) Info {
	i := Info{Size: info.Size(), Mode: info.Mode(), Modified: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		i.Links = int(st.Nlink)
	}
	return i
}

// File is an open regular file.
type File struct {
	io.ReadCloser
	Path string
	Info
}

// Folder is an open folder.
type Folder interface {
	io.Closer
	Name() string // the path
	// ReadDir returns the entries as [os.File.ReadDir] does. The error [ErrMoreNames] means that the list is
	// incomplete.
	ReadDir(n int) ([]os.DirEntry, error)
	Enter(name string) (Folder, error)
	Open(name string) (*File, error)
	Lstat(name string) (Info, error)
	Readlink(name string) (string, error)
}

// ErrMoreNames reports that a folder has more names than were read.
var ErrMoreNames = errors.New("the folder has more names than are read")

// Staged is new content for a file, not yet in place. Close discards it unless it was committed.
type Staged interface {
	io.Closer
	// Commit puts the content in place: by a rename or, if a rename would lose attributes of the file, by writing the
	// file itself. In that case, it first calls keep, which copies the old bytes, and writes nothing if keep fails.
	// dropped names what the file has lost because the system drops it on a write: setuid, setgid, file capabilities.
	// After a [TornError] the file may be half written, after an [UnsureError] it may have changed, after any other
	// error it is unchanged.
	Commit(keep func() error) (dropped []string, err error)
}

// UnsureError means that a change failed but may have been made nevertheless, completely or in part.
type UnsureError struct {
	Err  error
	Left string // the possible state of the file
}

func (e *UnsureError) Error() string { return e.Err.Error() + "; " + e.Left }

// Unwrap returns the cause.
func (e *UnsureError) Unwrap() error { return e.Err }

// AsItWas reports whether an error of a change means that the file is certainly unchanged.
func AsItWas(err error) bool {
	_, torn := errors.AsType[*TornError](err)
	_, unsure := errors.AsType[*UnsureError](err)
	return !torn && !unsure
}

// ReadInto reads the rest of r, at most MaxText+1 bytes, into the memory of buf if that is large enough. size is the
// expected number of bytes.
func ReadInto(buf []byte, r io.Reader, size int64) ([]byte, error) {
	buf = slices.Grow(buf[:0], int(size)+1) // one more, to detect the end
	for {
		n, err := r.Read(buf[len(buf):min(cap(buf), MaxText+1)])
		buf = buf[:len(buf)+n]
		switch {
		case errors.Is(err, io.EOF) || len(buf) > MaxText:
			return buf, nil
		case err != nil:
			return nil, err
		case len(buf) == cap(buf):
			buf = slices.Grow(buf, 4096)
		}
	}
}

const (
	// MaxText is the size limit of files that are edited, compared or searched as text, in bytes.
	MaxText = 10 << 20
	// MaxPath is longer than any path that the supported systems accept, in bytes.
	MaxPath = 4096
)

// Cause strips the operation and path that the os package puts before an error, because our errors name the path
// themselves.
func Cause(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}

// Join puts / between two parts unless one is empty.
func Join(dir, name string) string {
	if dir == "" || name == "" {
		return dir + name
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}

// ByName compares two entries of a folder by their names.
func ByName(a, b os.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) }

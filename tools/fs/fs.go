// Package fs opens the files of a target: this machine, or what a host reaches.
//
//	files := fs.Local // or fs.On(h, "web")
//	path, err := files.RealPath(ctx, "/srv/app/link")
//	f, err := files.Open(ctx, path)
//	defer f.Close()
//
// A plan names the real path of a file. What is opened later is what was planned, or it is an
// error: a link that was put into the path since then is not followed.
package fs

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"buddy/tmux/host"
)

// FS holds the files of a target. Paths are absolute and, but for those of RealPath, planned:
// without links. A link that was put into one since then is an error and is never followed to
// read or write a file. Any goroutine may use it.
type FS interface {
	Name() string // of the target, for people
	// Home returns the person's home folder without links, "" if nobody knows it.
	Home(ctx context.Context) (string, error)
	// RealPath resolves the links of a clean path. Names at its end that do not exist stay.
	RealPath(ctx context.Context, path string) (string, error)
	Lstat(ctx context.Context, path string) (Info, error)
	// Open opens a regular file for reading; anything else is refused.
	Open(ctx context.Context, path string) (*File, error)
	// OpenDir opens a folder for listing.
	OpenDir(ctx context.Context, path string) (Folder, error)
	// OpenTree opens a folder of which all is visited that neither the rules nor skip leave out.
	// skip may be nil; with it a tree on a host lacks the folders that could not be listed before
	// ctx ended.
	OpenTree(ctx context.Context, path string, rules IgnoreRules, skip func(name string) bool) (Folder, error)
	// PassDir opens a folder whose entries are known by name. It need not be readable.
	PassDir(ctx context.Context, path string) (Folder, error)
	// BatchSize is how many files of a tree are best read at once, with Fetch.
	BatchSize() int
	// Fetch reads files at once. It may leave out the content of those which have none of the texts.
	Fetch(ctx context.Context, files []*File, need host.Texts)
	// Stage prepares a new content of a file. Missing folders are made.
	Stage(ctx context.Context, path string, data []byte, r Rights) (Staged, error)
	// Remove removes a regular file.
	Remove(ctx context.Context, path string) error
}

// Info is what is known of a file.
type Info struct {
	Size     int64
	Mode     os.FileMode
	Modified time.Time
}

func infoOf(info os.FileInfo) Info {
	return Info{Size: info.Size(), Mode: info.Mode(), Modified: info.ModTime()}
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
	Name() string // its path
	// ReadDir returns what is in it, as [os.File.ReadDir] does. With ErrMoreNames that is
	// not all.
	ReadDir(n int) ([]os.DirEntry, error)
	Enter(name string) (Folder, error)
	Open(name string) (*File, error)
	Lstat(name string) (Info, error)
	Readlink(name string) (string, error)
}

// ErrMoreNames says that a folder has more names than were read.
var ErrMoreNames = errors.New("the folder has more names than are read")

// Staged is a new content of a file that waits for its name. Close removes it unless it
// has got it.
type Staged interface {
	io.Closer
	Commit() error
}

// ReadInto reads all that is left of r, but not more than one byte above MaxText, into
// the memory of buf if that is large enough. size is what to expect.
func ReadInto(buf []byte, r io.Reader, size int64) ([]byte, error) {
	buf = slices.Grow(buf[:0], int(size)+1) // one more, to see the end
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
	// MaxText is how large a file is handled as text: edited, compared, searched.
	MaxText = 10 << 20
	// MaxPath is longer than any path that the systems we run on accept.
	MaxPath = 4096
)

// Cause strips the operation and path that the os package puts before an error: our
// errors name the path themselves.
func Cause(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
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

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

// place is where the files of a workspace are: this machine or a target. Paths are
// absolute and, but for those of real, planned: without links. A link that was put into
// one since then is an error and is never followed to read or write a file.
type FS interface {
	Name() string // of the target, for people
	// home returns the person's home folder without links, "" if nobody knows it.
	Home(ctx context.Context) (string, error)
	// real resolves the links of a clean path. Names at its end that do not exist stay.
	RealPath(ctx context.Context, path string) (string, error)
	Lstat(ctx context.Context, path string) (Info, error)
	// open opens a regular file for reading; anything else is refused.
	Open(ctx context.Context, path string) (*File, error)
	// folder opens a folder for listing, tree one of which all is visited that neither the rules
	// nor skip leave out, and pass one whose entries are known by name. skip may be nil; with it
	// a tree has no folders that could not be listed before ctx ended.
	OpenDir(ctx context.Context, path string) (Folder, error)
	OpenTree(ctx context.Context, path string, rules IgnoreRules, skip func(name string) bool) (Folder, error)
	PassDir(ctx context.Context, path string) (Folder, error)
	// together is how many files of a tree are best read at once, with fetch. That may leave
	// out the content of those which have none of the texts.
	BatchSize() int
	Fetch(ctx context.Context, files []*File, need host.Texts)
	// stage prepares a new content of a file. Missing folders are made.
	Stage(ctx context.Context, path string, data []byte, r Rights) (Staged, error)
	Remove(ctx context.Context, path string) error
}

// facts are what is known of a file.
type Info struct {
	Size     int64
	Mode     os.FileMode
	Modified time.Time
}

func infoOf(info os.FileInfo) Info {
	return Info{Size: info.Size(), Mode: info.Mode(), Modified: info.ModTime()}
}

// file is an open regular file.
type File struct {
	io.ReadCloser
	Path string
	Info
}

// folder is an open folder.
type Folder interface {
	io.Closer
	Name() string // its path
	// ReadDir returns what is in it, as [os.File.ReadDir] does. With errMoreNames that is
	// not all.
	ReadDir(n int) ([]os.DirEntry, error)
	Enter(name string) (Folder, error)
	Open(name string) (*File, error)
	Lstat(name string) (Info, error)
	Readlink(name string) (string, error)
}

var ErrMoreNames = errors.New("the folder has more names than are read")

// staged is a new content of a file that waits for its name. Close removes it unless it
// has got it.
type Staged interface {
	io.Closer
	Commit() error
}

// readInto reads all that is left of r, but not more than one byte above maxText, into
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
	// maxText is how large a file is handled as text: edited, compared, searched.
	MaxText = 10 << 20
	// maxPath is longer than any path that the systems we run on accept.
	MaxPath = 4096
)

// cause strips the operation and path that the os package puts before an error: our
// errors name the path themselves.
func Cause(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// join puts / between two parts unless one is empty.
func Join(dir, name string) string {
	if dir == "" || name == "" {
		return dir + name
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}

func ByName(a, b os.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) }

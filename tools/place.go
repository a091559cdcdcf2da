package tools

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"buddy/tmux/host"
)

// place is where the files of a workspace are: this machine or a target. Paths are
// absolute and, but for those of real, planned: without links. A link that was put into
// one since then is an error and is never followed to read or write a file.
type place interface {
	name() string // of the target, for people
	// home returns the person's home folder without links, "" if nobody knows it.
	home(ctx context.Context) (string, error)
	// real resolves the links of a clean path. Names at its end that do not exist stay.
	real(ctx context.Context, path string) (string, error)
	lstat(ctx context.Context, path string) (facts, error)
	// open opens a regular file for reading; anything else is refused.
	open(ctx context.Context, path string) (*file, error)
	// folder opens a folder for listing, tree one of which all is visited that neither the rules
	// nor skip leave out, and pass one whose entries are known by name. skip may be nil; with it
	// a tree has no folders that could not be listed before ctx ended.
	folder(ctx context.Context, path string) (folder, error)
	tree(ctx context.Context, path string, rules ignoreRules, skip func(name string) bool) (folder, error)
	pass(ctx context.Context, path string) (folder, error)
	// together is how many files of a tree are best read at once, with fetch. That may leave
	// out the content of those which have none of the texts.
	together() int
	fetch(ctx context.Context, files []*file, need host.Texts)
	// stage prepares a new content of a file. Missing folders are made.
	stage(ctx context.Context, path string, data []byte, r rights) (staged, error)
	remove(ctx context.Context, path string) error
}

// facts are what is known of a file.
type facts struct {
	size     int64
	mode     fs.FileMode
	modified time.Time
}

func factsOf(info fs.FileInfo) facts {
	return facts{size: info.Size(), mode: info.Mode(), modified: info.ModTime()}
}

// file is an open regular file.
type file struct {
	io.ReadCloser
	path string
	facts
}

// folder is an open folder.
type folder interface {
	io.Closer
	Name() string // its path
	// ReadDir returns what is in it, as [os.File.ReadDir] does. With errMoreNames that is
	// not all.
	ReadDir(n int) ([]fs.DirEntry, error)
	enter(name string) (folder, error)
	open(name string) (*file, error)
	lstat(name string) (facts, error)
	readlink(name string) (string, error)
}

var errMoreNames = errors.New("the folder has more names than are read")

// staged is a new content of a file that waits for its name. Close removes it unless it
// has got it.
type staged interface {
	io.Closer
	commit() error
}

// readInto reads all that is left of r, but not more than one byte above maxText, into
// the memory of buf if that is large enough. size is what to expect.
func readInto(buf []byte, r io.Reader, size int64) ([]byte, error) {
	buf = slices.Grow(buf[:0], int(size)+1) // one more, to see the end
	for {
		n, err := r.Read(buf[len(buf):min(cap(buf), maxText+1)])
		buf = buf[:len(buf)+n]
		switch {
		case errors.Is(err, io.EOF) || len(buf) > maxText:
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
	maxText = 10 << 20
	// maxPath is longer than any path that the systems we run on accept.
	maxPath = 4096
)

// cause strips the operation and path that the os package puts before an error: our
// errors name the path themselves.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// join puts / between two parts unless one is empty.
func join(dir, name string) string {
	if dir == "" || name == "" {
		return dir + name
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}

func byName(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) }

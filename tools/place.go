package tools

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"
)

// place is where the files of a workspace are: this machine or a target. Paths are
// absolute and, but for those of real, planned: without links. A link that was put into
// one since then is an error and is never followed to read or write a file.
type place interface {
	name() string // for people, as in [action.Action]
	// real resolves the links of a clean path. Names at its end that do not exist stay.
	real(ctx context.Context, path string) (string, error)
	lstat(ctx context.Context, path string) (facts, error)
	// open opens a regular file for reading; anything else is refused.
	open(ctx context.Context, path string) (*file, error)
	// folder opens a folder for listing, tree one of which all is visited that the rules do
	// not leave out, and pass one whose entries are known by name.
	folder(ctx context.Context, path string) (folder, error)
	tree(ctx context.Context, path string, rules ignoreRules) (folder, error)
	pass(ctx context.Context, path string) (folder, error)
	// together is how many files of a tree are best read at once, with fetch. That may leave
	// out the content of those which have none of the texts.
	together() int
	fetch(ctx context.Context, files []*file, need []literal)
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

// planTime bounds the questions to a target of one plan; on this machine they take none.
const planTime = time.Minute

func planning() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), planTime)
}

package fs

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"buddy/texts"
	"buddy/tmux/host"
)

// localFS accesses the files of this machine, see local_open.go.
type localFS struct {
	as string // its name; "" is local
}

// Local is the file system of this machine.
var Local FS = localFS{}

// LocalAs returns the file system of this machine under another name. It serves a part of a session that works in
// another folder.
func LocalAs(name string) FS { return localFS{as: name} }

func (m localFS) Name() string { return cmp.Or(m.as, "local") }

func (localFS) Home(context.Context) (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", nil // unknown
	}
	return texts.RealPath(home), nil
}

func (localFS) RealPath(_ context.Context, path string) (string, error) { return realPath(path) }

func (localFS) Lstat(_ context.Context, path string) (Info, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Info{}, err
	}
	return infoOf(info), nil
}

func (localFS) Open(_ context.Context, path string) (*File, error) {
	parent, err := passDir(filepath.Dir(path), false)
	if err != nil {
		return nil, err
	}
	defer Release(parent)
	return localFolder{parent}.Open(filepath.Base(path))
}

func (localFS) OpenDir(_ context.Context, path string) (Folder, error) {
	dir, err := openDir(path)
	if err != nil {
		return nil, err
	}
	return localFolder{dir}, nil
}

func (m localFS) OpenTree(ctx context.Context, path string, _ IgnoreRules, _ func(name string) bool) (Folder, error) {
	return m.OpenDir(ctx, path)
}

func (localFS) PassDir(_ context.Context, path string) (Folder, error) {
	dir, err := passDir(path, false)
	if err != nil {
		return nil, err
	}
	return localFolder{dir}, nil
}

func (localFS) BatchSize() int                              { return 1 }
func (localFS) Fetch(context.Context, []*File, host.Texts)  {}
func (localFS) Remove(_ context.Context, path string) error { return removeFile(path) }
func (localFS) Rename(_ context.Context, from, to string) error {
	return renameFile(from, to)
}

func (localFS) Stage(_ context.Context, path string, data []byte, r Rights) (Staged, error) {
	s, err := stage(path, data, r)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// localFolder is an open folder of this machine.
type localFolder struct{ *os.File }

func (d localFolder) Enter(name string) (Folder, error) {
	sub, err := openat(d.File, name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return localFolder{sub}, nil
}

func (d localFolder) Open(name string) (*File, error) {
	f, info, err := openRegular(d.File, name)
	if err != nil {
		return nil, err
	}
	return &File{f, f.Name(), infoOf(info)}, nil
}

func (d localFolder) Lstat(name string) (Info, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(d.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Info{}, &os.PathError{Op: "lstat", Path: Join(d.Name(), name), Err: err}
	}
	return infoOfStat(&st), nil
}

func (d localFolder) Readlink(name string) (string, error) {
	target := make([]byte, MaxPath)
	n, err := unix.Readlinkat(int(d.Fd()), name, target)
	if err != nil {
		return "", err
	}
	return string(target[:n]), nil
}

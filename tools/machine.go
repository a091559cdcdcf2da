package tools

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"buddy/tmux/host"

	"golang.org/x/sys/unix"
)

// machine is this machine as a place, see open.go.
type machine struct{}

// Local is this machine.
var Local place = machine{}

func (machine) name() string { return "local" }

func (machine) home(context.Context) (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", nil // it is not known
	}
	if at, err := filepath.EvalSymlinks(home); err == nil {
		home = at
	}
	return home, nil
}

func (machine) real(_ context.Context, path string) (string, error) { return realPath(path) }

func (machine) lstat(_ context.Context, path string) (facts, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return facts{}, err
	}
	return factsOf(info), nil
}

func (machine) open(_ context.Context, path string) (*file, error) {
	parent, err := passDir(filepath.Dir(path), false)
	if err != nil {
		return nil, err
	}
	defer release(parent)
	return localFolder{parent}.open(filepath.Base(path))
}

func (machine) folder(_ context.Context, path string) (folder, error) {
	dir, err := openDir(path)
	if err != nil {
		return nil, err
	}
	return localFolder{dir}, nil
}

func (m machine) tree(ctx context.Context, path string, _ ignoreRules, _ func(name string) bool) (folder, error) {
	return m.folder(ctx, path)
}

func (machine) pass(_ context.Context, path string) (folder, error) {
	dir, err := passDir(path, false)
	if err != nil {
		return nil, err
	}
	return localFolder{dir}, nil
}

func (machine) together() int                               { return 1 }
func (machine) fetch(context.Context, []*file, host.Texts)  {}
func (machine) remove(_ context.Context, path string) error { return removeFile(path) }

func (machine) stage(_ context.Context, path string, data []byte, r rights) (staged, error) {
	s, err := stage(path, data, r)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// localFolder is an open folder of this machine.
type localFolder struct{ *os.File }

func (d localFolder) enter(name string) (folder, error) {
	sub, err := openat(d.File, name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return localFolder{sub}, nil
}

func (d localFolder) open(name string) (*file, error) {
	f, info, err := openRegular(d.File, name)
	if err != nil {
		return nil, err
	}
	return &file{f, f.Name(), factsOf(info)}, nil
}

func (d localFolder) lstat(name string) (facts, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(d.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return facts{}, &fs.PathError{Op: "lstat", Path: join(d.Name(), name), Err: err}
	}
	return factsOfStat(&st), nil
}

func (d localFolder) readlink(name string) (string, error) {
	target := make([]byte, maxPath)
	n, err := unix.Readlinkat(int(d.Fd()), name, target)
	if err != nil {
		return "", err
	}
	return string(target[:n]), nil
}

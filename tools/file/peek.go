package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"buddy/owners"
	"buddy/tools/fs"
)

// Peek returns the content of a regular file of at most max bytes, and the file's path without symbolic links. It is
// not for tool calls. It refuses files that may hold secrets and, on this machine, files of other users; for a missing
// file the error is os.ErrNotExist.
func (w *Workspace) Peek(ctx context.Context, path string, max int64) (real string, data []byte, err error) {
	if real, err = w.files.RealPath(ctx, filepath.Clean(path)); err != nil {
		return "", nil, err
	}
	if part := w.Secret(real); part != "" {
		return real, nil, fmt.Errorf("%q may hold secrets", part)
	}
	f, err := w.files.Open(ctx, real)
	if err != nil {
		return real, nil, err
	}
	defer fs.Release(f)
	if local, ok := f.ReadCloser.(*os.File); ok {
		info, err := local.Stat()
		if err == nil {
			err = owners.CheckText(real, info)
		}
		if err == nil && w.mine {
			err = owners.CheckOwn(path)
		}
		if err != nil {
			return real, nil, err
		}
	}
	if f.Size > max {
		return real, nil, fmt.Errorf("has %d bytes (allowed: %d)", f.Size, max)
	}
	if data, err = fs.ReadInto(nil, f, f.Size); err == nil && int64(len(data)) > max {
		err = fmt.Errorf("has more than %d bytes", max)
	}
	return real, data, err
}

// Exists reports whether something is at path, including a dangling link.
func (w *Workspace) Exists(ctx context.Context, path string) (bool, error) {
	_, err := w.files.Lstat(ctx, filepath.Clean(path))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return false, nil
	}
	return err == nil, err
}

// List returns the entries of a folder, at most max, and its path without symbolic links, for
// uses other than tool calls; for a missing folder the error is os.ErrNotExist.
func (w *Workspace) List(ctx context.Context, dir string, max int) (real string, entries []os.DirEntry, err error) {
	if real, err = w.files.RealPath(ctx, filepath.Clean(dir)); err != nil {
		return "", nil, err
	}
	switch info, err := w.files.Lstat(ctx, real); {
	case err != nil:
		return real, nil, err
	case !info.Mode.IsDir():
		return real, nil, errors.New("is not a folder")
	}
	folder, err := w.files.OpenDir(ctx, real)
	if err != nil {
		return real, nil, err
	}
	defer fs.Release(folder)
	entries, err = folder.ReadDir(max)
	if errors.Is(err, io.EOF) || errors.Is(err, fs.ErrMoreNames) {
		err = nil
	}
	return real, entries, err
}

// Home returns the user's home folder on the target, "" while unknown.
func (w *Workspace) Home(ctx context.Context) (string, error) {
	_, home, err := w.find(ctx)
	return home, err
}

package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// folders returns the real paths on the target of more folders to work in. Relative ones
// are meant from where the program works; elsewhere than on this machine they are absolute.
func (t *target) folders(dirs []string) ([]string, error) {
	var all []string
	for _, dir := range dirs {
		real, err := t.folder(dir)
		if err != nil {
			return nil, usage("--add-dir %s: %v", dir, err)
		}
		if !slices.Contains(all, real) {
			all = append(all, real)
		}
	}
	return all, nil
}

func (t *target) folder(dir string) (string, error) {
	if t.host != nil {
		return t.farFolder(dir)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", errors.New("no such folder")
	}
	if fi, err := os.Stat(real); err != nil || !fi.IsDir() {
		return "", errors.New("not a folder")
	}
	return real, nil
}

// farFolder is folder on another machine.
func (t *target) farFolder(dir string) (string, error) {
	if !path.IsAbs(dir) {
		return "", fmt.Errorf("must be an absolute path on %s", t.name)
	}
	ctx, stop := context.WithTimeout(context.Background(), lookTime)
	defer stop()
	real, err := t.host.RealPath(ctx, dir)
	if err != nil {
		return "", err
	}
	fi, err := t.host.Stat(ctx, real)
	if err == nil && !fi.Mode.IsDir() {
		err = errors.New("not a folder")
	}
	return real, err
}

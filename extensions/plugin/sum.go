package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"buddy/texts"
)

// sum returns the relative paths of the files in a folder, and a hash of their names, executable bits and contents. A
// link counts as its target, which must be in the folder. The folder's own .git is left out.
func sum(dir string) (print string, files []string, err error) {
	all := sha256.New()
	bytes := int64(0)
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || e.IsDir() {
			if e.IsDir() && name == ".git" {
				return filepath.SkipDir // changes with each git command; no definition may name it
			}
			return err
		}
		if len(files) == MaxFiles {
			return fmt.Errorf("it has more than %d files", MaxFiles)
		}
		if e.Type()&fs.ModeSymlink != 0 {
			return link(all, dir, name, path)
		}
		files = append(files, name)
		if !e.Type().IsRegular() {
			return fmt.Errorf("%q is not a regular file", name)
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if bytes += info.Size(); bytes > MaxBytes {
			return fmt.Errorf("its files have more than %d bytes", MaxBytes)
		}
		_, _ = fmt.Fprintf(all, "%q %v %d\n", name, info.Mode()&0o111 != 0, info.Size())
		return content(all, path, info.Size())
	})
	return hex.EncodeToString(all.Sum(nil)), files, err
}

// link adds the target of a symbolic link.
func link(all hash.Hash, dir, name, path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("link %q: %w", name, err)
	}
	if !texts.Below(real, dir) {
		return fmt.Errorf("link %q leads out of the plugin's folder", name)
	}
	_, _ = fmt.Fprintf(all, "%q -> %q\n", name, real[len(dir):])
	return nil
}

// content adds a file, which must still have its size.
func content(all hash.Hash, path string, size int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	n, err := io.Copy(all, io.LimitReader(f, size+1))
	if err == nil && n != size {
		err = fmt.Errorf("%q changed while buddy read it", path)
	}
	return err
}

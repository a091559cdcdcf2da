package install

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"buddy/extensions/plugin"
)

// Change is a file that differs between two versions of a plugin.
type Change struct {
	How  string // added, removed or changed
	File string // untrusted
}

// String returns the change in two words.
func (c Change) String() string { return c.How + " " + c.File }

// Compare returns the changes between the files of two records, ordered by file.
func Compare(before, after map[string]string) (all []Change) {
	for name, hash := range after {
		switch was, found := before[name]; {
		case !found:
			all = append(all, Change{"added", name})
		case was != hash:
			all = append(all, Change{"changed", name})
		}
	}
	for name := range before {
		if _, found := after[name]; !found {
			all = append(all, Change{"removed", name})
		}
	}
	slices.SortFunc(all, func(a, b Change) int { return cmp.Compare(a.File, b.File) })
	return all
}

// hashes returns a hash for each file below a folder, of its content and whether it is executable.
func hashes(dir string) (map[string]string, error) {
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		var data []byte
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			var target string
			target, err = os.Readlink(path)
			data = []byte(target)
		case info.Mode().IsRegular() && info.Size() <= plugin.MaxBytes:
			data, err = os.ReadFile(path)
		} // others were not fetched
		sum := sha256.Sum256(fmt.Appendf(nil, "%v %v %s", info.Mode().Type(), info.Mode()&0o111 != 0, data))
		all[name] = hex.EncodeToString(sum[:])
		return err
	})
	return all, err
}

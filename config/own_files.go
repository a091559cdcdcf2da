package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// OwnFiles returns the folder of the person's settings, and the files elsewhere that settings and keys are
// read from: what links in the folder lead to, every api_key_file, and a project's settings if they contain
// a key. They are absolute and need not exist; a file behind links is listed under both names.
func (c *Config) OwnFiles() []string {
	_, legacy := userPaths()
	all := []string{c.File, Dir()}
	entries, _ := os.ReadDir(Dir()) // without a folder there are no links
	for _, e := range entries {
		if e.Type()&os.ModeSymlink != 0 {
			all = append(all, filepath.Join(Dir(), e.Name()))
		}
	}
	if _, err := os.Lstat(legacy); err == nil {
		all = append(all, legacy)
	}
	for _, p := range c.Models {
		all = append(all, p.KeyFile)
		if p.APIKey.value != nil {
			file, _, _ := strings.Cut(p.keyPlace, ":")
			all = append(all, file)
		}
	}
	return WithTargets(all)
}

// WithTargets returns absolute paths, and those that they lead to where links are on the way,
// sorted, each once. Empty names and the null device are left out.
func WithTargets(names []string) (all []string) {
	for _, name := range names {
		abs, err := filepath.Abs(name)
		if name == "" || name == os.DevNull || err != nil {
			continue
		}
		all = append(all, abs)
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			all = append(all, real)
		} else if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil { // the file is still to come
			all = append(all, filepath.Join(dir, filepath.Base(abs)))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// OwnFiles returns the folder of the person's settings, and the files elsewhere that contain settings or keys: the
// destinations of links in the folder, every api_key_file, and a project's settings if they contain a key. The paths
// are absolute and need not exist; a file behind links is listed under both names.
func (c *Config) OwnFiles() []string {
	_, legacy := userPaths()
	all := []string{c.File, Dir()}
	entries, _ := os.ReadDir(Dir()) // without the folder there are no links
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

// WithTargets returns absolute paths, and the destinations of those with links, sorted, each once. It leaves out empty
// names and the null device.
func WithTargets(names []string) (all []string) {
	for _, name := range names {
		abs, err := filepath.Abs(name)
		if name == "" || name == os.DevNull || err != nil {
			continue
		}
		all = append(all, abs)
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			all = append(all, real)
		} else if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil { // the file does not exist yet
			all = append(all, filepath.Join(dir, filepath.Base(abs)))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

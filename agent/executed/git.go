package executed

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"buddy/texts"
)

// isGit reports whether a folder is one that git keeps a repository in, whatever its name is.
func isGit(path string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(path, name)); err != nil {
			_, linked := os.Lstat(filepath.Join(path, "commondir"))
			return linked == nil && name != "HEAD" // of a worktree
		}
	}
	return true
}

// gitFiles are the files in a folder of git's that make git run something; hooks are in the folder hooks.
var gitFiles = []string{"config", "config.worktree", "commondir", "gitdir", "info/attributes", "rebase-merge/git-rebase-todo", "sequencer/todo"}

// git looks at a folder that git keeps a repository in: at its settings and hooks, and at what the settings
// name. What every command of git writes there is left out.
func (s *scan) git(f *folder) {
	path, files := f.path, make(map[string]*file)
	note := func(name, what string) {
		if info, err := os.Lstat(filepath.Join(path, name)); err == nil && !info.IsDir() && files[name] == nil {
			files[name] = &file{path: filepath.Join(path, name), by: "git", what: what}
		}
	}
	for _, name := range gitFiles {
		note(name, "settings and filters")
	}
	for _, hook := range names(filepath.Join(path, "hooks")) {
		if !strings.HasSuffix(hook, ".sample") {
			note(filepath.Join("hooks", hook), "hook")
		}
	}
	for _, name := range settings(path) {
		note(name, "hook or settings, as .git/config says")
	}
	s.listed(f, files)
	s.compareFiles(f)
	for _, sub := range []string{"modules", "worktrees"} {
		s.gitBelow(filepath.Join(path, sub), 0)
	}
}

// gitBelow looks at the repositories of submodules and worktrees, whose names may have slashes.
func (s *scan) gitBelow(path string, deep int) {
	if deep > 8 {
		return
	}
	for _, name := range names(path) {
		sub := filepath.Join(path, name)
		if isGit(sub) {
			s.folder(s.at(sub, everything))
			continue
		}
		s.gitBelow(sub, deep+1)
	}
}

// setting matches settings of git that name files: folders of hooks and more settings.
var setting = texts.Regexp(`(?i)^\s*(hookspath|path)\s*=\s*"?([^"#;]+?)"?\s*$`)

// settings returns the files that the settings in a folder of git's name, relative to it: hooks, and more
// settings.
func settings(path string) (files []string) {
	for lines := bufio.NewScanner(bytes.NewReader(readMost(filepath.Join(path, "config")))); lines.Scan(); {
		m := setting().FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		target := m[2]
		switch {
		case filepath.IsAbs(target):
		case strings.EqualFold(m[1], "hookspath"): // from the working tree on
			target = filepath.Join(filepath.Dir(path), target)
		default:
			target = filepath.Join(path, target)
		}
		rel, err := filepath.Rel(path, target)
		if err != nil {
			continue
		}
		files = append(files, rel)
		for _, name := range names(target) {
			files = append(files, filepath.Join(rel, name))
		}
	}
	return files
}

// names returns the names in a folder, none if it can't be read.
func names(path string) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	all, _ := f.Readdirnames(maxFiles)
	return all
}

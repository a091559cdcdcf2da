package executed

import (
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

// setting matches settings of git that name files: folders of hooks and more settings. The header of the section may
// stand before one, and a comment behind it.
var setting = texts.Regexp(`(?i)^\s*(?:\[[^\]]*\]\s*)?(hookspath|path)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^"#;]*?))\s*(?:[#;].*)?$`)

// settingsFiles are the files with git's settings in a folder that git keeps a repository in.
var settingsFiles = []string{"config", "config.worktree"}

// settings returns the files that the settings in a folder of git's name, relative to it: hooks, and more
// settings.
func settings(path string) (files []string) {
	for _, name := range settingsFiles {
		text := onOneLine.Replace(string(readMost(filepath.Join(path, name))))
		for line := range strings.SplitSeq(text, "\n") {
			if m := setting().FindStringSubmatch(line); m != nil {
				files = append(files, named(path, m[1], m[2]+m[3])...)
			}
		}
	}
	return files
}

// onOneLine joins the lines of a value that goes on.
var onOneLine = strings.NewReplacer("\\\n", "", "\\\r\n", "")

// named returns the file that a setting names, and those in it if it is a folder, relative to the folder of git's.
func named(path, key, target string) (files []string) {
	below, atHome := strings.CutPrefix(target, "~/")
	switch {
	case atHome:
		home, _ := os.UserHomeDir()
		target = filepath.Join(home, below)
	case filepath.IsAbs(target):
	case strings.EqualFold(key, "hookspath"): // from the working tree on
		target = filepath.Join(filepath.Dir(path), target)
	default:
		target = filepath.Join(path, target)
	}
	rel, err := filepath.Rel(path, target)
	if err != nil {
		return nil
	}
	files = append(files, rel)
	for _, name := range names(target) {
		files = append(files, filepath.Join(rel, name))
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

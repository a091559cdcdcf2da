package fs

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignoreRule is one line of a .gitignore file.
type ignoreRule struct {
	dir      string // the folder of the file, ending in /
	pattern  string
	literal  bool // pattern has no special characters
	anchored bool // pattern matches paths below dir, not names at any depth
	dirOnly  bool
	negate   bool
}

// IgnoreRules are the rules that apply in a folder. A later rule overrides an earlier one. IgnoreRules are never
// modified, so folders can share them.
type IgnoreRules []ignoreRule

// Ignored reports whether git would ignore the file at path. Callers don't enter ignored folders, so only path itself
// is matched, not its parents.
func (r IgnoreRules) Ignored(path string, isDir bool) bool {
	for _, rule := range slices.Backward(r) {
		if rule.matches(path, isDir) {
			return !rule.negate
		}
	}
	return false
}

func (r ignoreRule) matches(path string, isDir bool) bool {
	if r.dirOnly && !isDir {
		return false
	}
	name, ok := strings.CutPrefix(path, r.dir)
	if !ok {
		return false
	}
	if !r.anchored {
		name = name[strings.LastIndexByte(name, '/')+1:]
	}
	if r.literal {
		return name == r.pattern
	}
	return doublestar.MatchUnvalidated(r.pattern, name)
}

// with returns r and the rules of the .gitignore file in dir, if there is one.
func (r IgnoreRules) with(dir Folder) IgnoreRules {
	f, err := dir.Open(".gitignore")
	if err != nil {
		return r
	}
	defer Release(f)
	data, err := ReadInto(nil, f, min(f.Size, MaxText))
	if err != nil {
		return r // an unreadable file has no rules, as with git
	}
	return append(slices.Clip(r), ParseIgnore(string(data), strings.TrimSuffix(dir.Name(), "/")+"/")...)
}

// braces escapes braces, which are special to doublestar but not to git.
var braces = strings.NewReplacer("{", `\{`, "}", `\}`)

// parseIgnore reads a line of the .gitignore file in dir, which ends in a slash; it returns
// false for a line that is no rule.
func parseIgnore(line, dir string) (ignoreRule, bool) {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return ignoreRule{}, false
	}
	rule := ignoreRule{dir: dir}
	line, rule.negate = strings.CutPrefix(line, "!")
	line, rule.dirOnly = strings.CutSuffix(line, "/")
	rule.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if strings.HasSuffix(line, "/**") {
		line += "/*" // the folder's content, not the folder
	}
	rule.literal = !strings.ContainsAny(line, `*?[\`)
	rule.pattern = line
	if !rule.literal {
		rule.pattern = braces.Replace(line)
	}
	return rule, line != "" && doublestar.ValidatePattern(rule.pattern)
}

// RulesAbove returns the rules for path from the .gitignore files of the folders above it,
// from the top of its repository down.
func RulesAbove(ctx context.Context, files FS, path string) IgnoreRules {
	var above []string
	for at := path; ; at = filepath.Dir(at) {
		if at != path {
			above = append(above, at)
		}
		if _, err := files.Lstat(ctx, filepath.Join(at, ".git")); err == nil {
			break
		}
		if at == filepath.Dir(at) {
			return nil // not in a repository
		}
	}
	var rules IgnoreRules
	for _, at := range slices.Backward(above) {
		if dir, err := files.PassDir(ctx, at); err == nil {
			rules = rules.with(dir)
			Release(dir)
		}
	}
	return rules
}

// ParseIgnore returns the rules of a text in the syntax of .gitignore for a folder, whose path ends in a slash.
func ParseIgnore(text, dir string) (all IgnoreRules) {
	for line := range strings.Lines(text) {
		if rule, ok := parseIgnore(strings.TrimRight(line, "\r\n"), dir); ok {
			all = append(all, rule)
		}
	}
	return all
}

package config

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"buddy/texts"
)

// Limits of the search for names of files.
const (
	maxNesting = 3    // sh -c 'sh -c …'
	maxBases   = 16   // folders in a command line that may contain named files
	maxMatches = 200  // matches of one pattern
	maxWord    = 4096 // bytes
	maxListed  = 1000 // names in a folder
	maxValue   = 512  // bytes of a variable, which a line can double many times
)

// ProjectFolders returns dir and the folders above it up to the root of its repository, nearest first. Without a
// repository it returns only dir.
func ProjectFolders(dir string) []string {
	all := []string{dir}
	for root := projectRoot(dir); dir != root; {
		dir = filepath.Dir(dir)
		all = append(all, dir)
	}
	return all
}

// ReadProjectFile reads a file that defines parts, of at most 1 MiB. A link out of the project
// is an error; a missing file is fs.ErrNotExist. It never blocks.
func ReadProjectFile(dir, name string) ([]byte, error) {
	path, root := filepath.Join(dir, name), projectRoot(dir)
	real, err := filepath.EvalSymlinks(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q: %w", path, cause(err))
	case !texts.Below(real, root):
		return nil, fmt.Errorf("%q leads out of the project %q", path, root)
	}
	data, _, err := readRegular(real, maxFile)
	if err != nil {
		return nil, fmt.Errorf("%q %w", path, err)
	}
	return data, nil
}

// FilesNamed returns the project files of dir that command lines name, relative to dir and sorted: each line is one
// argument or a complete line for a shell. It finds names relative to dir or to a folder in the line (cd hooks &&
// ./x.sh), with quotes, patterns, values of options and variables, and inside quoted programs. In doubt it returns too
// many files. It does not find names that a program puts together, files that the named files read, and files that a
// line only writes (>> log).
func FilesNamed(dir string, lines ...string) []string {
	f := newFinder(dir, lines)
	for _, base := range f.bases() {
		for _, word := range f.words {
			for _, path := range f.paths(base, word) {
				f.add(path)
			}
		}
	}
	return slices.Sorted(maps.Keys(f.found))
}

// newFinder returns a finder that has parsed command lines.
func newFinder(dir string, lines []string) *finder {
	f := &finder{dir: dir, root: projectRoot(dir), seen: map[string]bool{}, found: map[string]bool{}, listed: map[string]map[string]bool{}}
	f.vars = map[string]string{"CLAUDE_PROJECT_DIR": dir, "BUDDY_PROJECT_DIR": dir, "PWD": dir}
	for _, line := range lines {
		if len(line) <= maxDefinition { // a part with a longer line is never trusted
			f.text(withoutOutputs(line), maxNesting)
		}
	}
	return f
}

// bases returns the folders to which names may be relative: the folder of the lines, and folders named in the lines.
func (f *finder) bases() []string {
	bases := []string{f.dir}
	for _, word := range f.words {
		for _, path := range f.paths(f.dir, word) {
			if info, err := os.Stat(path); err == nil && info.IsDir() && len(bases) < maxBases && f.inside(path) && !slices.Contains(bases, path) {
				bases = append(bases, path)
			}
		}
	}
	return bases
}

// withoutOutputs removes redirections to files that a shell's line only writes. A line that is not valid bash is
// returned unchanged.
func withoutOutputs(line string) string {
	parsed, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		return line
	}
	writes := false
	syntax.Walk(parsed, func(n syntax.Node) bool {
		if stmt, ok := n.(*syntax.Stmt); ok {
			before := len(stmt.Redirs)
			stmt.Redirs = slices.DeleteFunc(stmt.Redirs, func(r *syntax.Redirect) bool {
				return slices.Contains([]syntax.RedirOperator{syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob}, r.Op)
			})
			writes = writes || len(stmt.Redirs) < before
		}
		return true
	})
	var b strings.Builder
	if !writes || syntax.NewPrinter().Print(&b, parsed) != nil {
		return line
	}
	return b.String()
}

// finder collects the words of command lines, and the files that they name.
type finder struct {
	dir, root string
	vars      map[string]string
	words     []string
	seen      map[string]bool            // words
	found     map[string]bool            // files, relative to dir
	listed    map[string]map[string]bool // names in folders; nil if unknown
}

// text adds the words of a text: the text itself, its words as a shell reads them, the words of programs inside these,
// and all parts between characters that may end a name.
func (f *finder) text(text string, depth int) {
	f.word(text)
	for _, w := range f.shellWords(text) {
		f.word(w)
		if depth > 0 && w != text && strings.ContainsAny(w, " \t\n;&|") {
			f.text(w, depth-1)
		}
	}
}

// word adds a word and its parts: the value of an option or a variable, the text after @ or :.
func (f *finder) word(w string) {
	parts := strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune(" \t\r\n'\"`;|&<>(){}=,:@!$", r) })
	for _, w := range append(parts, w) {
		if w != "" && len(w) <= maxWord && !strings.ContainsRune(w, 0) && !f.seen[w] {
			f.seen[w] = true
			f.words = append(f.words, w)
		}
	}
}

// assignmentRegexp matches a word that sets a variable.
var assignmentRegexp = texts.Regexp(`^([A-Za-z_][A-Za-z0-9_]*)=(.*)$`)

// shellWords returns the words of a line without quotes. Variables are replaced if the line itself sets them; unknown
// ones are empty.
func (f *finder) shellWords(text string) []string {
	words := unquoted(text)
	for i, w := range words {
		if len(w) > maxWord {
			continue
		}
		w = os.Expand(w, func(name string) string {
			name, _, _ = strings.Cut(name, ":") // ${x:-y}
			return f.vars[name]
		})
		if m := assignmentRegexp().FindStringSubmatch(w); m != nil && len(m[2]) <= maxValue {
			f.vars[m[1]] = m[2]
		}
		words[i] = w
	}
	return words
}

// unquoted splits a line as a shell does, at unquoted spaces and operators, and removes the quotes.
func unquoted(text string) (words []string) {
	var word strings.Builder
	quote, escaped := rune(0), false
	for _, r := range text {
		switch {
		case escaped:
			escaped = false
			if r != '\n' {
				word.WriteRune(r)
			}
		case r == '\\' && quote != '\'':
			escaped = true
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && strings.ContainsRune(" \t\r\n;|&<>()`", r):
			words = append(words, word.String())
			word.Reset()
		default:
			word.WriteRune(r)
		}
	}
	return append(words, word.String())
}

// paths returns the paths that a word may name relative to a folder. It omits the path in the folder if the folder has
// no such name.
func (f *finder) paths(base, word string) (all []string) {
	joined := filepath.Join(base, word) // also for /x.sh: the text before it is unknown
	rest, below := strings.CutPrefix(joined, base+"/")
	first, _, _ := strings.Cut(rest, "/")
	if names := f.names(base); !below || names == nil || names[strings.ToLower(first)] || strings.IndexFunc(first, special) >= 0 {
		all = append(all, joined)
	}
	if filepath.IsAbs(word) {
		all = append(all, filepath.Clean(word))
	}
	return all
}

// special reports whether a name with the character may match another name: as a pattern, or in a file system that
// normalizes the character.
func special(r rune) bool { return r >= utf8.RuneSelf || strings.ContainsRune("*?[", r) }

// names returns the names in a folder, in lower case, nil if they are too many or can't be read. Looking there first
// saves a system call for almost every word.
func (f *finder) names(folder string) map[string]bool {
	if names, ok := f.listed[folder]; ok {
		return names
	}
	f.listed[folder] = nil
	dir, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer dir.Close() //nolint:errcheck // only read
	all, err := dir.Readdirnames(maxListed)
	if len(all) == maxListed || err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	names := make(map[string]bool, len(all))
	for _, name := range all {
		names[strings.ToLower(name)] = true
	}
	f.listed[folder] = names
	return names
}

// inside reports whether a path is inside the project, by its name or after resolving links.
func (f *finder) inside(path string) bool {
	if texts.Below(path, f.root) {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	return err == nil && texts.Below(real, f.root)
}

// add adds a path, or the files that match the pattern in its last part, if they are files of the project. It opens no
// file. A lone * is ignored, because it names files to work on, not files to run.
func (f *finder) add(path string) {
	all := []string{path}
	if folder, name := filepath.Split(path); strings.ContainsAny(name, "*?[") && name != "*" && !strings.ContainsAny(folder, "*?[") {
		matches, _ := filepath.Glob(path)
		all = append(all, matches[:min(len(matches), maxMatches)]...)
	}
	for _, path := range all {
		info, err := os.Stat(path)
		if err != nil || info.IsDir() || !f.inside(path) {
			continue
		}
		if rel, err := filepath.Rel(f.dir, path); err == nil {
			f.found[rel] = true
		}
	}
}

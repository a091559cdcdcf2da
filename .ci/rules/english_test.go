package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// privateWords match texts that a native speaker has to read twice, with replacements (docs/glossary.md).
var privateWords = []struct {
	pattern *regexp.Regexp
	write   string
}{
	{regexp.MustCompile(`\b(go|goes|went) on\b`), "continue, keep running, resume"},
	{regexp.MustCompile(`\banew\b`), "again"},
	{regexp.MustCompile(`\bbeside\b`), "next to, while"},
	{regexp.MustCompile(`\ba blank\b|\bblanks\b`), "a space"},
	{regexp.MustCompile(`\bwhat (it|they|he|she) (gave|said|held|printed)\b|\bwhat (was|is) (said|shown|told|given)\b`), "a noun: output, message, text"},
	{regexp.MustCompile(`\b(is|are|was|were|be) told\b`), "sees, gets, is sent"},
	{regexp.MustCompile(`\bmode (plan|auto|edits|strict)\b`), "plan mode, auto mode …"},
	{regexp.MustCompile(`\bstrongest first\b`), "highest priority first"},
	{regexp.MustCompile(`\bthe fence\b`), "the sandbox"},
	{regexp.MustCompile(`\b(stands|lies) (in|at|on|there|beside)\b`), "is"},
	{regexp.MustCompile(`\bwithheld\b`), "hidden"},
	{regexp.MustCompile(`\bwaits for (you|your|an)\b`), "is waiting for"},
	{regexp.MustCompile(`\bof which\b`), "a sentence of its own"},
	{regexp.MustCompile(`\bnothing hangs on\b`), "nothing depends on"},
}

// TestPlainEnglish reads every text of the program, of the documents and of the golden screens, and fails for a private
// word that testdata/english.txt does not allow.
func TestPlainEnglish(t *testing.T) {
	allowed := allowedEnglish(t)
	read, used := 0, make(map[string]bool)
	check := func(path string, line int, text string) {
		read++
		for _, w := range privateWords {
			found := w.pattern.FindString(text)
			if found == "" {
				continue
			}
			if entry := path + ": " + found; allowed[entry] {
				used[entry] = true
				continue
			}
			t.Errorf("%s:%d: write %s in place of %q: %s", path, line, w.write, found, text)
		}
	}
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (path == ".git" || path == "build"):
			return fs.SkipDir
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			return literals(path, check)
		case strings.HasSuffix(path, ".md"), strings.HasSuffix(path, ".screen"):
			text, err := fs.ReadFile(root, path)
			for i, line := range strings.Split(string(text), "\n") {
				check(path, i+1, line)
			}
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for entry := range allowed {
		if !used[entry] {
			t.Errorf("testdata/english.txt allows %q, which does not occur", entry)
		}
	}
	if read < 10_000 {
		t.Errorf("only %d texts were read", read)
	}
}

// literals checks the strings of a Go file that have several words.
func literals(path string, check func(path string, line int, text string)) error {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, filepath.Join("../..", path), nil, 0)
	if err != nil {
		return err
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil && strings.Contains(text, " ") {
				check(path, files.Position(l.Pos()).Line, text)
			}
		}
		return true
	})
	return nil
}

// allowedEnglish returns the exceptions, one "path: words" each.
func allowedEnglish(t *testing.T) map[string]bool {
	text, err := fs.ReadFile(root, ".ci/rules/testdata/english.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			all[line] = true
		}
	}
	return all
}

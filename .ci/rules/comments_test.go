package rules

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// TestComments fails for a comment that begins "X is what …": the first sentence must describe with a verb what X does
// or holds (docs/glossary.md).
func TestComments(t *testing.T) {
	read := 0
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path == ".git" || d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		comment, number := false, 0 // the previous line is a comment
		for line := range strings.Lines(string(text)) {
			line, number = strings.TrimSpace(line), number+1
			if !comment && describesNothing(line) {
				t.Errorf("%s:%d: begin the comment with what it does or holds, with a verb (docs/glossary.md): %s", path, number, line)
			}
			comment = strings.HasPrefix(line, "//")
		}
		read++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 1000 {
		t.Fatalf("only %d files were read", read)
	}
}

// describesNothing reports whether the first line of a comment has the form "X is what …".
func describesNothing(line string) bool {
	words := strings.Fields(line[:min(len(line), 200)])
	return len(words) > 3 && words[0] == "//" && (words[2] == "is" || words[2] == "are") &&
		slices.Contains([]string{"what", "how", "where", "why", "who", "when", "whether"}, words[3])
}

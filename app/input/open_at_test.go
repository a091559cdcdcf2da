package input

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Editors get the line in their own way; a name that looks like an option reaches none of them as one.
func TestArgumentsOfAnEditor(t *testing.T) {
	for _, c := range []struct {
		editor, path string
		line         int
		want         []string
	}{
		{"vi", "/w/a.go", 12, []string{"+12", "/w/a.go"}},
		{"/usr/bin/nvim -u NONE", "/w/-o", 1, []string{"+1", "/w/-o"}},
		{"emacsclient -t", "/w/a b.go", 3, []string{"+3", "/w/a b.go"}},
		{"code --wait", "/w/a.go", 12, []string{"--goto", "/w/a.go:12"}},
		{"hx", "/w/a.go", 12, []string{"/w/a.go:12"}},
		{"code --wait", "/w/a.go", 0, []string{"/w/a.go"}},
		{"", "/w/a.go", 1, []string{"+1", "/w/a.go"}},
	} {
		if got := argsAt(c.editor, c.path, c.line); !slices.Equal(got, c.want) {
			t.Errorf("%q opens %s:%d with %q, want %q", c.editor, c.path, c.line, got, c.want)
		}
	}
}

// OpenAt gives the editor the file itself, as one word, whatever is in its name; a name that is not absolute is
// refused, which without that would be an option.
func TestOpenAt(t *testing.T) {
	dir := t.TempDir()
	said := filepath.Join(dir, "said")
	t.Setenv("SAID", said)
	editor := `sh -c 'printf "%s|" "$@" > "$SAID"' sh`
	evil := filepath.Join(dir, "a;touch $(touch x) 'b")
	if err := OpenAt(evil, 7, editor); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(said); err != nil || string(data) != "+7|"+evil+"|" {
		t.Errorf("the editor got %q, %v", data, err)
	}
	if err := OpenAt("-c!touch x", 0, editor); err == nil || !strings.Contains(err.Error(), "not an absolute path") {
		t.Errorf("a name like an option: %v", err)
	}
	if err := start(editor, argsAt(editor, "-c!touch x", 0), nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(said); string(data) != "-c!touch x|" {
		t.Errorf("positive control: the editor got %q", data)
	}
	if err := OpenAt(evil, 1, "exit 3;"); err == nil || !strings.Contains(err.Error(), `editor "exit 3;": exit status 3`) {
		t.Errorf("an editor that fails: %v", err)
	}
}

package fs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWalkFiles(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		".gitignore": "*.o\n/build/\n", "a.go": "", "a.o": "", "build/x": "", "skipped/y": "", "sub/.gitignore": "no\n", "sub/no": "", "sub/yes": "",
		".git/HEAD": "x", ".hidden": "",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a.go", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	var got []string
	skip := func(name string) bool { return name == "skipped" }
	if err := WalkFiles(t.Context(), Local, dir, skip, func(rel string) error { got = append(got, rel); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := ".gitignore .hidden a.go link sub/.gitignore sub/yes"; strings.Join(got, " ") != want {
		t.Errorf("WalkFiles = %q, want %q", got, want)
	}
	enough := errors.New("enough")
	if err := WalkFiles(t.Context(), Local, dir, skip, func(string) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("WalkFiles = %v, want the error of visit", err)
	}
	if err := WalkFiles(t.Context(), Local, filepath.Join(dir, "none"), skip, func(string) error { return nil }); err == nil {
		t.Error("a folder that is not there was walked")
	}
}

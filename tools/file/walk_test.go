package file

import (
	"errors"
	"strings"
	"testing"

	"buddy/tools/fs"
)

func TestWalkFiles(t *testing.T) {
	b := newBench(t)
	b.put(".gitignore", "*.o\n/build/\n", "a.go", "", "a.o", "", "build/x", "", "skipped/y", "", "sub/.gitignore", "no\n", "sub/no", "", "sub/yes", "",
		".git/HEAD", "x", ".hidden", "")
	b.link("a.go", "link")
	var got []string
	skip := func(name string) bool { return name == "skipped" }
	if err := fs.WalkFiles(t.Context(), fs.Local, b.path(""), skip, func(rel string) error { got = append(got, rel); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := ".gitignore .hidden a.go link sub/.gitignore sub/yes"; strings.Join(got, " ") != want {
		t.Errorf("WalkFiles = %q, want %q", got, want)
	}
	enough := errors.New("enough")
	if err := fs.WalkFiles(t.Context(), fs.Local, b.path(""), skip, func(string) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("WalkFiles = %v, want the error of visit", err)
	}
	if err := fs.WalkFiles(t.Context(), fs.Local, b.path("none"), skip, func(string) error { return nil }); err == nil {
		t.Error("a folder that is not there was walked")
	}
}

package compose

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"buddy/app/apptest"
)

// TestWatchFiles: a change is noticed however an editor makes it.
func TestWatchFiles(t *testing.T) {
	d := apptest.NewSettings(t, "[ui]\n")
	home := filepath.Dir(d.File)
	d.Write("dotfiles/buddy.toml", "")
	changed := make(chan struct{}, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- watchFiles(ctx, func() watched { return watchedFiles(&Options{}, filepath.Join(filepath.Dir(d.File), "themes")) }, func() { changed <- struct{}{} })
	}()
	seen := func(what string, change func() error) {
		t.Helper()
		if err := change(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-changed:
		case <-time.After(time.Minute):
			t.Fatalf("%s was not seen", what)
		}
	}
	write := func(name, text string) func() error {
		return func() error { d.Write(name, text); return nil }
	}
	seen("the beginning", func() error { return nil })
	seen("a file written in place", write("buddy.toml", "[ui]\n#\n"))
	seen("a file replaced", func() error {
		d.Write("buddy.toml.new", "[agent]\n")
		return os.Rename(filepath.Join(home, "buddy.toml.new"), d.File)
	})
	seen("a folder of themes", func() error { return os.Mkdir(filepath.Join(home, "themes"), 0o700) })
	seen("a theme", write("themes/mine.toml", ""))
	seen("a theme again", write("themes/mine.toml", "base = \"dark\"\n"))
	seen("the project's file", func() error { return os.WriteFile("buddy.toml", nil, 0o600) })
	seen("a file that is gone", func() error { return os.Remove(d.File) })
	seen("a link", func() error { return os.Symlink(filepath.Join(home, "dotfiles", "buddy.toml"), d.File) })
	seen("what the link leads to", write("dotfiles/buddy.toml", "[ui]\n"))
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestPlaces: the folders of the settings, or of --config alone.
func TestPlaces(t *testing.T) {
	d := apptest.NewSettings(t, "")
	places := watchedFiles(&Options{}, filepath.Join(filepath.Dir(d.File), "themes")).places()
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{filepath.Dir(d.File), filepath.Join(filepath.Dir(d.File), "themes")} {
		found := false
		for _, p := range places {
			found = found || p == want
		}
		if !found {
			t.Errorf("%s is not among %q, started in %s", want, places, cwd)
		}
	}
	if only := watchedFiles(&Options{Config: "x/c.toml"}, ""); len(only.files) != 1 || only.files[0] != filepath.Join(cwd, "x", "c.toml") {
		t.Errorf("--config: %q", only.files)
	}
}

// TestConcerns: names decide, and a change of permissions alone does not count.
func TestConcerns(t *testing.T) {
	w := watched{files: []string{"/h/buddy.toml"}, themes: "/h/themes"}
	for _, tt := range []struct {
		name string
		op   fsnotify.Op
		want bool
	}{
		{"/h/buddy.toml", fsnotify.Write, true},
		{"/h/buddy.toml", fsnotify.Remove, true},
		{"/h/buddy.toml", fsnotify.Chmod, false},
		{"/h/buddy.toml.swp", fsnotify.Create, false},
		{"/h/themes", fsnotify.Create, true},
		{"/h/themes/mine.toml", fsnotify.Rename, true},
		{"/h/themes/.mine.toml.swp", fsnotify.Write, false},
		{"/h/themes/notes.txt", fsnotify.Write, false},
		{"/h/main.go", fsnotify.Write, false},
	} {
		if got := w.concerns(fsnotify.Event{Name: tt.name, Op: tt.op}); got != tt.want {
			t.Errorf("%s %v: %v", tt.name, tt.op, got)
		}
	}
	if (watched{}).concerns(fsnotify.Event{Name: "x.toml", Op: fsnotify.Write}) {
		t.Error("without a home nothing is the person's own")
	}
}

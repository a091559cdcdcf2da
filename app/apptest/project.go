package apptest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/adrg/xdg"
)

// Project creates a repository with files, makes it the working directory and returns it. What the test trusts is
// stored in a folder of the test, not in the user's.
func Project(t *testing.T, files map[string]string) string {
	t.Helper()
	before := xdg.StateHome
	xdg.StateHome = t.TempDir()
	t.Cleanup(func() { xdg.StateHome = before })
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return dir
}

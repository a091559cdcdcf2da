package file

import (
	"os"
	"path/filepath"
	"testing"

	"buddy/agent/policy"
)

// A file that only the settings name as secret is skipped by searches and never used for
// instructions.
func TestProtectedFilesAreSkipped(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"notes", "openai", "keep/a"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("needle\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := NewWorkspace(dir, policy.Secret)
	if err != nil {
		t.Fatal(err)
	}
	ws.Protect([]string{filepath.Join(dir, "openai"), filepath.Join(dir, "keep")})
	s, err := newSearch(ws, grepArgs{Pattern: "needle"})
	if err == nil {
		err = s.search(t.Context(), dir)
	}
	if got := s.result(); err != nil || got.Tail != "notes:1:needle\n" || s.left.count[leftSecret] != 2 {
		t.Errorf("%q, %d skipped, %v", got.Tail, s.left.count[leftSecret], err)
	}
	if _, data, err := ws.Peek(t.Context(), filepath.Join(dir, "openai"), 100); err == nil {
		t.Errorf("it was read: %q", data)
	}
	if _, data, err := ws.Peek(t.Context(), filepath.Join(dir, "notes"), 100); err != nil || string(data) != "needle\n" {
		t.Errorf("%q, %v", data, err)
	}
}

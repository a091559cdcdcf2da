package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHalfWrittenFile: a start restores a file that an earlier process had half written when it was killed, and reports
// that once; for a file that has changed since it names the copy.
func TestHalfWrittenFile(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, echoes)
	x.quit()
	recovery := filepath.Join(x.srv.Dir, "home", ".local", "state", "buddy", "recovery")
	for name, now := range map[string]string{"half": "new and text\n", "changed": "mine\n"} {
		path, dir := filepath.Join(x.srv.Dir, name), filepath.Join(recovery, name)
		record, err := json.Marshal(map[string]any{"target": "local", "path": path, "perm": 0o640})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{path: now, filepath.Join(dir, "old"): "the old text\n", filepath.Join(dir, "new"): "new and longer text\n", filepath.Join(dir, "record.json"): string(record)} {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	x.again("")
	x.wantText("buddy ended while writing ", "half and restored the file's earlier content", "could not restore the file", "changed/old")
	for name, want := range map[string]string{"half": "the old text\n", "changed": "mine\n"} {
		if got, err := os.ReadFile(filepath.Join(x.srv.Dir, name)); err != nil || string(got) != want {
			t.Errorf("%s has %q, %v; want %q", name, got, err, want)
		}
	}
	x.quit()
	x.again("")
	x.send("a prompt")
	x.wantText("You said: a prompt.")
	if screen := x.screen(); strings.Contains(screen, "buddy ended while") {
		t.Errorf("said again:\n%s", screen)
	}
}

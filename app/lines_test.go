package app

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestHistoryThatIsATrap: a FIFO or a link in the place of the history is as good as none.
func TestHistoryThatIsATrap(t *testing.T) {
	dir := t.TempDir()
	for name, trap := range map[string]func(string) error{
		"FIFO": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"link": func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		h := &lineHistory{filepath.Join(dir, name)}
		if err := trap(h.path); err != nil {
			t.Fatal(err)
		}
		done := make(chan []string)
		go func() {
			h.add("x")
			done <- h.load()
		}()
		select {
		case lines := <-done:
			if len(lines) > 0 {
				t.Errorf("%s: %q", name, lines)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: it hangs", name)
		}
	}
	h := &lineHistory{filepath.Join(dir, "history")}
	h.add("one")
	if lines := h.load(); len(lines) != 1 || lines[0] != "one" {
		t.Errorf("without a trap: %q", lines)
	}
}

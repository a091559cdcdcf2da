package input

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLineHistory: what was typed comes back in its order, the latest 1000 lines, from a
// file and a folder that only their owner can read; also after the file was shortened.
func TestLineHistory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "buddy")
	h := &History{filepath.Join(dir, "history")}
	private := func() {
		t.Helper()
		for path, want := range map[string]os.FileMode{dir: 0o700, h.path: 0o600} {
			if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != want {
				t.Errorf("%s: mode %v, want %v (%v)", path, fi.Mode().Perm(), want, err)
			}
		}
	}
	if got := h.Load(); len(got) != 0 {
		t.Errorf("without a file: %q", got)
	}
	h.Add("two\nlines")
	h.Add("password \"1\"")
	private()
	if got := h.Load(); len(got) != 2 || got[0] != "two\nlines" || got[1] != "password \"1\"" {
		t.Errorf("load = %q", got)
	}
	for i := range 999 {
		h.Add(fmt.Sprint(i))
	}
	if got := h.Load(); len(got) != 1000 || got[0] != "password \"1\"" || got[999] != "998" {
		t.Errorf("%d lines, from %q to %q", len(got), got[0], got[len(got)-1])
	}

	lines := strings.Repeat("\""+strings.Repeat("x", 2045)+"\"\n", 2048) // 4 MiB
	if err := os.WriteFile(h.path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	h.Add("fits")
	if fi, err := os.Stat(h.path); err != nil || fi.Size() != 4<<20+7 {
		t.Errorf("a file of 4 MiB was shortened: %v", err)
	}
	h.Add("last")
	fi, err := os.Stat(h.path)
	if got := h.Load(); err != nil || fi.Size() != 999*2048+7+7 || len(got) != 1000 || got[998] != "fits" || got[999] != "last" {
		t.Errorf("a longer file was not shortened to 1000 lines and the new one: %d bytes, %d lines", fi.Size(), len(got))
	}
	private()
}

// TestHistoryThatIsATrap: a FIFO or a link in the place of the history is as good as none.
func TestHistoryThatIsATrap(t *testing.T) {
	dir := t.TempDir()
	for name, trap := range map[string]func(string) error{
		"FIFO": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"link": func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		h := &History{filepath.Join(dir, name)}
		if err := trap(h.path); err != nil {
			t.Fatal(err)
		}
		done := make(chan []string)
		go func() {
			h.Add("x")
			done <- h.Load()
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
	h := &History{filepath.Join(dir, "history")}
	h.Add("one")
	if lines := h.Load(); len(lines) != 1 || lines[0] != "one" {
		t.Errorf("without a trap: %q", lines)
	}
}

package snapshot

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// smallDisk returns a folder on a disk of 1 MB, if this machine lets us mount one.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,mode=700"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

func fill(t *testing.T, path string, size int, with byte) {
	t.Helper()
	if err := os.WriteFile(path, bytes.Repeat([]byte{with}, size), 0o600); err != nil {
		t.Fatal(err)
	}
}

// When the disk of the store is full, the smaller files stay covered, and the others are covered once there is room.
func TestStoreOnFullDisk(t *testing.T) {
	root, disk, state := t.TempDir(), smallDisk(t), t.TempDir()
	small, large := filepath.Join(root, "small"), filepath.Join(root, "large")
	fill(t, small, 300<<10, 's')
	fill(t, large, 600<<10, 'l')
	fill(t, filepath.Join(disk, "other"), 400<<10, 'o')
	tree := Open(Options{Store: filepath.Join(disk, "store"), State: state, Roots: []string{root}})
	done, err := tree.Scan(t.Context())
	if err != nil || done.Missing != 1 || !errors.Is(done.Store, unix.ENOSPC) {
		t.Fatalf("full: %+v, %v", done, err)
	}
	if !tree.Restores(small) || tree.Restores(large) {
		t.Error("the promise is wrong")
	}
	if err := os.Remove(filepath.Join(disk, "other")); err != nil {
		t.Fatal(err)
	}
	if done, err = tree.Scan(t.Context()); err != nil || done.Missing != 0 || done.Store != nil || !tree.Restores(large) {
		t.Errorf("with room: %+v, %v", done, err)
	}
}

// An undo that fills the disk restores nothing; it works once there is room.
func TestRestoreOnFullDisk(t *testing.T) {
	root, state := smallDisk(t), t.TempDir()
	a, b := filepath.Join(root, "a"), filepath.Join(root, "b")
	fill(t, a, 200<<10, 'a')
	fill(t, b, 500<<10, 'b')
	tree := Open(Options{Store: filepath.Join(state, "store"), State: filepath.Join(state, "session"), Roots: []string{root}})
	if _, err := tree.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{a, b} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	done, err := tree.Scan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(root, "other")
	fill(t, other, 700<<10, 'o')
	restore := func() error {
		_, err := tree.Restore(t.Context(), done.Changes, false, func([]Change) error { return nil })
		return err
	}
	if err := restore(); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("full: %v", err)
	}
	if left, _ := os.ReadDir(root); len(left) != 1 {
		t.Errorf("left on the full disk: %v", left)
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(b); err != nil || len(data) != 500<<10 {
		t.Errorf("b has %d bytes: %v", len(data), err)
	}
}

package sessions

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/adrg/xdg"
)

// The sessions of a folder that can't be written any more are still found beside those that are kept elsewhere
// meanwhile, and those once it can.
func TestSessionsOfAFolderThatCantBeWritten(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,mode=700"); err != nil {
		t.Skipf("nothing can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	remount := func(flags uintptr) Store {
		t.Helper()
		if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|flags, ""); err != nil {
			t.Fatal(err)
		}
		s, _, err := Dir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := remount(0)
	if _, ok := first.Other(); ok {
		t.Error("a folder without sessions elsewhere has another store")
	}
	before := stored(t, first, 1)
	aside := remount(syscall.MS_RDONLY)
	if other, ok := aside.Other(); !ok || aside.Path() == first.Path() || other.Path() != first.Path() {
		t.Fatalf("while nothing can be written sessions are in %s, and in %s", aside.Path(), other.Path())
	} else if id, err := other.Find(before[:4]); id != before || err != nil {
		t.Errorf("found %q, %v", id, err)
	}
	meanwhile := stored(t, aside, 1)
	if other, ok := remount(0).Other(); !ok {
		t.Error("what was kept elsewhere is not known any more")
	} else if id, err := other.Find(meanwhile); id != meanwhile || err != nil {
		t.Errorf("found %q, %v", id, err)
	}

	// A link could lead to sessions of somebody else.
	link := filepath.Join(t.TempDir(), "w")
	if err := os.Mkdir(link, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(first.Path()), filepath.Join(link, ".buddyx")); err != nil {
		t.Fatal(err)
	}
	s, _, err := Dir(link)
	if other, ok := s.Other(); ok || err != nil {
		t.Errorf("sessions behind a link count as another store: %s, %v", other.Path(), err)
	}
}

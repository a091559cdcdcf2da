package sessions

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/adrg/xdg"
)

// Sessions of a folder that became read-only are still found together with those stored elsewhere meanwhile, also when
// it is writable again.
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
		s, _, err := Dir(dir, InProject)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := remount(0)
	if others := first.Others(); len(others) > 0 {
		t.Errorf("a folder without sessions elsewhere has other stores: %v", others)
	}
	before := stored(t, first, 1)
	aside := remount(syscall.MS_RDONLY)
	if others := aside.Others(); len(others) != 1 || aside.Path() == first.Path() || others[0].Path() != first.Path() {
		t.Fatalf("while nothing can be written sessions are in %s, and in %v", aside.Path(), others)
	} else if id, err := others[0].Find(before[:4]); id != before || err != nil {
		t.Errorf("found %q, %v", id, err)
	}
	meanwhile := stored(t, aside, 1)
	if others := remount(0).Others(); len(others) != 1 {
		t.Errorf("what was kept elsewhere is not known any more: %v", others)
	} else if id, err := others[0].Find(meanwhile); id != meanwhile || err != nil {
		t.Errorf("found %q, %v", id, err)
	}

	// A link could lead to another user's sessions.
	link := filepath.Join(t.TempDir(), "w")
	if err := os.Mkdir(link, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(first.Path()), filepath.Join(link, ".buddyx")); err != nil {
		t.Fatal(err)
	}
	s, _, err := Dir(link, InProject)
	if others := s.Others(); len(others) > 0 || err != nil {
		t.Errorf("sessions behind a link count as another store: %v, %v", others, err)
	}
}

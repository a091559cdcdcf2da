package fswatch

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// instances counts the inotify instances of this process.
func instances(t *testing.T) (n int) {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if link, err := os.Readlink("/proc/self/fd/" + name.Name()); err == nil && link == "anon_inode:inotify" {
			n++
		}
	}
	return n
}

func open(t *testing.T, folders ...string) *Watcher {
	t.Helper()
	w, err := New()
	if err != nil {
		t.Skip(err)
	}
	for _, folder := range folders {
		if err := w.Add(folder); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// wantEvent waits for an event of an operation on a file.
func (w *Watcher) wantEvent(t *testing.T, name string, op fsnotify.Op) {
	t.Helper()
	for late := time.After(time.Minute); ; {
		select {
		case e := <-w.Events:
			if e.Name == name && e.Op.Has(op) {
				return
			}
		case <-late:
			t.Fatalf("%s: no %v", name, op)
		}
	}
}

// TestWatchersShareOneInstance: each hears of its own folders alone, under the names by which it knows them, also when
// another one of the same folder has ended; the last one gives the instance back.
func TestWatchersShareOneInstance(t *testing.T) {
	shared, own, links := t.TempDir(), t.TempDir(), t.TempDir()
	link := filepath.Join(links, "link")
	if err := os.Symlink(shared, link); err != nil {
		t.Fatal(err)
	}
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, b, c := open(t, shared, own), open(t, link), open(t, shared)
	if n := instances(t); n != 1 {
		t.Errorf("%d inotify instances", n)
	}
	write(filepath.Join(own, "mine"))
	write(filepath.Join(shared, "one"))
	a.wantEvent(t, filepath.Join(own, "mine"), fsnotify.Create)
	a.wantEvent(t, filepath.Join(shared, "one"), fsnotify.Create)
	c.wantEvent(t, filepath.Join(shared, "one"), fsnotify.Create)
	select {
	case e := <-b.Events:
		if want := filepath.Join(link, "one"); e.Name != want {
			t.Errorf("it hears of %s, want %s", e.Name, want)
		}
	case <-time.After(time.Minute):
		t.Error("it does not hear of what is behind a link")
	}
	a.Close()
	write(filepath.Join(shared, "two"))
	b.wantEvent(t, filepath.Join(link, "two"), fsnotify.Create)
	if err := os.RemoveAll(shared); err != nil {
		t.Fatal(err)
	}
	c.wantEvent(t, shared, fsnotify.Remove)
	if err := os.Mkdir(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := c.Add(shared); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(shared, "three"))
	c.wantEvent(t, filepath.Join(shared, "three"), fsnotify.Create)
	b.Close()
	c.Close()
	if n := instances(t); n != 0 {
		t.Errorf("%d inotify instances are left", n)
	}
}

// TestSlowReaderIsToldThatEventsWereLost: who does not read keeps nobody else from hearing.
func TestSlowReaderIsToldThatEventsWereLost(t *testing.T) {
	dir := t.TempDir()
	slow, quick := open(t, dir), open(t, dir)
	defer slow.Close()
	defer quick.Close()
	name := filepath.Join(dir, "file")
	for range room {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		quick.wantEvent(t, name, fsnotify.Create)
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-slow.Lost:
	case <-time.After(time.Minute):
		t.Error("it was not told")
	}
}

package unseen

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func change(t *testing.T, p Place) (end func()) {
	t.Helper()
	end, err := p.Begin(true)
	if err != nil {
		t.Fatal(err)
	}
	return end
}

func marks(t *testing.T, p Place) []Mark {
	t.Helper()
	all, err := p.Marks()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestClearRemovesOnlyWhatWasBefore(t *testing.T) {
	p := Place{Dir: t.TempDir(), Folders: []string{t.TempDir()}}
	if p.Marked(true) {
		t.Fatal("marked before the first change")
	}
	end := change(t, p)
	during := marks(t, p)
	Clear(during)
	end()
	Clear(during)
	if !p.Marked(false) {
		t.Error("a change that was running when the mark was read is cleared")
	}
	before := marks(t, p)
	change(t, p)()
	Clear(before)
	if !p.Marked(false) {
		t.Error("a change after the mark was read is cleared")
	}
	if Clear(marks(t, p)); p.Marked(true) {
		t.Error("still marked after all was seen")
	}
}

// A process that starts a change while others clear marks finds the folder marked until its end.
func TestBeginningAndClearingAtTheSameTime(t *testing.T) {
	p := Place{Dir: t.TempDir(), Folders: []string{t.TempDir()}}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 40 {
				Clear(marks(t, p))
			}
		})
		all.Go(func() {
			for range 40 {
				end := change(t, p)
				if !p.Marked(false) {
					t.Error("not marked while a change is being made")
				}
				end()
			}
		})
	}
	all.Wait()
}

// A folder and its subfolders share their marks, under any name; other folders do not.
func TestWhichFoldersShareAMark(t *testing.T) {
	dir, _ := filepath.EvalSymlinks(t.TempDir())
	write(t, filepath.Join(dir, "w", "sub", "a"))
	if err := os.Symlink(filepath.Join(dir, "w"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	renamed := Place{Dir: t.TempDir(), Folders: []string{filepath.Join(dir, "before")}}
	write(t, filepath.Join(dir, "before", "a"))
	change(t, renamed)()
	if err := os.Rename(filepath.Join(dir, "before"), filepath.Join(dir, "after")); err != nil {
		t.Fatal(err)
	}
	if renamed.Folders = []string{filepath.Join(dir, "after")}; !renamed.Marked(true) {
		t.Error("a folder that was renamed is not marked any more")
	}
	for _, tt := range []struct {
		changed, asked string
		want           bool
	}{{"w", "w", true}, {"w", "link", true}, {"link", "w", true}, {"w/sub", "w", true}, {"w", "w/sub", true}, {"w", "other", false}, {"w/sub", "w/su", false}} {
		p := Place{Dir: t.TempDir(), Folders: []string{"/nowhere", filepath.Join(dir, tt.changed)}}
		change(t, p)()
		p.Folders = []string{filepath.Join(dir, tt.asked)}
		if got := p.Marked(true); got != tt.want {
			t.Errorf("%s was changed, %s is marked: %v", tt.changed, tt.asked, got)
		}
	}
}

// An unreadable mark counts as marked, and prevents changes.
func TestBrokenMarks(t *testing.T) {
	p := Place{Dir: t.TempDir(), Folders: []string{"/w"}}
	write(t, filepath.Join(p.Dir, "broken"))
	if _, err := p.Marks(); err == nil || !p.Marked(false) {
		t.Errorf("a broken mark: %v, marked %v", err, p.Marked(false))
	}
	p.Dir = filepath.Join(p.Dir, "broken")
	if _, err := p.Begin(true); err == nil {
		t.Error("a change begins without a mark")
	}
}

// old returns a mark of a folder that was set just now: later writes are changes.
func old(t *testing.T, dir string) []Mark {
	t.Helper()
	last := filepath.Join(t.TempDir(), "last")
	write(t, last)
	changed := func(name string) time.Time {
		var st unix.Stat_t
		if err := unix.Stat(name, &st); err != nil {
			t.Fatal(err)
		}
		return time.Unix(0, st.Ctim.Nano())
	}
	m := Mark{Folder: dir, Since: changed(last).Add(slack + 1)}
	for next := last + "+"; !changed(last).After(m.Since.Add(-slack)); { // the clock of the file system may be slower
		write(t, next)
		last = next
	}
	return []Mark{m}
}

func TestChangesSinceAMark(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"old", "gone/x", "times"} {
		write(t, filepath.Join(dir, name))
	}
	marks := old(t, dir)
	for _, name := range []string{"new", "web/main.tf", ".git/hooks/pre-push", ".git/index", ".git/objects/ab/cd", ".buddyx/sessions/s", "sub/.buddyx/x"} {
		write(t, filepath.Join(dir, name))
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "times"), past, past); err != nil { // hides the change
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "gone", "x")); err != nil {
		t.Fatal(err)
	}
	want := []string{".git/hooks/pre-push", "gone/", "new", "sub/.buddyx/x", "times", "web/main.tf"}
	if got, more := Changes(marks, time.Minute); !reflect.DeepEqual(got, want) || more {
		t.Errorf("changes %v, more %v; want %v", got, more, want)
	}
	if _, more := Changes(marks, 0); !more {
		t.Error("no time was left, and that is not said")
	}
}

// The list ends at its limit.
func TestChangesEnd(t *testing.T) {
	dir := t.TempDir()
	marks := old(t, dir)
	for i := range maxChanges + 1 {
		if err := os.Symlink("x", filepath.Join(dir, fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if got, more := Changes(marks, time.Minute); len(got) > maxChanges || !more {
		t.Errorf("%d changes, more: %v", len(got), more)
	}
}

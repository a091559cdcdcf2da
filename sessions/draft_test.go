package sessions

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// saved stores a text as the draft of a screen.
func saved(t *testing.T, d *Draft, text string) {
	t.Helper()
	if err := d.Save(text); err != nil {
		t.Fatal(err)
	}
}

// takes checks the text that a new screen takes over.
func takes(t *testing.T, d *Draft, want string) *Draft {
	t.Helper()
	if got := d.TakeOver(); got != want {
		t.Errorf("it takes %q over, want %q", got, want)
	}
	return d
}

// Any non-empty text is restored unchanged, and an empty one leaves no files.
func TestDraft(t *testing.T) {
	s, id := newStore(t), NewID()
	d := takes(t, s.Draft(id), "")
	for _, text := range []string{"", "one", "two\n\x00é\xff", strings.Repeat("x", 1<<20), "", ""} {
		saved(t, d, text)
		d.Close()
		d = takes(t, s.Draft(id), text)
	}
	if files, err := os.ReadDir(s.dir); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

// Several screens on a session have separate drafts: sending, emptying or leaving one does not affect the others.
func TestDraftsOfSeveralScreens(t *testing.T) {
	s, id := newStore(t), NewID()
	first, second := s.Draft(id), s.Draft(id)
	saved(t, first, "of the first")
	takes(t, second, "") // the first is running
	saved(t, second, "of the second")
	saved(t, second, "") // it is sent
	takes(t, s.Draft(id), "")
	first.Close()
	third := takes(t, s.Draft(id), "of the first")
	takes(t, s.Draft(id), "")
	saved(t, second, "again of the second")
	saved(t, third, "of the third")
	second.Close() // both have ended: the newest comes first, the other is kept
	third.Close()
	for path, age := range map[string]time.Duration{second.path: time.Minute, third.path: time.Hour} {
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	newest := takes(t, s.Draft(id), "again of the second")
	other := takes(t, s.Draft(id), "of the third")
	takes(t, s.Draft(NewID()), "") // of another session
	saved(t, newest, "")
	saved(t, other, "")
	if files, err := os.ReadDir(s.dir); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

// The text of a screen that ends while another one starts goes to the new screen; a text that was sent meanwhile goes
// to none.
func TestDraftThatIsLeftLater(t *testing.T) {
	s, id := newStore(t), NewID()
	dying, sending := s.Draft(id), s.Draft(id)
	saved(t, dying, "left behind")
	saved(t, sending, "sent soon")
	next := takes(t, s.Draft(id), "")
	left := make(chan Left, 2)
	next.AwaitLeft(func(l Left) { left <- l })
	saved(t, sending, "")
	dying.Close()
	if text := next.Adopt(<-left); text != "left behind" {
		t.Errorf("it takes %q over", text)
	}
	takes(t, s.Draft(id), "") // the next screen has it
	next.Close()
	takes(t, s.Draft(id), "left behind").Close()

	id = NewID()
	dying = s.Draft(id)
	saved(t, dying, "of a screen that stays")
	s.Draft(id).AwaitLeft(func(l Left) { left <- l })
	dying.Close()
	(<-left).Release()
	takes(t, s.Draft(id), "of a screen that stays")
}

// Texts above the limit are refused with an error; the stored ones stay.
func TestTooManyDrafts(t *testing.T) {
	s, id := newStore(t), NewID()
	for n := range maxDrafts {
		d := s.Draft(id)
		defer d.Close()
		saved(t, d, fmt.Sprint(n))
	}
	wantError(t, s.Draft(id).Save("one more"), id, fmt.Sprint(maxDrafts), "files are in use")
	if text, err := os.ReadFile(s.drafts(id)[0]); err != nil || string(text) != "0" {
		t.Errorf("%q, %v", text, err)
	}
}

// A lock file that was removed just before it was locked is invalid.
func TestDraftWithARemovedLock(t *testing.T) {
	s, id := newStore(t), NewID()
	d := s.Draft(id)
	saved(t, d, "mine")
	if err := os.Remove(d.path + ".lock"); err != nil {
		t.Fatal(err)
	}
	other := s.Draft(id)
	takes(t, other, "mine") // as after a crash
	saved(t, s.Draft(id), "of a third")
	if text, err := os.ReadFile(d.path); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
}

// A text typed before the first prompt goes to the next process in the same folder once its own process has ended, and
// to one process only.
func TestUnsent(t *testing.T) {
	s := newStore(t)
	u := takes(t, s.Unsent(), "")
	saved(t, u, "never tou")
	saved(t, u, "never touch it")
	other := takes(t, s.Unsent(), "") // while the first is running
	saved(t, other, "something else")
	u.Close()
	takes(t, Store{dir: filepath.Join(s.dir, "elsewhere"), state: s.state}.Unsent(), "")
	again := takes(t, s.Unsent(), "never touch it") // after a crash
	saved(t, takes(t, s.Unsent(), ""), "")
	for _, u := range []*Draft{again, other} {
		saved(t, u, "")
		saved(t, u, "") // a second time
	}
	if left, err := os.ReadDir(filepath.Join(s.state, "drafts")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if exists(filepath.Join(s.dir, ".gitignore")) {
		t.Error("a draft made something in the folder")
	}
}

// Special files and links in place of a draft neither block nor redirect it.
func TestUnsentBesideOddFiles(t *testing.T) {
	s := newStore(t)
	u := s.Unsent()
	saved(t, u, "kept")
	u.Close()
	if err := os.Remove(u.path + ".lock"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(s.state, "target"), u.path+".lock"); err != nil {
		t.Fatal(err)
	}
	d := takes(t, s.Unsent(), "")
	if exists(filepath.Join(s.state, "target")) {
		t.Error("it was locked through a link")
	}
	saved(t, d, "stored elsewhere")
}

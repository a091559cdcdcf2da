package sessions

import (
	"os"
	"path/filepath"
	"testing"
)

// What was typed before the first prompt is found by the next process once its own is gone,
// in the same folder, and by one of them only.
func TestUnsent(t *testing.T) {
	s := newStore(t)
	u, text := s.Unsent()
	if text != "" {
		t.Fatalf("there is %q", text)
	}
	if err := u.Save("never tou"); err != nil {
		t.Fatal(err)
	}
	if err := u.Save("never touch it"); err != nil {
		t.Fatal(err)
	}
	other, text := s.Unsent() // while the first lives
	if text != "" {
		t.Errorf("another process took %q", text)
	}
	if err := other.Save("something else"); err != nil {
		t.Fatal(err)
	}
	u.Close()
	if _, text := (Store{dir: filepath.Join(s.dir, "elsewhere"), state: s.state}).Unsent(); text != "" {
		t.Errorf("in another folder there is %q", text)
	}
	again, text := s.Unsent()
	if text != "never touch it" {
		t.Errorf("after a crash there is %q", text)
	}
	if third, text := s.Unsent(); text != "" {
		t.Errorf("a third took %q", text)
	} else if err := third.Save(""); err != nil {
		t.Error(err)
	}
	for _, u := range []*Unsent{again, other} {
		if err := u.Save(""); err != nil {
			t.Error(err)
		}
		if err := u.Save(""); err != nil {
			t.Error("a second time:", err)
		}
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
	u, _ := s.Unsent()
	if err := u.Save("kept"); err != nil {
		t.Fatal(err)
	}
	u.Close()
	if err := os.Remove(u.path + ".lock"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(s.state, "target"), u.path+".lock"); err != nil {
		t.Fatal(err)
	}
	if _, text := s.Unsent(); text != "" || exists(filepath.Join(s.state, "target")) {
		t.Errorf("took %q through a link", text)
	}
}

//go:build linux && (amd64 || arm64)

package confine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestSurveyFindsWhatItWouldFindAtFirst: after any changes a survey that knows the workspace finds what a new one does,
// and reads the folders that changed only.
func TestSurveyFindsWhatItWouldFindAtFirst(t *testing.T) {
	root := t.TempDir()
	dir := func(n int) string { return filepath.Join(root, fmt.Sprint("d", n%7), fmt.Sprint("e", n%3)) }
	make := func(path string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 21 {
		make(filepath.Join(dir(n), "main.go"))
		make(filepath.Join(dir(n), "prod.tfvars"))
		make(filepath.Join(dir(n), "node_modules/x/.env"))
	}
	hidden := []string{filepath.Join(dir(5), "prod.tfvars"), dir(4), "/elsewhere"}
	s := newSurvey(root, hidden)
	rng := rand.New(rand.NewPCG(1, 2))
	change := func() (what string) {
		d := dir(rng.IntN(21))
		switch rng.IntN(6) {
		case 0:
			make(filepath.Join(d, fmt.Sprint("new", rng.IntN(100), ".pem")))
		case 1:
			_ = os.Remove(filepath.Join(d, "prod.tfvars"))
		case 2:
			_ = os.RemoveAll(d)
		case 3: // its modification time is as it was
			info, err := os.Stat(d)
			if err != nil {
				return ""
			}
			make(filepath.Join(d, ".env"))
			_ = os.Chtimes(d, info.ModTime(), info.ModTime())
		case 4: // another folder takes its place
			_ = os.RemoveAll(d)
			_ = os.Rename(filepath.Join(dir(rng.IntN(21))), d)
		case 5:
			_ = os.Rename(filepath.Join(d, "main.go"), filepath.Join(d, "id_rsa"))
		}
		return d
	}
	for round := range 3 {
		time.Sleep(settled + 100*time.Millisecond)
		s.look()
		if s.look(); s.read != 0 {
			t.Errorf("round %d: %d folders are read although nothing changed", round, s.read)
		}
		for range 1 + round {
			d := change()
			got, want := s.look(), newSurvey(root, hidden).look()
			if !slices.Equal(got, want) {
				t.Errorf("round %d, change in %s:\n%s\nwant\n%s", round, d, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if round == 0 && s.read > 8 {
				t.Errorf("%d folders are read after one change", s.read)
			}
		}
	}
}

// TestNewSecretMakesABoxStale: one that another program writes somewhere in the workspace, and one that goes.
func TestNewSecretMakesABoxStale(t *testing.T) {
	work := t.TempDir()
	deep := filepath.Join(work, "a/b")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	box, err := New(Config{Reach: Reach{Read: []string{work}}, Env: os.Environ(), Temp: t.TempDir()})
	if err != nil {
		t.Skip(err)
	}
	defer box.Close()
	secret := filepath.Join(deep, ".env")
	for _, write := range []bool{true, false} {
		if box.looked = time.Now().Add(-lookAgain); box.Stale() {
			t.Error("stale before anything changed")
		}
		if write {
			err = os.WriteFile(secret, nil, 0o600)
		} else {
			err = os.Remove(secret)
		}
		if err != nil {
			t.Fatal(err)
		}
		if box.Stale() && write { // without, the folder is one of those that are listed
			t.Error("all folders were looked at again within a moment")
		}
		if box.looked = time.Now().Add(-lookAgain); !box.Stale() {
			t.Errorf("secret written %v: not stale", write)
		}
		old := box
		if box, err = box.Renew(); err != nil {
			t.Fatal(err)
		}
		old.Close()
	}
}

// BenchmarkRenew is a box made anew in a workspace of 10,000 files in 1,000 folders of which one changed, against one that is new.
func BenchmarkRenew(b *testing.B) {
	work := b.TempDir()
	for d := range 1000 {
		dir := filepath.Join(work, fmt.Sprint("d", d/30), fmt.Sprint("e", d))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		for f := range 8 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("file", f, ".go")), nil, 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	time.Sleep(settled)
	c := Config{Reach: Reach{Read: []string{work}}, Env: os.Environ(), Temp: b.TempDir()}
	box, err := New(c)
	if err != nil {
		b.Skip(err)
	}
	renew := func(b *testing.B, f func() (*Box, error)) {
		old := box
		if box, err = f(); err != nil {
			b.Fatal(err)
		}
		old.Close()
	}
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			renew(b, func() (*Box, error) { return New(c) })
		}
	})
	b.Run("renewed", func(b *testing.B) {
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			if err := os.WriteFile(filepath.Join(work, "d0", fmt.Sprint("new", n)), nil, 0o600); err != nil {
				b.Fatal(err)
			}
			renew(b, func() (*Box, error) { return box.Renew() })
		}
	})
	box.Close()
}

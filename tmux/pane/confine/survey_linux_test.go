//go:build linux && (amd64 || arm64)

package confine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestSurveyFindsWhatItWouldFindAtFirst: after any changes a survey finds the same as a new one, and reads only changed
// folders.
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
	link := func(from, to string) { _ = os.Link(filepath.Join(from, "prod.tfvars"), to) }
	s := newSurvey(root, hidden)
	rng := rand.New(rand.NewPCG(1, 2))
	change := func() (what string) {
		d := dir(rng.IntN(21))
		kind := rng.IntN(9)
		switch kind {
		case 0:
			make(filepath.Join(d, fmt.Sprint("new", rng.IntN(100), ".pem")))
		case 1:
			_ = os.Remove(filepath.Join(d, "prod.tfvars"))
		case 2:
			_ = os.RemoveAll(d)
		case 3: // its modification time stays
			info, err := os.Stat(d)
			if err != nil {
				return ""
			}
			make(filepath.Join(d, ".env"))
			_ = os.Chtimes(d, info.ModTime(), info.ModTime())
		case 4: // another folder replaces it
			_ = os.RemoveAll(d)
			_ = os.Rename(filepath.Join(dir(rng.IntN(21))), d)
		case 5:
			_ = os.Rename(filepath.Join(d, "main.go"), filepath.Join(d, "id_rsa"))
		case 6: // a second name
			link(d, filepath.Join(dir(rng.IntN(21)), fmt.Sprint("notes", rng.IntN(100))))
		case 7: // the file had another name before
			_ = os.Link(filepath.Join(d, "main.go"), filepath.Join(dir(rng.IntN(21)), fmt.Sprint(rng.IntN(100), ".key")))
		case 8: // a folder that contains both
			_ = os.Rename(filepath.Dir(d), filepath.Dir(d)+"x")
		}
		return fmt.Sprint(kind, " in ", d)
	}
	for round := range 40 {
		s.look()
		if s.look(); s.read != 0 {
			t.Errorf("round %d: %d folders are read although nothing changed", round, s.read)
		}
		for range 1 + round/4 {
			d := change()
			got, want := sorted(s.look()), sorted(newSurvey(root, hidden).look())
			if !slices.Equal(got, want) {
				more := slices.DeleteFunc(slices.Clone(got), func(p string) bool { return slices.Contains(want, p) })
				less := slices.DeleteFunc(want, func(p string) bool { return slices.Contains(got, p) })
				t.Fatalf("round %d, change %s: also %q, not %q", round, d, more, less)
			}
			if round == 0 && s.read > 8 {
				t.Errorf("%d folders are read after one change", s.read)
			}
		}
	}
}

func sorted(all []string) []string { slices.Sort(all); return all }

// TestNewSecretMakesABoxStale: a secret that another program writes anywhere in the workspace, and one that it removes.
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
		if box.Stale() {
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
		if !box.Stale() { // at once
			t.Errorf("secret written %v: not stale", write)
		}
		old := box
		if box, err = box.Renew(); err != nil {
			t.Fatal(err)
		}
		old.Close()
	}
}

// BenchmarkRenew compares renewing a box with creating one, in a workspace of 10,000 files in 1,000 folders, one of
// them changed.
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

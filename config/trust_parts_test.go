package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// trustOf returns "trusted", "changed", "new" or the error of a part.
func trustOf(t *testing.T, s TrustStore, dir string, p Part) string {
	t.Helper()
	switch trusted, changed, err := s.PartTrusted(dir, p); {
	case err != nil && trusted:
		t.Errorf("%s is trusted in spite of %v", p, err)
		return ""
	case err != nil:
		return err.Error()
	case trusted:
		return "trusted"
	case changed:
		return "changed"
	}
	return "new"
}

func TestAPartLosesTrustAlone(t *testing.T) {
	dir := project(t, "a.sh", "b.sh", "lib/c.sh", "link -> lib/c.sh")
	store := NewTrustStore(t.TempDir())
	a := Part{Kind: "hook", Name: "a", Definition: "sh a.sh", Files: []string{"a.sh", "link"}}
	b := Part{Kind: "hook", Name: "b", Definition: "sh b.sh", Files: []string{"b.sh"}}
	check := func(what, wantA, wantB string) {
		t.Helper()
		if gotA, gotB := trustOf(t, store, dir, a), trustOf(t, store, dir, b); gotA != wantA || gotB != wantB {
			t.Errorf("%s: a is %s, b is %s, want %s and %s", what, gotA, gotB, wantA, wantB)
		}
	}
	trust := func(parts ...Part) {
		t.Helper()
		if err := store.TrustParts(dir, parts...); err != nil {
			t.Fatal(err)
		}
	}
	check("at first", "new", "new")
	trust(a)
	check("one", "trusted", "new")
	trust(b)
	check("both", "trusted", "trusted")
	write(t, filepath.Join(dir, "a.sh"), "evil")
	check("another script", "changed", "trusted")
	write(t, filepath.Join(dir, "a.sh"), "a.sh")
	check("the script as it was", "trusted", "trusted")
	write(t, filepath.Join(dir, "lib", "c.sh"), "evil")
	check("the script behind a link", "changed", "trusted")
	trust(a)
	check("trusted again", "trusted", "trusted")
	b.Definition += " "
	check("another definition", "trusted", "changed")
	b.Definition = "sh b.sh"
	b.Kind = "mcp"
	check("another kind", "trusted", "new")
	b.Kind, b.Files = "hook", nil
	check("files that are no longer named", "trusted", "changed")
	b.Files = []string{"b.sh"}
	if err := os.Remove(filepath.Join(dir, "b.sh")); err != nil {
		t.Fatal(err)
	}
	check("a script that is gone", "trusted", "changed")
	if got := trustOf(t, store, filepath.Join(dir, "lib"), a); got != "new" {
		t.Errorf("in another folder a is %s", got)
	}
	if err := store.ForgetParts(dir, a); err != nil {
		t.Fatal(err)
	}
	check("forgotten", "new", "changed")
	if found, err := store.Forget(dir); !found || err != nil {
		t.Error(found, err)
	}
	check("the folder forgotten", "new", "new")
}

// A link from one file to another, and two files with swapped contents, are different forms.
func TestThePrintOfAPartIsNotAmbiguous(t *testing.T) {
	dir := project(t, "x", "y", "out -> /bin/sh")
	prints := map[string]string{}
	for name, p := range map[string]Part{
		"plain":        {Kind: "hook", Name: "a", Definition: "xy"},
		"other kind":   {Kind: "hooka", Name: "", Definition: "xy"},
		"file":         {Kind: "hook", Name: "a", Definition: "xy", Files: []string{"x"}},
		"other file":   {Kind: "hook", Name: "a", Definition: "xy", Files: []string{"y"}},
		"outside":      {Kind: "hook", Name: "a", Definition: "xy", Files: []string{"out"}},
		"missing":      {Kind: "hook", Name: "a", Definition: "xy", Files: []string{"gone"}},
		"longer name":  {Kind: "hook", Name: "ax", Definition: "y"},
		"short":        {Kind: "hook", Name: "a", Definition: "x"},
		"files joined": {Kind: "hook", Name: "a", Definition: "xy", Files: []string{"x", "y"}},
	} {
		print, _, err := readPart(dir, p, "")
		if (err != nil) != (p.Name == "") {
			t.Errorf("%s: %v", name, err)
		}
		for other, had := range prints {
			if err == nil && had == print {
				t.Errorf("%s and %s have the same print", name, other)
			}
		}
		prints[name] = print
	}
	same := Part{Kind: "hook", Name: "a", Definition: "xy", Files: []string{"y", "x", "y"}}
	if print, _, _ := readPart(dir, same, ""); print != prints["files joined"] {
		t.Error("the order of the files counts")
	}
}

func TestPartsThatCanNotBeTrusted(t *testing.T) {
	dir := project(t, "ok", "unreadable", "folder/")
	if err := errors.Join(syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600), os.Truncate(filepath.Join(dir, "unreadable"), maxPartFile+1),
		os.Symlink("loop", filepath.Join(dir, "loop"))); err != nil {
		t.Fatal(err)
	}
	store := NewTrustStore(t.TempDir())
	ok := Part{Kind: "hook", Name: "ok", Definition: "x", Files: []string{"ok"}}
	many := make([]string, maxPartFiles+1)
	for _, tt := range []struct {
		p   Part
		why string
	}{
		{Part{Kind: "hook", Name: "x", Files: []string{"fifo"}}, `hook:x: "fifo" is not a regular file`},
		{Part{Kind: "hook", Name: "x", Files: []string{"folder"}}, `"folder" is a directory, not a file`},
		{Part{Kind: "hook", Name: "x", Files: []string{"unreadable"}}, `"unreadable" is over 32768 KiB`},
		{Part{Kind: "hook", Name: "x", Files: []string{"loop"}}, `"loop"`},
		{Part{Kind: "hook", Name: "x", Files: many}, "hook:x has 2001 files (at most 2000)"},
		{Part{Kind: "mcp", Name: "x", Definition: strings.Repeat("x", 1<<20)}, "mcp:x has a definition of 1024 KiB (at most 64)"},
		{Part{Kind: "hook", Name: ""}, "is not the name of a part"},
		{Part{Kind: "hook", Name: strings.Repeat("x", 300)}, "is not the name of a part"},
		{Part{Kind: "hook", Name: "\xff"}, "is not the name of a part"},
		{Part{Kind: "", Name: "x"}, "is not the name of a part"},
	} {
		if got := trustOf(t, store, dir, tt.p); !strings.Contains(got, tt.why) {
			t.Errorf("%q, want %q", got, tt.why)
		}
		if err := store.TrustParts(dir, ok, tt.p); err == nil || !strings.Contains(err.Error(), tt.why) {
			t.Errorf("trusting it: %v, want %q", err, tt.why)
		}
	}
	if got := trustOf(t, store, dir, ok); got != "new" {
		t.Errorf("what was to be trusted beside it is %s", got)
	}
	if err := store.TrustParts(dir, ok); err != nil || trustOf(t, store, dir, ok) != "trusted" {
		t.Errorf("the control: %v", err)
	}
}

// The trusted form is the one that the person saw, not a later one.
func TestAPartThatChangesWhileItIsLookedAt(t *testing.T) {
	dir := project(t, "x.sh")
	store := NewTrustStore(t.TempDir())
	states, err := store.CheckParts(dir, Part{Kind: "hook", Name: "x", Definition: "sh x.sh", Files: []string{"x.sh"}})
	if err != nil || states[0].Trusted || states[0].Print == "" {
		t.Fatal(states, err)
	}
	p := states[0].Part
	p.Seen = states[0].Print
	write(t, filepath.Join(dir, "x.sh"), "evil")
	if err := store.TrustParts(dir, p); err == nil || !strings.Contains(err.Error(), "hook:x changed while you looked at it") {
		t.Error(err)
	}
	write(t, filepath.Join(dir, "x.sh"), "x.sh")
	if err := store.TrustParts(dir, p); err != nil || trustOf(t, store, dir, p) != "trusted" {
		t.Error(err)
	}
}

func TestWhatChangedInAPart(t *testing.T) {
	dir := project(t, "x.sh", "gone.sh", "big", "binary")
	write(t, filepath.Join(dir, "big"), strings.Repeat("x", maxKeptText+1))
	write(t, filepath.Join(dir, "binary"), "\xff\x00")
	state := t.TempDir()
	store := NewTrustStore(state)
	p := Part{Kind: "hook", Name: "x", Definition: "sh x.sh", Files: []string{"x.sh", "gone.sh", "big", "binary"}}
	if changes, err := store.PartChanges(dir, p); len(changes) > 0 || err != nil {
		t.Errorf("of one that was never trusted: %q, %v", changes, err)
	}
	if err := store.TrustParts(dir, p); err != nil {
		t.Fatal(err)
	}
	if changes, err := store.PartChanges(dir, p); len(changes) > 0 || err != nil {
		t.Errorf("of one that did not change: %q, %v", changes, err)
	}
	write(t, filepath.Join(dir, "x.sh"), "evil")
	p.Definition, p.Files = "sh x.sh -f", []string{"x.sh", "big", "binary"}
	changes, err := store.PartChanges(dir, p)
	want := []PartChange{{"", "sh x.sh", "sh x.sh -f"}, {"gone.sh", "gone.sh", ""}, {"x.sh", "x.sh", "evil"}}
	if err != nil || fmt.Sprint(changes) != fmt.Sprint(want) {
		t.Errorf("%q (%v), want %q", changes, err, want)
	}
	// Texts without a reference are removed, and a modified text is not shown.
	texts := func() []os.DirEntry {
		all, err := os.ReadDir(filepath.Join(state, "trusted-texts"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if n := len(texts()); n != 3 {
		t.Errorf("%d texts are kept, want the definition and two files", n)
	}
	for _, e := range texts() {
		write(t, filepath.Join(state, "trusted-texts", e.Name()), "forged")
	}
	if changes, err := store.PartChanges(dir, p); err != nil || strings.Contains(fmt.Sprint(changes), "forged") {
		t.Errorf("%q, %v", changes, err)
	}
	if _, err := store.Forget(dir); err != nil || len(texts()) > 0 {
		t.Errorf("%v, %v", texts(), err)
	}
}

// An older program without support for parts reads the file and the trust in the folder; the file that it writes can be
// read, but the parts are no longer trusted.
func TestTrustOfOlderPrograms(t *testing.T) {
	dir := project(t, "x.sh")
	store := NewTrustStore(t.TempDir())
	p := Part{Kind: "hook", Name: "x", Definition: "sh x.sh", Files: []string{"x.sh"}}
	write(t, store.path, `[{"dir":"`+dir+`","print":"p","at":"2026-01-02T03:04:05Z"}]`)
	if trusted, changed, err := store.Trusted(dir, "p"); !trusted || changed || err != nil || trustOf(t, store, dir, p) != "new" {
		t.Error(trusted, changed, err)
	}
	if err := errors.Join(store.TrustParts(dir, p), store.TrustParts("/other", Part{Kind: "mcp", Name: "s", Definition: "x"})); err != nil {
		t.Fatal(err)
	}
	data, _, err := readRegular(store.path, maxFile)
	if trusted, _, _ := store.Trusted(dir, "p"); !trusted || err != nil || !strings.Contains(string(data), `"print": "p"`) || !strings.HasPrefix(string(data), "[") {
		t.Errorf("the folder is no longer trusted: %s", data)
	}
	if err := store.Trust(dir, "q"); err != nil || trustOf(t, store, dir, p) != "trusted" {
		t.Errorf("trust in the folder ended that in its part (%v)", err)
	}
	// A folder with trusted parts only is neither trusted nor changed itself.
	if trusted, changed, err := store.Trusted("/other", "p"); trusted || changed || err != nil {
		t.Error(trusted, changed, err)
	}
}

func TestPartsAreTrustedByManyAtOnce(t *testing.T) {
	store := NewTrustStore(filepath.Join(t.TempDir(), "state"))
	part := func(i int) Part {
		return Part{Kind: "hook", Name: fmt.Sprint(i), Definition: "sh " + strings.Repeat("x", i)}
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := store.TrustParts("/dir", part(i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range 20 {
		p := part(i)
		if got := trustOf(t, store, "/dir", p); got != "trusted" {
			t.Errorf("%s is %s", p, got)
		}
		p.Definition += "!"
		if changes, err := store.PartChanges("/dir", p); err != nil || len(changes) != 1 || changes[0].Before+"!" != changes[0].After {
			t.Errorf("%q, %v", changes, err)
		}
	}
}

// A file of trusted folders that would be too large to read is not written.
func TestTrustFileStaysReadable(t *testing.T) {
	store := NewTrustStore(t.TempDir())
	var parts []Part
	for i := range 4000 {
		parts = append(parts, Part{Kind: "hook", Name: fmt.Sprintf("%0200d", i), Definition: "x"})
	}
	if err := store.TrustParts("/dir", parts[:200]...); err != nil {
		t.Fatal(err)
	}
	if err := store.TrustParts("/dir", parts...); err == nil || !strings.Contains(err.Error(), "to forget some, run:") {
		t.Errorf("error %v", err)
	}
	if got := trustOf(t, store, "/dir", parts[7]); got != "trusted" {
		t.Errorf("what was trusted before is %s", got)
	}
}

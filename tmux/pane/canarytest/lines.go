//go:build linux

package canarytest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Line is a line of a corpus: a shell command, and the canary that it changes.
type Line struct {
	Canary string
	Needs  []string // required programs and other things
	Text   string
}

// Lines reads a corpus with lines of the form "canary[needs,…]: text". A duplicate fails the test.
func Lines(t *testing.T, corpus string) (all []Line) {
	t.Helper()
	seen := map[string]bool{}
	for l := range strings.Lines(corpus) {
		l = strings.TrimSuffix(l, "\n")
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		head, text, ok := strings.Cut(l, ": ")
		if !ok || seen[text] {
			t.Fatalf("%q: no canary, or twice", l)
		}
		seen[text] = true
		canary, needs, _ := strings.Cut(strings.TrimSuffix(head, "]"), "[")
		all = append(all, Line{canary, strings.FieldsFunc(needs, func(r rune) bool { return r == ',' }), text})
	}
	return all
}

// Maybe reports whether a line may fail to change its canary even without a sandbox.
func (l Line) Maybe() bool { return slices.Contains(l.Needs, "maybe") }

// Has reports whether this machine has everything that a line needs.
func (w *World) Has(l Line) bool {
	return !slices.ContainsFunc(l.Needs, func(n string) bool {
		switch n {
		case "maybe":
			return false
		case "root":
			return os.Getuid() != 0
		case "amd64":
			return runtime.GOARCH != n
		case "xattr":
			return unix.Setxattr(w.Home, "user.probe", nil, 0) != nil
		case "userns":
			return exec.Command("unshare", "-Ur", "true").Run() != nil
		}
		_, err := exec.LookPath(n)
		return err != nil
	})
}

// CopyProgram copies the test's program to a place where every user can start it, and returns its path. The end of the
// test removes its folder.
func CopyProgram(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "canary")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	b, err := os.ReadFile(os.Args[0])
	name := filepath.Join(dir, "test")
	if err := errors.Join(err, os.WriteFile(name, b, 0o755), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	return name
}

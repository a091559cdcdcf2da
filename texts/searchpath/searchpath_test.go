package searchpath

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// world makes folders with a program each, which prints its folder, and links; it returns the folder of all.
func world(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"work/bin", "work/real", "also", "mine", "worker"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "prog"), []byte("#!/bin/sh\necho "+name+" $PATH\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"into": "work/real", "work/out": "../mine", "home": "work"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOutside(t *testing.T) {
	dir := world(t)
	for _, c := range []struct{ path, folders, want string }{
		{"/bin:/usr/bin", "D/work", "/bin:/usr/bin"},
		{":/bin:.:./bin:bin::/usr/bin:", "", "/bin:/usr/bin"},
		{"D/work/bin:D/work:D/mine:D/worker", "D/work", "D/mine:D/worker"},
		{"D/into:D/mine", "D/work", "D/mine"},                                   // a link into the folder
		{"D/work/out:D/mine", "D/work", "D/mine"},                               // a link in it, which it may turn anywhere
		{"D/work/bin:D/home/bin:D/mine", "D/home", "D/mine"},                    // the folder itself is a link
		{"D/work/missing:D/work/../work/bin:D/mine", "D/work D/also", "D/mine"}, // what is not there yet
		{"D/also:D/work/bin", "D/work D/also", system},
		{"", "D/work", system},
	} {
		expand := func(text string) string { return strings.ReplaceAll(text, "D/", dir+"/") }
		if got := Outside(expand(c.path), strings.Fields(expand(c.folders))...); got != expand(c.want) {
			t.Errorf("%s outside of %s: %s, want %s", c.path, c.folders, got, expand(c.want))
		}
	}
}

// Programs in the home folder of a person are theirs, also where they work in all of it.
func TestOutsideOfTheHomeFolder(t *testing.T) {
	dir := world(t)
	t.Setenv("HOME", filepath.Join(dir, "home")) // a link to work
	path := filepath.Join(dir, "work/bin") + ":bin:/usr/bin"
	for folder, want := range map[string]string{
		filepath.Join(dir, "work"):     filepath.Join(dir, "work/bin") + ":/usr/bin",
		dir:                            filepath.Join(dir, "work/bin") + ":/usr/bin",
		filepath.Join(dir, "work/bin"): "/usr/bin",
	} {
		if got := Outside(path, folder); got != want {
			t.Errorf("outside of %s: %s, want %s", folder, got, want)
		}
	}
}

// A program is taken from no folder to avoid, nor from the working directory, and neither is what it starts.
func TestCommandRunsNoProgramOfTheFoldersToAvoid(t *testing.T) {
	dir := world(t)
	t.Chdir(filepath.Join(dir, "work"))
	path := strings.Join([]string{"", "bin", filepath.Join(dir, "also"), filepath.Join(dir, "work/bin"), filepath.Join(dir, "mine"), "/usr/bin", "/bin"}, ":")
	t.Setenv("PATH", path)
	before := avoided.Load()
	t.Cleanup(func() { avoided.Store(before) })
	out, err := exec.Command("sh", "-c", "prog").Output()
	if !strings.HasPrefix(string(out), "work/bin ") {
		t.Fatalf("control: %q, %v", out, err)
	}
	Avoid(filepath.Join(dir, "also"))
	out, err = Command(t.Context(), "prog").Output()
	if want := "mine " + dir + "/mine:/usr/bin:/bin\n"; string(out) != want || err != nil {
		t.Errorf("%q, %v, want %q", out, err, want)
	}
	if err := os.Remove(filepath.Join(dir, "mine/prog")); err != nil {
		t.Fatal(err)
	}
	if err := Command(t.Context(), "prog").Run(); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("none: %v", err)
	}
	if out, err := Command(t.Context(), "./bin/prog").Output(); !strings.HasPrefix(string(out), "work/bin ") {
		t.Errorf("a name with a slash: %q, %v", out, err)
	}
}

// BenchmarkOutside is what the start of each free command pays.
func BenchmarkOutside(b *testing.B) {
	dir := b.TempDir()
	path := strings.Repeat("/usr/local/bin:/usr/bin:/bin:", 5)
	for b.Loop() {
		Outside(path, dir, "/tmp")
	}
}

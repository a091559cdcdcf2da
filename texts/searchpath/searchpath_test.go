package searchpath

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// world creates folders with one program each, which prints its folder, and links; it returns the folder that contains
// them.
func world(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"shop/bin", "shop/real", "also", "mine", "shopper"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "prog"), []byte("#!/bin/sh\necho "+name+" $PATH\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"into": "shop/real", "shop/out": "../mine", "link": "shop"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOutside(t *testing.T) {
	dir := world(t)
	for _, c := range []struct{ path, folders, want string }{
		{"/bin:/usr/bin", "D/shop", "/bin:/usr/bin"},
		{":/bin:.:./bin:bin::/usr/bin:", "", "/bin:/usr/bin"},
		{"D/shop/bin:D/shop:D/mine:D/shopper", "D/shop", "D/mine:D/shopper"},
		{"D/into:D/mine", "D/shop", "D/mine"},                                   // a link into the folder
		{"D/shop/out:D/mine", "D/shop", "D/mine"},                               // a link in it, which may be changed to point anywhere
		{"D/shop/bin:D/link/bin:D/mine", "D/link", "D/mine"},                    // the folder itself is a link
		{"D/shop/missing:D/shop/../shop/bin:D/mine", "D/shop D/also", "D/mine"}, // entries that do not exist yet
		{"D/also:D/shop/bin", "D/shop D/also", system},
		{"", "D/shop", system},
		{"/usr/local/bin:/usr/bin:/bin:D/mine", "/usr", "/usr/bin:/bin:D/mine"},
	} {
		expand := func(text string) string { return strings.ReplaceAll(text, "D/", dir+"/") }
		if got := Outside(expand(c.path), strings.Fields(expand(c.folders))...); got != expand(c.want) {
			t.Errorf("%s outside of %s: %s, want %s", c.path, c.folders, got, expand(c.want))
		}
	}
}

// Programs in the home folder belong to the person, even if the whole home folder is the workspace.
func TestOutsideOfTheHomeFolder(t *testing.T) {
	dir := world(t)
	t.Setenv("HOME", filepath.Join(dir, "link")) // a link to shop
	path := filepath.Join(dir, "shop/bin") + ":bin:/usr/bin"
	for folder, want := range map[string]string{
		filepath.Join(dir, "shop"):     filepath.Join(dir, "shop/bin") + ":/usr/bin",
		dir:                            filepath.Join(dir, "shop/bin") + ":/usr/bin",
		filepath.Join(dir, "shop/bin"): "/usr/bin",
	} {
		if got := Outside(path, folder); got != want {
			t.Errorf("outside of %s: %s, want %s", folder, got, want)
		}
	}
}

// Neither a program nor the programs that it starts come from a folder to avoid or the working directory.
func TestCommandRunsNoProgramOfTheFoldersToAvoid(t *testing.T) {
	dir := world(t)
	t.Chdir(filepath.Join(dir, "shop"))
	path := strings.Join([]string{"", "bin", filepath.Join(dir, "also"), filepath.Join(dir, "shop/bin"), filepath.Join(dir, "mine"), "/usr/bin", "/bin"}, ":")
	t.Setenv("PATH", path)
	before := avoided.Load()
	t.Cleanup(func() { avoided.Store(before) })
	out, err := exec.Command("sh", "-c", "prog").Output()
	if !strings.HasPrefix(string(out), "shop/bin ") {
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
	if out, err := Command(t.Context(), "./bin/prog").Output(); !strings.HasPrefix(string(out), "shop/bin ") {
		t.Errorf("a name with a slash: %q, %v", out, err)
	}
}

// BenchmarkOutside measures the cost at the start of each command that needs no approval.
func BenchmarkOutside(b *testing.B) {
	dir := b.TempDir()
	path := strings.Repeat("/usr/local/bin:/usr/bin:/bin:", 5)
	for b.Loop() {
		Outside(path, dir, "/tmp")
	}
}

package confine

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// On macOS a command reads the folder without its secrets, toolchains and settings, and nothing else of the home
// folder; it writes only its temporary folder.
func TestRulesOfMacOS(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	shop := filepath.Join(home, "shop")
	for _, dir := range []string{"shop/sub", ".ssh", "go/bin"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(shop, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\nname = Ann\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(shop, "sub")
	c := Config{
		Reach: Reach{Read: []string{sub}, Hidden: []string{filepath.Join(sub, ".buddyx")}, Given: []string{filepath.Join(sub, ".buddyx/plan.md")}},
		Env:   []string{"HOME=" + home, "PATH=/usr/bin:" + home + "/go/bin", "GIT_CONFIG_NOSYSTEM=1"}, Temp: "/t",
	}
	r := c.seatbelt(c.gitFiles(), map[string][]string{sub: {filepath.Join(sub, ".env")}})
	for _, want := range []struct {
		of   []string
		path string
		is   bool
	}{
		{r.Read, sub, true},
		{r.Read, shop, false},
		{r.Read, filepath.Join(shop, ".git"), true}, // for git log in a folder of a repository
		{r.Read, filepath.Join(home, ".config/go"), true},
		{r.Read, filepath.Join(home, "Library/Caches/go-build"), true},
		{r.Run, filepath.Join(home, "go/bin"), true},
		{r.Run, sub, false},
		{r.Shown, filepath.Join(home, ".gitconfig"), true},
		{r.Shown, filepath.Join(sub, ".buddyx/plan.md"), true},
		{r.Hidden, filepath.Join(sub, ".env"), true},
		{r.Hidden, filepath.Join(sub, ".buddyx"), true},
		{r.Hidden, "/private/etc/sudoers", true},
	} {
		if slices.Contains(want.of, want.path) != want.is {
			t.Errorf("%q: want %t in %q", want.path, want.is, want.of)
		}
	}
	h, err := r.Hold()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{home, filepath.Join(home, ".ssh"), shop} {
		if h.Reads(path) {
			t.Errorf("it reads %s", path)
		}
	}
	if !h.Reads(sub) || len(r.Write) > 0 || r.Network || r.Proxy > 0 || r.Temp != "/t" || !r.Limited {
		t.Errorf("%+v", r)
	}
}

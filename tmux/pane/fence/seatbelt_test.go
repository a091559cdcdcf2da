package fence

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"buddy/tmux/pane/gitfiles"
)

// tree creates files, and folders for names with a final slash, and returns a real path.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// On macOS commands write the workspace, the folders of `write` and caches, except paths from which git would run
// programs; they read the user's git files and no hidden paths.
func TestRulesOfMacOS(t *testing.T) {
	dir := tree(t, map[string]string{"shop/.git/config": "", "data/x": "", "home/.gitconfig": "[core]\nhooksPath = ~/hooks\n", "home/hooks/pre-commit": ""})
	shop, home := filepath.Join(dir, "shop"), filepath.Join(dir, "home")
	c := Config{
		Settings: Settings{Work: []string{shop}, Write: []string{filepath.Join(dir, "data")}, Hide: []string{shop + "/keys"}, Cache: dir + "/cache"},
		Env:      []string{"HOME=" + home, "PATH=/usr/bin", "GIT_CONFIG_NOSYSTEM=1"}, Temp: dir + "/tmp", Show: []string{"/s"}, Keep: []string{"/k"},
	}
	r := c.seatbelt(c.gitFiles(), append([]string{dir + "/around/.env"}, c.Hide...))
	if want := []string{shop, dir + "/data", dir + "/tmp", dir + "/cache"}; !slices.Equal(r.Write, want) {
		t.Errorf("it writes %q, want %q", r.Write, want)
	}
	for what, of := range map[string][]string{
		shop + "/.git/hooks": r.Fixed, shop + "/.git/config": r.Fixed, home + "/.gitconfig": r.Read, home + "/hooks": r.Run,
		shop + "/keys": r.Hidden, dir + "/around/.env": r.Hidden, "/private/etc/sudoers": r.Hidden, "/s": r.Shown, "/k": r.Kept,
	} {
		if !slices.Contains(of, what) {
			t.Errorf("%q is not in %q", what, of)
		}
	}
	h, err := r.Hold()
	if err != nil {
		t.Fatal(err)
	}
	if h.Reads(home) || !h.Reads(shop) || r.Network || r.Proxy > 0 || r.Limited {
		t.Errorf("%+v", r)
	}
	if c.Network = true; !c.seatbelt(gitfiles.Files{}, nil).Network {
		t.Error("there is no network although the settings allow it")
	}
}

// In a folder of a repository the rest of it is readable; a linked work tree can commit to its repository, but change
// no settings there.
func TestRepositoriesElsewhereOnMacOS(t *testing.T) {
	dir := tree(t, map[string]string{
		"whole/.git/config": "", "whole/part/x": "",
		"main/.git/config": "", "main/.git/worktrees/linked/commondir": "../..\n",
	})
	admin := dir + "/main/.git/worktrees/linked"
	for name, text := range map[string]string{dir + "/linked/.git": "gitdir: " + admin + "\n", admin + "/gitdir": dir + "/linked/.git\n"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rules := func(work string) (read, write, fixed []string) {
		r := Config{Settings: Settings{Work: []string{work}}, Env: []string{"HOME=" + dir + "/home"}, Temp: "/t"}.seatbelt(gitfiles.Files{}, nil)
		return r.Read, r.Write, r.Fixed
	}
	read, write, fixed := rules(dir + "/whole/part")
	if !slices.Contains(read, dir+"/whole") || !slices.Equal(write, []string{dir + "/whole/part", "/t"}) || len(fixed) > 0 {
		t.Errorf("part: %q, %q, %q", read, write, fixed)
	}
	git := dir + "/main/.git"
	read, write, fixed = rules(dir + "/linked")
	if !slices.Contains(read, git) || !slices.Equal(write, []string{dir + "/linked", "/t", git + "/objects", git + "/refs", git + "/logs", admin}) ||
		!slices.Equal(fixed, []string{admin + "/config.worktree", admin + "/commondir", admin + "/gitdir"}) {
		t.Errorf("linked: %q, %q, %q", read, write, fixed)
	}
}

//go:build linux && (amd64 || arm64)

package confine

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPersonsGitInTheBox: git reads the user's settings in the read-only sandbox as outside, in whatever files they
// are; files named by a repository or in the workspace stay closed.
func TestPersonsGitInTheBox(t *testing.T) {
	if err := Possible(); err != nil {
		t.Skip(err)
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	home := t.TempDir()
	work := filepath.Join(home, "src/shop")
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	write("src/shop/a", "a\n")
	write("src/shop/.env", "found it\n")
	write("private", "found it\n")
	write(".ssh/id_rsa", "found it\n")
	write(".config/git/credentials", "found it\n")
	init := exec.Command("git", "init", "-q", ".")
	init.Dir, init.Env = work, env
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	inside := func(line string) string {
		t.Helper()
		box, err := New(Config{Reach: Reach{Read: []string{work}}, Env: env, Temp: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer box.Close()
		return runInBox(t, box, work, "export GIT_OPTIONAL_LOCKS=0 "+env[0]+" "+env[2]+"; "+line)
	}
	const line = "git status --short; git check-ignore x.swp; git check-attr diff a; git config user.email; git st"
	for what, prepare := range map[string]func(){
		"included": func() {
			write(".gitconfig", "[include]\n\tpath = ~/local\n[includeIf \"gitdir:~/src/\"]\n\tpath = ~/work.inc\n")
		},
		"a link": func() {
			write("dotfiles/gitconfig", "[include]\n\tpath = ~/local\n\tpath = ~/work.inc\n")
			if err := errors.Join(os.Remove(filepath.Join(home, ".gitconfig")), os.Symlink("dotfiles/gitconfig", filepath.Join(home, ".gitconfig"))); err != nil {
				t.Fatal(err)
			}
		},
	} {
		write("local", "[core]\n\texcludesFile = ~/.gitignore_global\n\tattributesFile = ~/attributes\n[alias]\n\tst = status --short\n")
		write("work.inc", "[user]\n\temail = ann@work.example\n")
		write(".gitignore_global", "*.swp\n")
		write("attributes", "a diff=special\n")
		write(".gitconfig", "")
		prepare()
		if got := inside(line); got != "?? .env\n?? a\nx.swp\na: diff: special\nann@work.example\n?? .env\n?? a\n" {
			t.Errorf("%s: %s", what, got)
		}
	}

	_ = os.Remove(filepath.Join(home, ".gitconfig"))
	for what, c := range map[string]struct {
		config, path string
		open         bool
	}{
		"the person's setting, the control": {"[core]\n\texcludesFile = ~/private", "~/private", true},
		"a key":                             {"[core]\n\texcludesFile = ~/.ssh/id_rsa", "~/.ssh/id_rsa", false},
		"credentials of git":                {"", "~/.config/git/credentials", false},
		"a secret of the workspace":         {"[core]\n\texcludesFile = ~/src/shop/.env", ".env", false},
		"what the workspace names":          {"[include]\n\tpath = ~/src/shop/shared", "~/private", false},
		"what the repository names":         {"", "~/private", false},
	} {
		write(".gitconfig", c.config)
		write("src/shop/shared", "[core]\n\texcludesFile = ~/private\n")
		write("src/shop/.git/config", "[core]\n\tattributesFile = ~/private\n")
		if got := inside("cat " + c.path); strings.Contains(got, "found it") != c.open {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// TestNewSettingMakesABoxStale: if git reads another file, the box is stale.
func TestNewSettingMakesABoxStale(t *testing.T) {
	home := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("private", "")
	box, err := New(Config{Reach: Reach{Read: []string{t.TempDir()}}, Env: []string{"HOME=" + home}, Temp: t.TempDir()})
	if err != nil {
		t.Skip(err)
	}
	defer box.Close()
	if box.Stale() {
		t.Error("stale at once")
	}
	if write(".gitconfig", "[core]\n\texcludesFile = ~/private\n"); !box.Stale() {
		t.Error("the box does not know of a setting")
	}
}

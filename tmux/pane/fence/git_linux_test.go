//go:build linux && (amd64 || arm64)

package fence

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gitHome is a home folder with a typical set-up of git.
type gitHome struct {
	t    *testing.T
	home string
}

// newGitHome makes it the home folder of this process.
func newGitHome(t *testing.T) *gitHome {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	h := &gitHome{t, t.TempDir()}
	t.Setenv("HOME", h.home)
	for _, name := range []string{"XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_COUNT"} {
		t.Setenv(name, "")
		_ = os.Unsetenv(name)
	}
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	return h
}

// write makes a file of the home folder and returns its path.
func (h *gitHome) write(name, text string) string {
	h.t.Helper()
	path := filepath.Join(h.home, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// dir makes a folder to work in.
func (h *gitHome) dir(name string) string {
	h.t.Helper()
	path := filepath.Join(h.home, name)
	if err := os.MkdirAll(path, 0o700); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// outside runs a script without a sandbox.
func (h *gitHome) outside(dir, script string) string {
	h.t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("outside: %v\n%s", err, out)
	}
	return string(out)
}

// TestPersonsGitInTheFence: a commit has the same author, ignores, attributes, template and hooks as outside, whichever
// files of the user's settings define them.
func TestPersonsGitInTheFence(t *testing.T) {
	h := newGitHome(t)
	h.write("dotfiles/gitconfig", "[user]\n\tname = Ann\n\temail = ann@example.org\n[include]\n\tpath = ~/.gitconfig.local\n[includeIf \"gitdir:~/src/\"]\n\tpath = ~/job/gitconfig\n[init]\n\tdefaultBranch = main\n")
	if err := os.Symlink("dotfiles/gitconfig", filepath.Join(h.home, ".gitconfig")); err != nil {
		t.Fatal(err)
	}
	h.write(".gitconfig.local", "[core]\n\texcludesFile = ~/.gitignore_global\n\tattributesFile = ~/attributes\n\thooksPath = ~/hooks\n[commit]\n\ttemplate = ~/message\n")
	h.write("job/gitconfig", "[user]\n\temail = ann@work.example\n")
	h.write(".gitignore_global", "*.swp\n")
	h.write("attributes", "b diff=special\n")
	h.write("message", "From the template\n")
	h.write("hooks/pre-commit", "#!/bin/sh\necho hook ran >>.git/ran\n")
	h.write("dotfiles/commit-msg", "#!/bin/sh\necho message >>.git/ran\n")
	if err := os.Symlink("../dotfiles/commit-msg", filepath.Join(h.home, "hooks/commit-msg")); err != nil {
		t.Fatal(err)
	}
	const script = `git init -q . && echo K >notes.swp && echo b >b && git add -A && git commit -qm one && git log -1 --format='%an %ae' && git show --name-only --format= && git check-attr diff b &&
GIT_EDITOR='printf "two\n" >>' git commit -q --allow-empty && git log -1 --format=%B && cat .git/ran && git status --short`
	want := h.outside(h.dir("src/outside"), script)
	for _, part := range []string{"Ann ann@work.example\nb\n", "diff: special", "From the template\n\ntwo", "hook ran\nmessage\nhook ran\nmessage\n"} {
		if !strings.Contains(want, part) {
			t.Fatalf("the settings have no effect outside: %q lacks %q", want, part)
		}
	}
	work := h.dir("src/inside")
	f := newFence(t, Settings{Work: []string{work}})
	if got, err := run(t, f, work, script); err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	if out, err := run(t, f, work, "echo x >~/.gitconfig.local; echo x >>~/hooks/pre-commit; echo x >~/dotfiles/gitconfig; cat ~/.config/git/credentials"); err == nil {
		t.Errorf("%s", out)
	}
	if b, err := os.ReadFile(filepath.Join(h.home, ".gitconfig.local")); err != nil || !strings.HasPrefix(string(b), "[core]") {
		t.Errorf("the settings were changed: %q, %v", b, err)
	}
}

// TestGitOpensNothingForTheModel: a command in the fence that sets variables, or writes to settings in the workspace,
// makes no file of the home folder readable; the user's own setting, the control, does.
func TestGitOpensNothingForTheModel(t *testing.T) {
	h := newGitHome(t)
	private := h.write("private", "found it\n")
	h.write(".ssh/id_rsa", "found it\n")
	work := h.dir("src/shop")
	s := Settings{Work: []string{work}}
	reads := func(prepare, path string) bool {
		t.Helper()
		if out, err := run(t, newFence(t, s), work, prepare); err != nil {
			t.Fatalf("%s: %v: %s", prepare, err, out)
		}
		out, _ := run(t, newFence(t, s), work, "cat "+path)
		return strings.Contains(out, "found it")
	}
	h.outside(work, "git init -q .")
	for _, set := range []string{"core.excludesFile", "core.attributesFile", "commit.template", "include.path"} {
		for _, path := range []string{private, "~/.ssh/id_rsa"} {
			if reads("git config "+set+" "+path, path) {
				t.Errorf("%s of the repository opens %s", set, path)
			}
		}
	}
	h.write(".gitconfig", "[include]\n\tpath = "+work+"/shared\n")
	if reads("git config --file shared core.excludesFile "+private, private) {
		t.Error("a file of the workspace that the person's settings include opens a file")
	}
	h.outside(work, "rm shared; ln -s "+private+" shared")
	if reads(":", private) {
		t.Error("a link of the workspace that the person's settings include opens a file")
	}
	h.write(".gitconfig", "[core]\n\texcludesFile = ~/.ssh/id_rsa\n")
	if reads(":", "~/.ssh/id_rsa") {
		t.Error("a key is open")
	}
	h.write(".gitconfig", "[core]\n\texcludesFile = "+private+"\n")
	if !reads(":", private) {
		t.Error("the person's own setting opens nothing")
	}
}

// TestGitThatWouldDifferIsRefused: if a file that git would read stays closed, git fails with the reason and commits
// nothing; without the setting it works.
func TestGitThatWouldDifferIsRefused(t *testing.T) {
	h := newGitHome(t)
	settings := "[user]\n\tname = Ann\n\temail = ann@example.org\n"
	h.write(".secret-ignore", "*.swp\n")
	config := h.write(".gitconfig", settings+"[core]\n\texcludesFile = ~/.secret-ignore\n")
	work := h.dir("src/shop")
	h.outside(work, "git init -q . && git commit -qm one --allow-empty")
	f := newFence(t, Settings{Work: []string{work}})
	out, err := run(t, f, work, "git commit -qm two --allow-empty")
	if err == nil || !strings.Contains(out, "git runs only outside the sandbox: "+config+" names "+h.home+"/.secret-ignore, which stays closed in the sandbox") {
		t.Errorf("%v: %s", err, out)
	}
	if f.Stale() {
		t.Error("stale at once")
	}
	h.write(".gitconfig", settings)
	if !f.Stale() {
		t.Error("the fence does not know that the settings changed")
	}
	if f, err = f.Renew(f.config); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if out, err := run(t, f, work, "git commit -qm two --allow-empty && git log --format=%s"); err != nil || out != "two\none\n" {
		t.Errorf("%v: %s", err, out)
	}
}

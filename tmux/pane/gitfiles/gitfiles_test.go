package gitfiles

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// place is a home folder and a workspace folder.
type place struct {
	t          *testing.T
	home, work string
	search     Search
}

func newPlace(t *testing.T) *place {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, home: home, work: filepath.Join(home, "src/shop")}
	p.search = Search{Env: []string{"HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"}, Work: []string{p.work}}
	p.write("src/shop/.git/config", "[core]\n\tbare = false\n")
	return p
}

// write creates a file in the home folder; ~ in its text is the home folder.
func (p *place) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.home, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
		p.t.Fatal(err)
	}
}

// link makes a link in the home folder.
func (p *place) link(name, to string) {
	p.t.Helper()
	path := filepath.Join(p.home, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(to, path)); err != nil {
		p.t.Fatal(err)
	}
}

// short returns paths without the home folder.
func (p *place) short(all []string) (out []string) {
	for _, path := range all {
		rel, _ := filepath.Rel(p.home, path)
		out = append(out, rel)
	}
	slices.Sort(out)
	return out
}

// want checks the found files; read holds names in the home folder.
func (p *place) want(what, refused string, read ...string) {
	p.t.Helper()
	got := p.search.Find()
	slices.Sort(read)
	if all := p.short(got.Read); !slices.Equal(all, read) {
		p.t.Errorf("%s: reads %q, want %q", what, all, read)
	}
	if refused == "" && got.Refused != "" || !strings.Contains(got.Refused, refused) {
		p.t.Errorf("%s: refused %q, want %q", what, got.Refused, refused)
	}
}

// TestPersonsFiles: files named by the user's configuration are found, whichever way they are named.
func TestPersonsFiles(t *testing.T) {
	p := newPlace(t)
	p.want("nothing", "")
	p.write(".gitconfig", "[include]\n\tpath = .gitconfig.local\n\tpath = ~/missing\n[core] excludesFile = ~/.gitignore_global\n[commit]\n\ttemplate = "+p.home+"/.gitmessage\n[core]\n\thooksPath = .husky\n")
	p.write(".gitconfig.local", "[core]\n\tattributesFile = ~/attributes\n[include]\n\tpath = ~/.gitconfig\n")
	for _, name := range []string{".gitignore_global", ".gitmessage", "attributes", ".config/git/ignore", ".config/git/attributes", ".config/git/config", ".config/git/credentials"} {
		p.write(name, "")
	}
	p.want("all", "", ".gitconfig", ".gitconfig.local", ".gitignore_global", ".gitmessage", "attributes", ".config/git/ignore", ".config/git/attributes", ".config/git/config")

	p.write("other/git/config", "[core]\n\texcludesFile = ~/.gitmessage\n")
	p.search.Env = append(p.search.Env, "XDG_CONFIG_HOME="+p.home+"/other")
	p.want("another folder of settings", "", ".gitconfig", ".gitconfig.local", ".gitignore_global", ".gitmessage", "attributes", "other/git/config")
	p.search.Env = append(p.search.Env, "GIT_CONFIG_GLOBAL="+p.home+"/.gitconfig.local")
	p.want("another configuration", "", ".gitconfig", ".gitconfig.local", ".gitignore_global", ".gitmessage", "attributes")
	p.write("system", "[core]\n\texcludesFile = ~/system-ignore\n")
	p.write("system-ignore", "")
	p.search.Env = []string{"HOME=" + p.home, "GIT_CONFIG_SYSTEM=" + p.home + "/system", "GIT_CONFIG_GLOBAL=" + os.DevNull}
	p.want("the system's", "", "system", "system-ignore", ".config/git/ignore", ".config/git/attributes")
}

// TestConditionsOfIncludes: an include counts if its condition may hold for a repository of the session.
func TestConditionsOfIncludes(t *testing.T) {
	for condition, counts := range map[string]bool{
		"gitdir:~/src/": true, "gitdir:~/src/shop/": true, "gitdir:~/src/shop/.git": true, "gitdir:~/src/shop/sub/": true, "gitdir:~/s*/": true, "gitdir:src/": true, "gitdir:./src/": true,
		"gitdir:~/linked/": true, "gitdir/i:~/SRC/": true, "onbranch:main": true, "hasconfig:remote.*.url:https://x/**": true, "gitdir:~/trees/": true,
		"gitdir:~/other/": false, "gitdir:~/src/other/": false, "gitdir:~/SRC/": false, "gitdir/i:~/OTHER/": false, "gitdir:~/src/shop2/": false, "gitdir:./other/*": false,
	} {
		p := newPlace(t)
		p.link("linked", "src")
		p.search.Git = []string{p.home + "/trees/main/.git"}
		p.write(".gitconfig", "[includeIf \""+condition+"\"]\n\tpath = ~/.gitconfig-work\n")
		p.write(".gitconfig-work", "")
		if counts {
			p.want(condition, "", ".gitconfig", ".gitconfig-work")
		} else {
			p.want(condition, "", ".gitconfig")
		}
	}
}

// TestLinksOfFiles: dotfiles are links into a separate folder.
func TestLinksOfFiles(t *testing.T) {
	p := newPlace(t)
	p.link(".gitconfig", "dotfiles/gitconfig")
	p.link("dotfiles/gitconfig", "real/config")
	p.write("dotfiles/real/config", "[core]\n\texcludesFile = ~/.ignore\n[include]\n\tpath = local\n")
	p.link(".ignore", "dotfiles/ignore")
	p.write("dotfiles/ignore", "")
	p.write("local", "")
	p.want("links", "", ".gitconfig", ".ignore", "local")
	p.link("loop", "loop")
	p.write("dotfiles/real/config", "[core]\n\texcludesFile = ~/loop\n\tattributesFile = ~/dotfiles\n[include]\n\tpath = /dev/stdin\n")
	p.want("a loop, a folder and a device", "", ".gitconfig")
}

// TestHooks: a folder of hooks is found with the targets of its links; its secrets stay closed.
func TestHooks(t *testing.T) {
	p := newPlace(t)
	p.write(".gitconfig", "[core]\n\thooksPath = ~/hooks\n")
	p.write("hooks/pre-commit", "")
	p.write("hooks/lib/.env", "")
	p.write("dotfiles/commit-msg", "")
	p.link("hooks/commit-msg", "../dotfiles/commit-msg")
	p.want("hooks", "", ".gitconfig", "hooks/commit-msg")
	if f := p.search.Find(); !slices.Equal(p.short(f.Hooks), []string{"hooks"}) || !slices.Equal(p.short(f.Hide), []string{"hooks/lib/.env"}) {
		t.Errorf("%+v", f)
	}
	for _, dir := range []string{"~", "~/src", "/"} {
		p.write(".gitconfig", "[core]\n\thooksPath = "+dir+"\n")
		p.want(dir, "it contains more than hooks", ".gitconfig")
		if f := p.search.Find(); len(f.Hooks) > 0 {
			t.Errorf("%s: %+v", dir, f)
		}
	}
}

// TestNothingOpensSecrets: hidden files and files with secret names stay closed, whoever names them and through any
// link; the file next to them is the control.
func TestNothingOpensSecrets(t *testing.T) {
	for what, c := range map[string]struct{ config, refused string }{
		"control":                {"[core]\n\texcludesFile = ~/plain", ""},
		"a key":                  {"[core]\n\texcludesFile = ~/.ssh/id_rsa", `the name ".ssh" suggests secrets`},
		"a key, included":        {"[include]\n\tpath = ~/.ssh/id_rsa", `the name ".ssh" suggests secrets`},
		"credentials":            {"[core]\n\tattributesFile = ~/.git-credentials", `the name ".git-credentials" suggests secrets`},
		"a link to a key":        {"[core]\n\texcludesFile = ~/alias", `the name ".ssh" suggests secrets`},
		"a link named as secret": {"[core]\n\texcludesFile = ~/.netrc", `the name ".netrc" suggests secrets`},
		"an own file":            {"[commit]\n\ttemplate = ~/own/file", "it is hidden"},
		"a link to an own file":  {"[commit]\n\ttemplate = ~/to-own", "it is hidden"},
		"a folder of secrets":    {"[core]\n\thooksPath = ~/.ssh", `the name ".ssh" suggests secrets`},
	} {
		p := newPlace(t)
		p.write("plain", "")
		p.write(".ssh/id_rsa", "")
		p.write(".git-credentials", "")
		p.write("own/file", "")
		p.link("alias", ".ssh/id_rsa")
		p.link(".netrc", "plain")
		p.link("to-own", "own/file")
		p.search.Own = []string{p.home + "/own"}
		p.write(".gitconfig", c.config)
		if c.refused == "" {
			p.want(what, "", ".gitconfig", "plain")
		} else {
			p.want(what, c.refused, ".gitconfig")
		}
	}
}

// TestRepositoryOpensNothing: a configuration that a model may have written opens no file outside of the workspace,
// whether git reads it as the repository's or the user's includes it.
func TestRepositoryOpensNothing(t *testing.T) {
	const names = "[core]\n\texcludesFile = ~/private\n[include]\n\tpath = ~/more\n"
	inWork := "the configuration that names it is in a workspace folder"
	for what, c := range map[string]struct {
		prepare func(p *place)
		refused string
		opens   []string
	}{
		"control": {func(p *place) { p.write("local", names) }, "", []string{".gitconfig", "local", "private", "more"}},
		"the repository's": {func(p *place) {
			p.write("src/shop/.git/config", names)
			p.write("local", "")
		}, "", []string{".gitconfig", "local"}},
		"a link to a file that is worked in": {func(p *place) {
			p.write("src/shop/local", names)
			p.link("local", "src/shop/local")
		}, inWork, []string{".gitconfig"}},
		"a folder that leads there": {func(p *place) {
			p.write("src/shop/dir/config", names)
			p.link("dir", "src/shop/dir")
			p.link("local", "dir/config")
		}, inWork, []string{".gitconfig"}},
		"a link in a workspace folder": {func(p *place) {
			p.write("elsewhere", names)
			p.link("src/shop/link", "../../elsewhere")
			p.link("local", "src/shop/link")
		}, "a link in a workspace folder leads to it", []string{".gitconfig"}},
		"a folder that is a link in it": {func(p *place) {
			p.write("elsewhere/config", names)
			p.link("src/shop/link", "../../elsewhere")
			p.link("local", "src/shop/link/config")
		}, "a link in a workspace folder leads to it", []string{".gitconfig"}},
		"what the person names, too": {func(p *place) {
			p.write("src/shop/local", names)
			p.link("local", "src/shop/local")
			p.write(".config/git/config", names)
		}, "", []string{".gitconfig", ".config/git/config", "private", "more"}},
		"what is worked in": {func(p *place) {
			p.write("src/shop/local", "[core]\n\texcludesFile = ~/src/shop/private\n\tattributesFile = ~/to-shop\n")
			p.write("src/shop/private", "")
			p.link("to-shop", "src/shop/private")
			p.link("local", "src/shop/local")
		}, "", []string{".gitconfig"}},
	} {
		p := newPlace(t)
		p.write(".gitconfig", "[include]\n\tpath = ~/local\n")
		p.write("private", "")
		p.write("more", "")
		c.prepare(p)
		p.want(what, c.refused, c.opens...)
	}
}

// TestIncludesEnd: a configuration that includes itself in many ways is read once.
func TestIncludesEnd(t *testing.T) {
	p := newPlace(t)
	p.write("src/shop/a", strings.Repeat("[include]\n\tpath = a\n\tpath = b\n\tpath = ~/src/shop/a\n", 100))
	p.write("src/shop/b", strings.Repeat("[include]\n\tpath = a\n\tpath = ./b\n", 100))
	p.link(".gitconfig", "src/shop/a")
	if f := p.search.Find(); !slices.Equal(p.short(f.Worked), []string{".gitconfig", "src/shop/a", "src/shop/b"}) {
		t.Errorf("%+v", f)
	}
}

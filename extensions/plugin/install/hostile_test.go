package install

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/extensions/plugin"
)

// planted makes a repository with a plugin and one more entry, which git would not add to an index: line returns it in
// the form of git ls-tree from the id of a file with a text.
func planted(t *testing.T, text string, line func(from, id string) string) string {
	t.Helper()
	from := origin(t, map[string]string{plugin.Manifest: manifest})
	entry := line(from, git(t, from, text, "hash-object", "-w", "--stdin"))
	root := git(t, from, git(t, from, "", "ls-tree", "HEAD")+"\n"+entry+"\n", "mktree")
	git(t, from, "", "update-ref", "HEAD", git(t, from, "", "commit-tree", "-m", "x", root))
	return from
}

// TestHostileRepositories: what must not be written is refused with its reason, and nothing is left behind.
func TestHostileRepositories(t *testing.T) {
	dir := home(t)
	named := func(name string) string {
		return planted(t, "x", func(_, id string) string { return "100644 blob " + id + "\t" + name })
	}
	inFolder := func(folder string) string {
		return planted(t, "x", func(from, id string) string {
			return "040000 tree " + git(t, from, "100644 blob "+id+"\tconfig\n", "mktree") + "\t" + folder
		})
	}
	bomb := planted(t, "x", func(from, id string) string {
		line := "100644 blob " + id
		for range 9 { // 10^9 files
			var lines strings.Builder
			for n := range 10 {
				fmt.Fprintf(&lines, "%s\t%s%d\n", line, strings.Repeat("n", 40), n)
			}
			line = "040000 tree " + git(t, from, lines.String(), "mktree")
		}
		return line + "\tbomb"
	})
	longLink := planted(t, strings.Repeat("x/", 4000), func(_, id string) string { return "120000 blob " + id + "\tout" })
	many := map[string]string{plugin.Manifest: manifest}
	for n := range plugin.MaxFiles {
		many[fmt.Sprintf("f/%d", n)] = ""
	}
	for name, c := range map[string]struct{ from, why string }{
		"a link to an absolute path":   {origin(t, map[string]string{plugin.Manifest: manifest, "out": "->/etc/passwd"}), `link "out" leads out`},
		"a link to a parent":           {origin(t, map[string]string{plugin.Manifest: manifest, "out": "->../../x"}), `link "out" leads out`},
		"a link that dangles":          {origin(t, map[string]string{plugin.Manifest: manifest, "out": "->none"}), "no such file"},
		"a link over a link":           {origin(t, map[string]string{plugin.Manifest: manifest, "deep/er/x": "x", "deep/er/a": "->../..", "out": "->deep/er/a/../../repository"}), "leads out"},
		"a very long link":             {longLink, "very long target"},
		"a folder of git":              {inFolder(".git"), "folder of git"},
		"a folder of git in capitals":  {inFolder(".GiT"), "folder of git"},
		"a parent folder":              {inFolder(".."), "leads out"},
		"an escape sequence in a name": {named("a\x1b]0;owned\a"), "control characters"},
		"a name that runs backwards":   {named("a\u202egnp.md"), "control characters"},
		"a huge file":                  {origin(t, map[string]string{plugin.Manifest: manifest, "big": strings.Repeat("x", plugin.MaxBytes+1)}), "more than 20 MB"},
		"too many files":               {origin(t, many), "has 2001 files"},
		"a tree of a thousand million": {bomb, "more than 2000 files"},
		"neither manifest nor index":   {origin(t, map[string]string{"README.md": "x"}), "is not a plugin"},
		"a manifest that is a link":    {origin(t, map[string]string{".claude-plugin/x": manifest, plugin.Manifest: "->x"}), "not a regular file"},
		"a name that is a path":        {origin(t, map[string]string{plugin.Manifest: `{"name":"../x"}`}), "may contain only"},
		"a hidden name":                {origin(t, map[string]string{plugin.Manifest: `{"name":".lock"}`}), "may contain only"},
		"no repository":                {dir, "git fetch"},
	} {
		t.Run(name, func(t *testing.T) {
			s := Store{t.TempDir()}
			r, err := s.Add(t.Context(), Source{c.from, ""}, "")
			if err == nil || !strings.Contains(err.Error(), c.why) || strings.ContainsAny(err.Error(), "\x1b\a\u202e") {
				t.Errorf("%+v, %v; want %q", r.Name, err, c.why)
			}
			if names, _ := s.Names(); len(names) > 0 || len(leftovers(t, s)) > 0 {
				t.Error(names, leftovers(t, s))
			}
		})
	}
}

// TestHugeRepository: a fetch ends at the limit, whatever the plugin's own files need.
func TestHugeRepository(t *testing.T) {
	home(t)
	noise := make([]byte, 1<<20)
	_, _ = rand.Read(noise)
	from := origin(t, map[string]string{"plugin/" + plugin.Manifest: manifest, "noise": string(noise), indexFile: `{"plugins":[{"name":"tidy","source":"./plugin"}]}`})
	add(t, Store{t.TempDir()}, Source{from, ""}, "tidy")
	before := maxPack
	defer func() { maxPack = before }()
	maxPack = 1 << 19
	s := Store{t.TempDir()}
	if _, err := s.Add(t.Context(), Source{from, ""}, "tidy"); err == nil || !strings.Contains(err.Error(), "the repository has more than 524 KB") || len(leftovers(t, s)) > 0 {
		t.Error(err, leftovers(t, s))
	}
}

// TestNothingRuns: filters, hooks, templates and file watchers, even the person's own, don't run on files of a plugin;
// files are stored byte for byte.
func TestNothingRuns(t *testing.T) {
	dir := home(t)
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("0", 64) + "\nsize 5\n"
	lib := origin(t, map[string]string{"x": "x"})
	from := origin(t, map[string]string{
		plugin.Manifest: manifest, ".gitattributes": "* filter=evil text eol=crlf ident\n*.bin filter=lfs\nsecret export-ignore\n", "a.bin": pointer, "lines": "a\nb\n",
		"ident": "$Id$\n", "secret": "x", ".gitmodules": "[submodule \"lib\"]\n\tpath = lib\n\turl = " + lib + "\n\tupdate = !touch " + dir + "/ran\n",
		"real/f": "x", "link": "->real/f",
	})
	git(t, from, "", "update-index", "--add", "--cacheinfo", "160000,"+git(t, lib, "", "rev-parse", "HEAD")+",lib")
	git(t, from, "", "update-index", "--chmod=+x", "lines")
	git(t, from, "", "commit", "-qm", "submodule")
	ran := filepath.Join(dir, "ran")
	hook := "#!/bin/sh\ntouch " + ran + "\n"
	for _, name := range []string{"post-checkout", "reference-transaction", "post-merge", "fsmonitor"} {
		for _, folder := range []string{"hooks", "template/hooks"} {
			write(t, dir, folder+"/"+name, hook)
			if err := os.Chmod(filepath.Join(dir, folder, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(t, dir, ".gitconfig", read(t, filepath.Join(dir, ".gitconfig"))+fmt.Sprintf(
		"[init]\ntemplateDir = %[1]s/template\n[core]\nhooksPath = %[1]s/hooks\nfsmonitor = %[1]s/hooks/fsmonitor\nautocrlf = true\n[submodule]\nrecurse = true\n", dir)+
		fmt.Sprintf("[filter \"evil\"]\nsmudge = touch %[1]s; cat\n[filter \"lfs\"]\nsmudge = touch %[1]s; cat\nrequired = true\n", ran))
	git(t, dir, "", "clone", "-q", from, "control")
	if err := os.Remove(ran); err != nil {
		t.Fatal("a clone by git itself runs nothing, so this test shows nothing: ", err)
	}
	s := Store{t.TempDir()}
	r := add(t, s, Source{from, ""}, "")
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program ran")
	}
	for name, want := range map[string]string{"a.bin": pointer, "lines": "a\nb\n", "ident": "$Id$\n", "secret": "x", "link": "x"} {
		if got := read(t, filepath.Join(s.Files("tidy"), name)); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	info, err := os.Stat(filepath.Join(s.Files("tidy"), "lines"))
	if err != nil || info.Mode()&0o100 == 0 {
		t.Error("not executable", err)
	}
	if _, err := os.Stat(filepath.Join(s.Files("tidy"), "lib")); err == nil || len(r.Submodules) != 1 || r.Submodules[0] != "lib" {
		t.Error("the submodule", r.Submodules)
	}
}

package install

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"buddy/extensions/plugin"
)

const manifest = `{"name":"tidy","version":"1.0"}`

// home gives the test a home folder of its own, so that no settings of git are read.
func home(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, ".config"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	write(t, dir, ".gitconfig", "[user]\nname = ann\nemail = ann@example.com\n[init]\ndefaultBranch = main\n")
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	at := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir, c.Stdin = dir, strings.NewReader(stdin)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// origin makes a repository with files.
func origin(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "", "init", "-q")
	commit(t, dir, files)
	return dir
}

// commit adds files to a repository and returns the commit.
func commit(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		if target, link := strings.CutPrefix(text, "->"); link {
			at := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(target, at)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		write(t, dir, name, text)
	}
	git(t, dir, "", "add", "-A")
	git(t, dir, "", "commit", "-q", "--no-verify", "-m", "change")
	return git(t, dir, "", "rev-parse", "HEAD")
}

func add(t *testing.T, s Store, from Source, entry string) Record {
	t.Helper()
	r, err := s.Add(t.Context(), from, entry)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// leftovers returns the names in the store that belong to no plugin.
func leftovers(t *testing.T, s Store) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") && e.Name() != ".lock" {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestParseSource(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a@b")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	hash := strings.Repeat("0a", 20)
	for text, want := range map[string]Source{
		"https://h.example/x.git":               {"https://h.example/x.git", ""},
		"https://ann@h.example/x.git@v1":        {"https://ann@h.example/x.git", "v1"},
		"https://h.example/x.git@feature/a":     {"https://h.example/x.git", "feature/a"},
		"https://h.example/x.git#v1":            {"https://h.example/x.git", "v1"},
		"https://h.example/x@@scope/pkg@1":      {"https://h.example/x", "@scope/pkg@1"},
		"ssh://git@h.example:2222/x@" + hash:    {"ssh://git@h.example:2222/x", hash},
		"git@h.example:team/x.git":              {"git@h.example:team/x.git", ""},
		"git@h.example:team/x.git@v1":           {"git@h.example:team/x.git", "v1"},
		"anthropics/claude-plugins-official":    {"https://github.com/anthropics/claude-plugins-official", ""},
		"owner/repo.js@main":                    {"https://github.com/owner/repo.js", "main"},
		folder:                                  {folder, ""},
		folder + "@v1":                          {filepath.Dir(folder) + "/a", "b@v1"}, // only an existing folder may have an @
		"/srv/x.git@v1":                         {"/srv/x.git", "v1"},
		"https://h.example/x.git@release-1.0+2": {"https://h.example/x.git", "release-1.0+2"},
	} {
		if got, err := ParseSource(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, why := range map[string]string{
		"":                                 "use https://",
		"-uhttps://h/x":                    "hyphen",
		"--upload-pack=touch x":            "hyphen",
		"http://h.example/x":               "not encrypted",
		"git://h.example/x":                "not encrypted",
		"file:///srv/x":                    "absolute path",
		"ext::sh -c touch% x":              "spaces",
		"ext::sh":                          "can run programs",
		"fd::7":                            "can run programs",
		"file::/srv/x":                     "can run programs",
		"HTTPS://h.example/x":              "can run programs",
		"ftp://h.example/x":                "can run programs",
		"./x":                              "use https://",
		"../x/y":                           "use https://",
		"https://-oProxyCommand=x/y":       "host name",
		"ssh://-oProxyCommand=x/y":         "host name",
		"ssh://git@-oProxyCommand=x/y":     "host name",
		"https:///x":                       "host name",
		"https://ann:secret@h.example/x":   "password",
		"https://h.example/x@-v":           "not the name",
		"https://h.example/x@+main":        "not the name",
		"https://h.example/x@a:refs/heads": "not the name",
		"https://h.example/x@a..b":         "not the name",
		"https://h.example/\x1b]0;x\a":     "control characters",
	} {
		if got, err := ParseSource(text); err == nil || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %+v, %v; want %q", text, got, err, why)
		}
	}
}

// TestRefs: a tag, a branch, a commit and the default branch are resolved once; update follows only what can move.
func TestRefs(t *testing.T) {
	home(t)
	from := origin(t, map[string]string{plugin.Manifest: manifest, "commands/a.md": "1"})
	first := git(t, from, "", "rev-parse", "HEAD")
	git(t, from, "", "tag", "-a", "-m", "x", "v1")
	git(t, from, "", "branch", "next/a")
	second := commit(t, from, map[string]string{"commands/a.md": "2"})
	for ref, want := range map[string]string{"": second, "v1": first, "next/a": first, "main": second, first: first} {
		s := Store{t.TempDir()}
		if r := add(t, s, Source{from, ref}, ""); r.Commit != want || r.Ref != ref || r.Name != "tidy" || r.Version != "1.0" {
			t.Errorf("%q: %+v", ref, r)
		}
		old, fresh, err := s.Update(t.Context(), "tidy", false)
		if err != nil || old.Commit != want || fresh.Commit != want {
			t.Errorf("update of %q: %s %s %v", ref, old.Commit, fresh.Commit, err)
		}
	}
	for _, ref := range []string{"v2", first[:12], strings.Repeat("0", 40)} {
		s := Store{t.TempDir()}
		if r, err := s.Add(t.Context(), Source{from, ref}, ""); err == nil || len(leftovers(t, s)) > 0 {
			t.Errorf("%q: %+v %v", ref, r, leftovers(t, s))
		}
	}
}

// TestUpdate: files are replaced and compared; files that the person changed are replaced or removed only with force.
func TestUpdate(t *testing.T) {
	home(t)
	from := origin(t, map[string]string{plugin.Manifest: manifest, "commands/a.md": "1", "commands/b.md": "1"})
	s := Store{t.TempDir()}
	add(t, s, Source{from, ""}, "")
	if _, err := s.Add(t.Context(), Source{from, ""}, ""); err == nil || !strings.Contains(err.Error(), "already there") {
		t.Errorf("added twice: %v", err)
	}
	git(t, from, "", "rm", "-q", "commands/b.md")
	second := commit(t, from, map[string]string{"commands/a.md": "2", "commands/c.md": "1"})
	old, fresh, err := s.Update(t.Context(), "tidy", false)
	changes := Compare(old.Files, fresh.Files)
	if want := []Change{{"changed", "commands/a.md"}, {"removed", "commands/b.md"}, {"added", "commands/c.md"}}; err != nil || !slices.Equal(changes, want) {
		t.Fatal(changes, err)
	}
	if r, err := s.Record("tidy"); err != nil || r.Commit != second || read(t, s.Files("tidy")+"/commands/a.md") != "2" {
		t.Error(r.Commit, err)
	}

	write(t, s.Files("tidy"), "commands/a.md", "mine")
	_, _, err = s.Update(t.Context(), "tidy", false)
	edited, ok := errors.AsType[*EditedError](err)
	if !ok || !slices.Equal(edited.Files, []Change{{"changed", "commands/a.md"}}) || read(t, s.Files("tidy")+"/commands/a.md") != "mine" {
		t.Errorf("update replaced an edited file: %v", err)
	}
	never := func() error { t.Error("trust ended"); return nil }
	if err := s.Remove(t.Context(), "tidy", false, never); !errors.As(err, &edited) {
		t.Errorf("remove: %v", err)
	}
	if _, _, err = s.Update(t.Context(), "tidy", true); err != nil || read(t, s.Files("tidy")+"/commands/a.md") != "2" {
		t.Errorf("update with force: %v", err)
	}

	commit(t, from, map[string]string{plugin.Manifest: `{"name":"other"}`})
	if _, _, err = s.Update(t.Context(), "tidy", false); err == nil || !strings.Contains(err.Error(), "now called other") {
		t.Errorf("renamed: %v", err)
	}
	refused := errors.New("no")
	if err := s.Remove(t.Context(), "tidy", false, func() error { return refused }); !errors.Is(err, refused) || read(t, s.Files("tidy")+"/commands/a.md") != "2" {
		t.Errorf("removed without the end of its trust: %v", err)
	}
	if err := s.Remove(t.Context(), "tidy", false, func() error { return nil }); err != nil || len(leftovers(t, s)) > 0 {
		t.Error(err, leftovers(t, s))
	}
	if names, err := s.Names(); err != nil || len(names) > 0 {
		t.Error(names, err)
	}
}

// TestInterrupted: whatever a killed process left, the plugin is whole in its old or its new version.
func TestInterrupted(t *testing.T) {
	dir := home(t)
	from := origin(t, map[string]string{plugin.Manifest: manifest, "commands/a.md": "1"})
	s := Store{t.TempDir()}
	add(t, s, Source{from, ""}, "")
	commit(t, from, map[string]string{"commands/a.md": "2"})

	write(t, s.Dir, ".new-1/plugin/files/x", "half")
	if err := os.Rename(filepath.Join(s.Dir, "tidy"), filepath.Join(s.Dir, ".old-tidy")); err != nil { // killed before the second rename
		t.Fatal(err)
	}
	if _, err := s.Add(t.Context(), Source{filepath.Join(dir, "none"), ""}, ""); err == nil {
		t.Fatal("added nothing")
	}
	if got := read(t, s.Files("tidy")+"/commands/a.md"); got != "1" || len(leftovers(t, s)) > 0 {
		t.Error(got, leftovers(t, s))
	}

	if _, _, err := s.Update(t.Context(), "tidy", false); err != nil {
		t.Fatal(err)
	}
	write(t, s.Dir, ".old-tidy/files/commands/a.md", "1") // killed after the second rename
	if _, _, err := s.Update(t.Context(), "tidy", false); err != nil || read(t, s.Files("tidy")+"/commands/a.md") != "2" || len(leftovers(t, s)) > 0 {
		t.Error(err, leftovers(t, s))
	}

	// Cancelled while git waits for the other side: its processes end, and the old version stays.
	started := filepath.Join(dir, "started")
	if out, err := exec.Command("mkfifo", started).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	write(t, dir, "ssh.sh", "exec 3>"+started+"\necho started >&3\nexec sleep 1000\n")
	t.Setenv("GIT_SSH_COMMAND", "sh "+filepath.Join(dir, "ssh.sh"))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		f, err := os.Open(started)
		if err == nil {
			_, err = f.Read(make([]byte, 1))
			cancel()
			_, all := io.ReadAll(f) // until ssh has ended
			err = errors.Join(err, all, f.Close())
		}
		ended <- err
	}()
	_, err := s.Add(ctx, Source{"ssh://h.example/x", ""}, "")
	if !errors.Is(err, context.Canceled) || read(t, s.Files("tidy")+"/commands/a.md") != "2" {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, _, err := s.Update(t.Context(), "tidy", false); err != nil || len(leftovers(t, s)) > 0 {
		t.Error(err, leftovers(t, s))
	}
}

// TestTwoAtOnce: of two that add the same plugin one succeeds, and its files are not mixed with the other's.
func TestTwoAtOnce(t *testing.T) {
	home(t)
	s := Store{t.TempDir()}
	var all sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		text := strings.Repeat("x", i+1)
		from := origin(t, map[string]string{plugin.Manifest: manifest, "commands/a.md": text, "commands/b.md": text})
		all.Go(func() { _, errs[i] = s.Add(context.Background(), Source{from, ""}, "") })
	}
	all.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !strings.Contains(err.Error(), "already there") {
			t.Error(err)
		}
	}
	if a, b := read(t, s.Files("tidy")+"/commands/a.md"), read(t, s.Files("tidy")+"/commands/b.md"); won != 1 || a != b || len(leftovers(t, s)) > 0 {
		t.Error(won, a, b, leftovers(t, s))
	}
}

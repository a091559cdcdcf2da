package install

import (
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"buddy/extensions/plugin"
)

// serve serves the repositories in a folder over https, as git's own server does. Below /private it wants a password,
// below /away it redirects to the address in *away.
func serve(t *testing.T, root string, away *string) (url string) {
	t.Helper()
	backend := &cgi.Handler{
		Path: filepath.Join(git(t, root, "", "--exec-path"), "git-http-backend"), Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"},
		InheritEnv: []string{"HOME", "PATH", "GIT_CONFIG_NOSYSTEM"},
	}
	if _, err := os.Stat(backend.Path); err != nil {
		t.Skip("git has no git-http-backend")
	}
	handle := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rest, ok := strings.CutPrefix(r.URL.Path, "/away"); ok {
			http.Redirect(w, r, *away+rest+"?"+r.URL.RawQuery, http.StatusFound)
			return
		}
		if rest, ok := strings.CutPrefix(r.URL.Path, "/private"); ok {
			if user, password, _ := r.BasicAuth(); user != "ann" || password != "secret" {
				w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
				http.Error(w, "no", http.StatusUnauthorized)
				return
			}
			r.URL.Path = rest
		}
		backend.ServeHTTP(w, r)
	})
	plain := httptest.NewServer(handle)
	t.Cleanup(plain.Close)
	*away = plain.URL
	s := httptest.NewTLSServer(handle)
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_SSL_CAINFO", file)
	return s.URL
}

// TestOverHTTPS: a tag, a branch and a commit come over https; a redirect to http is refused, one to https is not; a
// password comes only from the person's credential helper.
func TestOverHTTPS(t *testing.T) {
	dir := home(t)
	from := origin(t, map[string]string{plugin.Manifest: manifest, "commands/a.md": "1"})
	first := git(t, from, "", "rev-parse", "HEAD")
	git(t, from, "", "tag", "v1")
	second := commit(t, from, map[string]string{"commands/a.md": "2"})
	var away string
	url := serve(t, filepath.Dir(from), &away)
	name := "/" + filepath.Base(from) + "/.git"
	for ref, want := range map[string]string{"": second, "v1": first, "main": second, first: first} {
		source, err := ParseSource(strings.TrimSuffix(url+name+"@"+ref, "@"))
		if err != nil {
			t.Fatal(err)
		}
		if r := add(t, Store{t.TempDir()}, source, ""); r.Commit != want {
			t.Errorf("%q: %s", ref, r.Commit)
		}
	}
	s := Store{t.TempDir()}
	if _, err := s.Add(t.Context(), Source{url + "/away" + name, ""}, ""); err == nil || !strings.Contains(err.Error(), "http") {
		t.Errorf("redirected to http: %v", err)
	}
	if _, err := s.Add(t.Context(), Source{away + name, ""}, ""); err == nil || !strings.Contains(err.Error(), "transport 'http' not allowed") {
		t.Errorf("http: %v", err)
	}
	away = url
	add(t, s, Source{url + "/away" + name, ""}, "")

	private := Source{url + "/private" + name, ""}
	asked := filepath.Join(dir, "asked")
	write(t, dir, "ask.sh", "#!/bin/sh\ntouch "+asked+"\n")
	if err := os.Chmod(filepath.Join(dir, "ask.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_ASKPASS", filepath.Join(dir, "ask.sh"))
	t.Setenv("SSH_ASKPASS", filepath.Join(dir, "ask.sh"))
	if _, err := (Store{t.TempDir()}).Add(t.Context(), private, ""); err == nil || !strings.Contains(err.Error(), "terminal prompts disabled") {
		t.Errorf("without a password: %v", err)
	}
	if _, err := os.Stat(asked); err == nil {
		t.Error("a password was asked for")
	}
	write(t, dir, ".gitconfig", read(t, dir+"/.gitconfig")+"[credential]\nhelper = \"!f() { echo username=ann; echo password=secret; }; f\"\n")
	add(t, Store{t.TempDir()}, private, "")
}

// TestTransports: git itself refuses other transports, too, such as those that the person's settings turn an address
// into; the same address works without the refusal.
func TestTransports(t *testing.T) {
	dir := home(t)
	from := origin(t, map[string]string{plugin.Manifest: manifest})
	settings := read(t, dir+"/.gitconfig")
	ran := filepath.Join(dir, "ran")
	write(t, dir, "serve.sh", "touch "+ran+"\nexec git-upload-pack "+from+"\n")
	for name, c := range map[string]struct{ base, why string }{
		"folder":  {from, "transport 'file' not allowed"},
		"program": {"ext::sh " + dir + "/serve.sh", "transport 'ext' not allowed"},
	} {
		write(t, dir, ".gitconfig", settings+fmt.Sprintf("[url %q]\n\tinsteadOf = https://h.example/x\n", c.base))
		s := Store{t.TempDir()}
		if _, err := s.Add(t.Context(), Source{"https://h.example/x", ""}, ""); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(ran); err == nil {
			t.Error("a program ran")
		}
		git(t, dir, "", "-c", "protocol.allow=always", "ls-remote", "https://h.example/x")
		if err := os.Remove(ran); (err == nil) != (name == "program") {
			t.Errorf("%s: git itself: %v", name, err)
		}
	}
	t.Setenv("GIT_SSH_COMMAND", "sh "+dir+"/serve.sh")
	for _, url := range []string{from, "ssh://h.example/x", "ann@h.example:x"} {
		if r := add(t, Store{t.TempDir()}, Source{url, ""}, ""); r.Name != "tidy" {
			t.Error(r)
		}
	}
}

// TestIndex: every kind of source in an index, and update of a plugin from one.
func TestIndex(t *testing.T) {
	home(t)
	other := origin(t, map[string]string{plugin.Manifest: `{"name":"far"}`, "sub/" + plugin.Manifest: `{"name":"below"}`, "sub/skills/a/SKILL.md": "1"})
	pinned := git(t, other, "", "rev-parse", "HEAD")
	commit(t, other, map[string]string{"sub/skills/a/SKILL.md": "2"})
	var away string
	url := serve(t, filepath.Dir(other), &away) + "/" + filepath.Base(other) + "/.git"
	from := origin(t, map[string]string{
		"plugins/tidy/" + plugin.Manifest: manifest, "plugins/tidy/commands/a.md": "1", "README.md": "not of the plugin",
		"bare/skills/s/SKILL.md": "x",
		indexFile: `{"name":"team","owner":{"name":"x"},"metadata":{"pluginRoot":"./plugins"},"plugins":[
			{"name":"tidy","description":"Keeps\ntidy","version":"1.0","source":"./plugins/tidy"},
			{"name":"short","source":"tidy"},
			{"name":"bare","version":"3","source":"./bare","strict":false,"skills":["./skills/s"]},
			{"name":"far","source":{"source":"url","url":"` + url + `"}},
			{"name":"below","source":{"source":"git-subdir","url":"` + url + `","path":"sub","ref":"main","sha":"` + pinned + `"}},
			{"name":"missing","source":"./plugins/none"},
			{"name":"hub","source":{"source":"github","repo":"o/r"}},
			{"name":"npm","source":{"source":"npm","package":"@o/x"}},
			{"name":"pip","source":{"source":"pip","package":"x"}},
			{"name":"new","source":{"source":"carrier-pigeon"}},
			{"name":"list","source":["x"]},
			{"name":"out","source":"./../x"},
			{"name":"folder","source":{"source":"url","url":"` + other + `"}},
			{"name":"http","source":{"source":"url","url":"http://h.example/x"}},
			{"name":"option","source":{"source":"url","url":"https://h.example/x","ref":"--upload-pack=x"}}]}`,
	})
	s := Store{t.TempDir()}
	_, err := s.Add(t.Context(), Source{from, ""}, "")
	index, ok := errors.AsType[*IndexError](err)
	if !ok || len(index.Index.Entries) != 15 || index.Index.Entries[0].About != "Keeps tidy" || index.Index.Entries[6].Problem != "" {
		t.Fatal(err)
	}
	for entry, why := range map[string]string{
		"npm": "package of npm, which buddy doesn't support", "pip": "package of pip", "new": `kind "carrier-pigeon"`, "list": "unknown form", "out": "leads out of the repository",
		"folder": "only name https and ssh", "http": "not encrypted", "option": "not the name of a tag", "none": `no plugin "none" (have: tidy, short`, "missing": `no folder "plugins/none"`,
	} {
		if _, err := s.Add(t.Context(), Source{from, ""}, entry); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", entry, err)
		}
	}
	for entry, want := range map[string]Record{
		"tidy": {Name: "tidy", Version: "1.0"}, "bare": {Name: "bare", Version: "3"}, "far": {Name: "far", From: url}, "below": {Name: "below", From: url + "@" + pinned, Commit: pinned},
	} {
		r := add(t, s, Source{from, ""}, entry)
		if r.Name != want.Name || r.Version != want.Version || r.From != want.From || r.Entry != entry || want.Commit != "" && r.Commit != want.Commit {
			t.Errorf("%+v, want %+v", r, want)
		}
	}
	if _, err := os.Stat(s.Files("tidy") + "/README.md"); err == nil {
		t.Error("files outside the plugin were added")
	}
	if p, err := plugin.Read(s.Files("bare")); err != nil || len(p.Skills) != 1 {
		t.Error(p.Skills, err)
	}
	if read(t, s.Files("below")+"/skills/a/SKILL.md") != "1" {
		t.Error("not the pinned commit")
	}

	commit(t, from, map[string]string{"plugins/tidy/commands/a.md": "2"})
	commit(t, other, map[string]string{"commands/x.md": "1"})
	for entry, want := range map[string][]Change{"tidy": {{"changed", "commands/a.md"}}, "bare": nil, "far": {{"added", "commands/x.md"}}, "below": nil} {
		old, fresh, err := s.Update(t.Context(), entry, false)
		if got := Compare(old.Files, fresh.Files); err != nil || !slices.Equal(got, want) || (old.Commit == fresh.Commit) != (entry == "below") {
			t.Errorf("%s: %v, %v", entry, got, err)
		}
	}

	for text, why := range map[string]string{"{": "unexpected end", `{"plugins":[{"name":3}]}`: "plugin 1 has no valid name", `{"plugins":[]}`: "is an index"} {
		if _, err := s.Add(t.Context(), Source{origin(t, map[string]string{indexFile: text}), ""}, ""); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

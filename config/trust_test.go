package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const projectSettings = `[agent]
model = "team"
max_iterations = 999
[models.team]
api_base_url = "http://localhost:9/v1"
[models.one]
api_base_url = "http://evil.example/v1"
[ssh]
x = "curl evil"
[ui]
notify_command = "curl evil"
status_command = "curl evil"
status_sandbox = false
`

// A project's settings apply once the folder is trusted, in that form; even then they loosen nothing and change no
// profile of the person's.
func TestTrust(t *testing.T) {
	h := newHome(t)
	store := NewTrustStore(t.TempDir())
	o := Options{Trust: &store}
	write(t, h.user, twoProfiles)
	write(t, h.project, projectSettings)
	const notice = "buddy.toml: these settings are ignored until you trust this folder"
	check := func(what string, trusted, changed bool) Project {
		t.Helper()
		cfg, _, notices := load(t, o)
		_, team := cfg.Profile("team")
		one, _ := cfg.Profile("one")
		p := cfg.Project
		if p.Trusted != trusted || p.Changed != changed || team != trusted || (cfg.Agent.Model == "team") != trusted {
			t.Errorf("%s: %+v, agent %+v, models %+v", what, p, cfg.Agent, cfg.Models)
		}
		if cfg.UI.NotifyCommand != "" || cfg.UI.StatusCommand != "" || !cfg.UI.StatusSandbox {
			t.Errorf("%s: a project's %+v", what, cfg.UI)
		}
		if one.BaseURL != "http://localhost:1/v1" || cfg.Agent.MaxIterations != 200 {
			t.Errorf("%s: profile one is at %s, %d turns", what, one.BaseURL, cfg.Agent.MaxIterations)
		}
		i := slices.IndexFunc(notices, func(n string) bool { return strings.HasPrefix(n, notice) })
		if (i >= 0) == trusted || i >= 0 && strings.Contains(notices[i], "again, because") != changed {
			t.Errorf("%s: notices %q", what, notices)
		}
		if !trusted && !slices.Equal(p.Ignored, []string{"agent.model", "models.team.api_base_url", "ssh.x"}) {
			t.Errorf("%s: ignored %q", what, p.Ignored)
		}
		return p
	}
	p := check("new", false, false)
	if err := store.Trust(p.Dir, p.Print); err != nil {
		t.Fatal(err)
	}
	check("trusted", true, false)

	write(t, h.project, projectSettings+"\n")
	check("changed", false, true)
	write(t, h.project, projectSettings)
	check("as it was", true, false)
	write(t, filepath.Join(filepath.Dir(h.project), ".mcp.json"), "{}")
	check("servers, which are trusted one by one", true, false)
	write(t, filepath.Join(filepath.Dir(h.project), "agent.toml"), "")
	check("another file", false, true)

	if found, err := store.Forget(p.Dir); !found || err != nil {
		t.Error(found, err)
	}
	if found, err := store.Forget(p.Dir); found || err != nil {
		t.Error(found, err)
	}
	check("forgotten", false, false)

	keys, err := ProjectKeys(p.Dir)
	if err != nil || !slices.Equal(keys, []string{"agent.model", "models.team.api_base_url", "models.one.api_base_url", "ssh.x"}) {
		t.Errorf("ProjectKeys: %q, %v", keys, err)
	}
}

// The project's folder is known with any settings, because its plugins and styles depend on it.
func TestProjectFolderIsKnownWithAnySettings(t *testing.T) {
	h := newHome(t)
	write(t, filepath.Join(filepath.Dir(h.project), "c.toml"), "")
	want, err := ResolveDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "c.toml", os.DevNull} {
		cfg, _, notices := load(t, Options{Config: name})
		if p := cfg.Project; p.Dir != want || p.Trusted || len(notices) > 0 {
			t.Errorf("--config %q: %+v, notices %q, want the folder %s", name, p, notices, want)
		}
	}
}

// A folder without settings causes no notice, and a broken store trusts nothing.
func TestTrustQuiet(t *testing.T) {
	h := newHome(t)
	store := NewTrustStore(filepath.Join(filepath.Dir(h.user), "state"))
	if _, _, notices := load(t, Options{Trust: &store}); len(notices) != 0 {
		t.Errorf("notices %q", notices)
	}
	write(t, h.project, projectSettings)
	write(t, store.path, "{")
	cfg, _, notices := load(t, Options{Trust: &store})
	if cfg.Project.Trusted || len(notices) == 0 || !strings.Contains(notices[0], "trust.json") {
		t.Errorf("%+v, notices %q", cfg.Project, notices)
	}
	if err := store.Trust("/x", "p"); err == nil {
		t.Error("a store that can't be read was replaced")
	}
}

func TestTrustStore(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state", "buddy")
	store := NewTrustStore(state)
	var all sync.WaitGroup
	for i := range 20 { // each iteration opens the lock's file again, like another process
		all.Go(func() {
			if err := store.Trust(fmt.Sprintf("/dir/%02d", i), "p"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	list, err := store.List()
	if err != nil || len(list) != 20 || list[7].Dir != "/dir/07" || list[7].At.IsZero() {
		t.Errorf("%v, %v", list, err)
	}
	for path, want := range map[string]os.FileMode{store.path: 0o600, store.path + ".lock": 0o600, state: 0o700 | os.ModeDir} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if err := store.Trust("/dir/07", "q"); err != nil {
		t.Fatal(err)
	}
	if ok, changed, err := store.Trusted("/dir/07", "p"); ok || !changed || err != nil {
		t.Error(ok, changed, err)
	}
}

func TestResolveDir(t *testing.T) {
	dir := t.TempDir()
	real, link, file := filepath.Join(dir, "real"), filepath.Join(dir, "link"), filepath.Join(dir, "file")
	if err := errors.Join(os.Mkdir(real, 0o700), os.Symlink(real, link), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	a, errA := ResolveDir(real)
	b, errB := ResolveDir(link)
	if a != b || errors.Join(errA, errB) != nil {
		t.Errorf("%q and %q: %v %v", a, b, errA, errB)
	}
	for _, bad := range []string{file, filepath.Join(dir, "none")} {
		if _, err := ResolveDir(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// oldFile has every key of the time when the file was called agent.toml.
const oldFile = `# my settings
[display]
color = false # on a white screen
show_tokens = true
show_tool_calls = false

# the company's server
[api]
base_url = "https://llm.example.com/v1" # behind the VPN
api_key = "sk-1"
model = "m-1"
protocol = "responses"

[models.spare]
api_base_url = "https://spare.example.com/v1"
auth = "api-key"
temperature = 1.5

[agent]
model = "api"
max_iterations = 20 # enough
temperature = 0.2
top_p = 0.9

[tools]
shell_confirm = false
fetch_enabled = false
time = false
read_enabled = true
`

// TestOldKeys: a file with an old name may have the keys of its time, with a notice for each that names the present key.
func TestOldKeys(t *testing.T) {
	h := newHome(t)
	write(t, h.legacyUser, oldFile)
	if err := os.Chmod(h.legacyUser, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, index, notices := load(t, Options{})
	p, spare := cfg.Active, cfg.Models[1]
	if p == nil || p.Name != "api" || p.BaseURL != "https://llm.example.com/v1" || p.Model != "m-1" || p.API != Responses || *p.Temperature != 0.2 || *p.TopP != 0.9 {
		t.Fatalf("%+v", p)
	}
	if key, _, err := p.Key(); key != "sk-1" || err != nil {
		t.Error(key, err)
	}
	if *spare.Temperature != 1.5 || *spare.TopP != 0.9 || spare.Login.Auth != ByKey {
		t.Errorf("%+v", spare)
	}
	if cfg.UI.Color || !cfg.UI.ShowTokens || cfg.UI.ShowToolCalls || cfg.Agent.Mode != "all" || cfg.Agent.MaxIterations != 20 || !slices.Equal(cfg.Tools.Off, []string{"fetch_url", "time"}) {
		t.Errorf("%+v %+v %+v", cfg.UI, cfg.Agent, cfg.Tools)
	}
	if index["ui.color"] != h.legacyUser+":3" || index["models.api.model"] != h.legacyUser+":11" {
		t.Error(index)
	}
	var got []string
	for _, n := range notices {
		got = append(got, strings.TrimPrefix(n, h.legacyUser+":"))
	}
	want := []string{
		"3: display.color is an old name: now ui.color",
		"4: display.show_tokens is an old name: now ui.show_tokens",
		"5: display.show_tool_calls is an old name: now ui.show_tool_calls",
		"9: api.base_url is an old name: now models.api.api_base_url",
		"10: api.api_key is an old name: now models.api.api_key",
		"11: api.model is an old name: now models.api.model",
		"12: api.protocol is an old name: now models.api.api",
		`27: tools.fetch_enabled is an old name: now off = ["fetch_url"] in [tools]`,
		`28: tools.time is an old name: now off = ["time"] in [tools]`,
		"29: tools.read_enabled is an old name; tools are on by default, and [tools] off lists those that are off",
		"22: agent.temperature is an old name: now temperature in [models.NAME], for each profile",
		"23: agent.top_p is an old name: now top_p in [models.NAME], for each profile",
		`26: tools.shell_confirm is an old name: write mode = "all" in [agent]`,
		"deprecated names in use: " + h.legacyUser + " (now " + h.user + "); buddy config migrate writes the new file",
	}
	if !slices.Equal(got, want) {
		t.Errorf("notices\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestOldKeysInProject: the old keys of a checkout do no more than the present ones.
func TestOldKeysInProject(t *testing.T) {
	h := newHome(t)
	write(t, h.legacyProject, oldFile)
	cfg, _, notices := load(t, Options{})
	if len(cfg.Models) != 0 || cfg.Agent.Mode != "ask" || cfg.Agent.MaxIterations != 20 || !slices.Contains(cfg.Project.Ignored, "models.api.api_base_url") {
		t.Errorf("%+v, %v", cfg, notices)
	}
	if !slices.Equal(cfg.Tools.Off, []string{"fetch_url", "time"}) { // stricter
		t.Error(cfg.Tools.Off)
	}
	keys, err := ProjectKeys(".")
	if err != nil || !slices.Contains(keys, "models.api.api_key") {
		t.Error(keys, err)
	}
}

// TestOldKeysAlone: parts of an old file without the others.
func TestOldKeysAlone(t *testing.T) {
	for _, tt := range []struct{ text, key, want, notice string }{
		{"[api]\nmodel = \"m\"\n", "models.api.api_base_url", oldBase, "api.model is an old name"},
		{"[api]\nprotocol = \"chat-completions\"\nbase_url = \"http://localhost/v1\"\n", "models.api.api", "completions", ""},
		{"api.base_url = \"http://localhost/v1\"\n", "models.api.api_base_url", "http://localhost/v1", ""},
		{"display = { color = false }\n", "ui.color", "false", ""},
		{"[display]\ncolor = false\n[ui]\ncolor = true\n", "ui.color", "true", "display.color is ignored, because ui.color is set"},
		{"[agent]\ntemperature = 1\n", "agent.temperature", "", "agent.temperature is an old name, and has no effect without a profile: write temperature in [models.NAME]"},
		{"[agent]\nname = \"otto\"\n", "agent.name", "", "agent.name has no effect any more"},
		{"[tools]\noff = [\"web\"]\nshell = false\n", "tools.off", "web\nshell", ""},
	} {
		h := newHome(t)
		write(t, h.legacyUser, tt.text)
		cfg, index, notices := load(t, Options{})
		got, _ := Lookup(cfg.Settings(index), tt.key)
		if got.Text() != tt.want || !strings.Contains(strings.Join(notices, "\n"), tt.notice) {
			t.Errorf("%q: %s = %q, want %q; %q", tt.text, tt.key, got.Text(), tt.want, notices)
		}
	}
	h := newHome(t)
	write(t, h.legacyUser, "[display]\ncolour = true\n")
	if _, _, _, err := Load(Options{}); err == nil || !strings.HasSuffix(err.Error(), "agent.toml:2: display.colour: unknown key (have: color, show_tokens, show_tool_calls; nearest: color)") {
		t.Error(err)
	}
}

// effect lists the settings of a file that are not defaults.
func effect(t *testing.T, path string) string {
	t.Helper()
	r := Check(path)
	if wrong := r.Mistakes(); len(wrong) > 0 {
		t.Fatal(wrong)
	}
	var b strings.Builder
	for _, s := range r.Config.Settings(r.Index) {
		if s.Source != Default && s.Name != "shell_confirm" {
			fmt.Fprintln(&b, s.Key, s.Text())
		}
	}
	return b.String()
}

// TestMigrate: the new file has the same effect as the old one, and its comments.
func TestMigrate(t *testing.T) {
	for _, text := range []string{
		oldFile, strings.ReplaceAll(oldFile, "\n", "\r\n"), "", "# nothing\n",
		"[api]\nmodel = \"m\"\n", "[api]\nprotocol = \"chat\" # old\nbase_url = \"http://localhost/v1\"\n",
		"api.base_url = \"http://localhost/v1\"\napi.model = \"m\"\n", "display = { color = false, persist_history = true }\n",
		"[display]\ncolor = false\n[ui]\ntheme = \"light\"\n", "[display]\ncolor = false\n[ui]\ncolor = true\n",
		"[tools]\noff = [\"web\"]\nshell_enabled = false\n", "[tools]\nshell_confirm = true\n[agent]\nmode = \"edits\"\n",
		"[agent]\nname = \"otto\"\ntemperature = 1\n", "[models.a]\napi_base_url = \"http://localhost/v1\"\n[agent]\ntemperature = 0\n",
		"[[deny]]\nprefix = [\"git\", \"push\"]\n[display]\ncolor = false\n[[deny]]\nprefix = [\"rm\"]\n",
		"[api]\nbase_url = \"http://localhost/v1\"\napi_key = \"k\"\n[models.api]\nmodel = \"x\"\n",
	} {
		h := newHome(t)
		write(t, h.legacyUser, text)
		all := Migrations()
		if len(all) != 1 {
			t.Fatal(all)
		}
		before := effect(t, h.legacyUser)
		did, err := all[0].Run()
		data, _ := os.ReadFile(h.user)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if after := effect(t, h.user); after != before {
			t.Errorf("%q becomes\n%s\nwith the effect\n%s\nnot\n%s", text, data, after, before)
		}
		if text == oldFile {
			for _, part := range []string{"# my settings\n[ui]\ncolor = false # on a white screen\n", "# the company's server\n[models.api]\napi_base_url = \"https://llm.example.com/v1\" # behind the VPN\n", "max_iterations = 20 # enough\n"} {
				if !strings.Contains(string(data), part) {
					t.Errorf("%q is missing in\n%s", part, data)
				}
			}
			if strings.Contains(string(data), "[display]") || len(did) != 13 {
				t.Errorf("%q\n%s", did, data)
			}
		}
		if _, err := all[0].Run(); err == nil || !strings.Contains(err.Error(), "exists") {
			t.Error("the new file was replaced:", err)
		}
	}
}

// TestMigrateKeeps: permissions, paths and mistakes of the old file.
func TestMigrateKeeps(t *testing.T) {
	h := newHome(t)
	write(t, h.legacyUser, "[models.a]\napi_base_url = \"http://localhost/v1\"\napi_key_file = \"key\"\n[display]\ncolor = 3\n")
	m := Migrations()[0]
	if _, err := m.Run(); err == nil || !strings.Contains(err.Error(), h.legacyUser+":5:1: ui.color: must be true or false, not an integer") || exists(h.user) {
		t.Error(err)
	}
	write(t, h.legacyUser, "[models.a]\napi_base_url = \"http://localhost/v1\"\napi_key_file = \"key\"\n[models.b]\napi_base_url = \"http://localhost/v1\"\napi_key = \"k\"\n")
	if err := os.Chmod(h.legacyUser, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(); err != nil {
		t.Fatal(err)
	}
	fi, _ := os.Stat(h.user)
	cfg, _, _ := load(t, Options{})
	if fi.Mode().Perm() != 0o600 || cfg.Models[0].KeyFile != filepath.Join(filepath.Dir(h.legacyUser), "key") {
		t.Error(fi.Mode(), cfg.Models[0].KeyFile)
	}
	if data, _ := os.ReadFile(h.legacyUser); !strings.Contains(string(data), `api_key_file = "key"`) {
		t.Error("the old file was changed")
	}
}

// FuzzMigrate: a valid old file becomes a valid new one with the same effect, or stays alone.
func FuzzMigrate(f *testing.F) {
	for _, text := range []string{oldFile, "[tools]\nfetch_enabled=false\noff=['web']\n", "api={base_url='http://a/v1',model='m'}\n", "[display]\n[ui]\n[api]\n", "[[display]]\ncolor=true\n[[api]]\n", "tools.shell_enabled=false\nagent.temperature=1\n[models.a]\napi_base_url='http://a/v1'"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h := newHome(t)
		write(t, h.legacyUser, text)
		before := Check(h.legacyUser)
		if _, err := (Migration{h.legacyUser, h.user}).Run(); err != nil {
			if len(before.Mistakes()) == 0 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if want, got := effect(t, h.legacyUser), effect(t, h.user); got != want {
			data, _ := os.ReadFile(h.user)
			t.Fatalf("%q becomes %q: %q, not %q", text, data, got, want)
		}
	})
}

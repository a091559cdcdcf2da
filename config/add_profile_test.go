package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSetModel: one line of a person's file changes, everything else stays.
func TestSetModel(t *testing.T) {
	for _, tt := range []struct{ name, before, after string }{
		{"empty", "", "[agent]\nmodel = \"groq\"\n"},
		{"no section", "# mine\n[ui]\ntitle = false\n", "# mine\n[ui]\ntitle = false\n\n[agent]\nmodel = \"groq\"\n"},
		{"a section", "[agent] # works\nmax_iterations = 3\n[ui]\n", "[agent] # works\nmax_iterations = 3\nmodel = \"groq\"\n[ui]\n"},
		{"a model", "[agent]\nmax_iterations = 3\n  model = \"demo\" # for now\n", "[agent]\nmax_iterations = 3\n  model = \"groq\" # for now\n"},
		{"a hint", "[agent]\n# text\n#model = \"\"\n\n[ui]\n#model = \"x\"\n", "[agent]\n# text\n#model = \"\"\nmodel = \"groq\"\n\n[ui]\n#model = \"x\"\n"},
		{"a model of a profile", "[models.a]\napi_base_url = \"http://localhost:1\"\nmodel = \"m\"\n", "[models.a]\napi_base_url = \"http://localhost:1\"\nmodel = \"m\"\n\n[agent]\nmodel = \"groq\"\n"},
		{"inline", "agent = { max_iterations = 3 }\n", "agent = { max_iterations = 3, model = \"groq\" }\n"},
		{"dotted", "agent.model = \"demo\"\n", "agent.model = \"groq\"\n"},
		{"broken", "[agent\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			newHome(t)
			path := filepath.Join(t.TempDir(), "c.toml")
			write(t, path, tt.before)
			if err := os.Chmod(path, 0o640); err != nil {
				t.Fatal(err)
			}
			err := SetModel(path, "groq")
			got, _ := os.ReadFile(path)
			if tt.after == "" {
				if err == nil || !strings.Contains(err.Error(), path) || string(got) != tt.before {
					t.Errorf("%v, file %q", err, got)
				}
				return
			}
			info, _ := os.Stat(path)
			if err != nil || string(got) != tt.after || info.Mode() != 0o640 {
				t.Errorf("%v, mode %v, file %q, want %q", err, info.Mode(), got, tt.after)
			}
			if cfg, _, _ := load(t, Options{Config: path}); cfg.Agent.Model != "groq" || cfg.File != path {
				t.Errorf("%+v", cfg.Agent)
			}
		})
	}
}

// TestSetModelFirst: a missing file starts as the template; a link keeps pointing to its file.
func TestSetModelFirst(t *testing.T) {
	h := newHome(t)
	if err := SetModel(h.user, "ollama/qwen3:8b"); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(h.user)
	info, err := os.Stat(h.user)
	if err != nil || info.Mode() != 0o600 || strings.Replace(string(data), "model = \"ollama/qwen3:8b\"\n", "", 1) != Template() {
		t.Errorf("%v, %v:\n%s", info.Mode(), err, data)
	}
	link := filepath.Join(t.TempDir(), "link.toml")
	if err := os.Symlink(h.user, link); err != nil {
		t.Fatal(err)
	}
	if err := SetModel(link, "demo"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if cfg, _, _ := load(t, Options{}); cfg.Agent.Model != "demo" {
		t.Errorf("%+v", cfg.Agent)
	}
	if err := SetModel(h.user, "a\nb"); err == nil {
		t.Error("a name of two lines")
	}
}

// TestAddProfile: a profile is added once, and only if it can be read again.
func TestAddProfile(t *testing.T) {
	h := newHome(t)
	good := Profile{Name: "my host", BaseURL: "https://example.com/v1/", Model: "m", KeyEnv: "MINE"}
	if err := AddProfile(h.user, good); err != nil {
		t.Fatal(err)
	}
	if err := SetModel(h.user, "my host"); err != nil {
		t.Fatal(err)
	}
	cfg, _, _ := load(t, Options{})
	if p := cfg.Active; p == nil || p.BaseURL != "https://example.com/v1" || p.Model != "m" || p.KeyEnv != "MINE" {
		t.Errorf("%+v", p)
	}
	for _, p := range []Profile{
		good,
		{Name: "a", BaseURL: "example.com", Model: "m"},
		{Name: "a", BaseURL: "https://example.com", Model: ""},
		{Name: "a", BaseURL: "https://example.com", Model: "m", KeyEnv: "sk-key"},
		{Name: "", BaseURL: "https://example.com", Model: "m"},
	} {
		if err := AddProfile(h.user, p); err == nil {
			t.Errorf("added %+v", p)
		}
	}
}

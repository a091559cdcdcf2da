package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeProviders documents the bundled providers. A ' stands for a backquote.
func writeProviders(b *strings.Builder) {
	say := func(format string, args ...any) { fmt.Fprintf(b, strings.ReplaceAll(format, "'", "`"), args...) }
	say(`
## Providers that need no settings

If no file has a profile, buddy uses the first of these providers that has a key: in its variable, or saved by 'buddy login NAME' in
'auth.json' next to your settings (mode 0600); the variable overrides the saved key. A profile with the same address but without a
key uses the same key.

| name | who | variable | address | model |
|---|---|---|---|---|
`)
	for _, p := range Providers() {
		say("| '%s' | %s | '%s' | '%s' | '%s' |\n", p.Name, p.Title, p.KeyEnv, p.BaseURL, p.Model)
	}
	say(`
buddy also reads variables of the vendors: 'OPENAI_BASE_URL' and 'ANTHROPIC_BASE_URL' replace the address of 'openai' and 'anthropic',
for a gateway or another server with the same protocol ('openai/MODEL' then uses 'completions', except for the 'gpt-' models of
OpenAI). buddy sends 'ANTHROPIC_AUTH_TOKEN' as 'Authorization: Bearer' instead of a key. These variables do not affect profiles with
their own address. buddy removes spaces and line breaks around a key, with a notice.

'--model', 'BUDDY_MODEL', 'agent.model' and '/model' accept one of these names; the first that matches counts:

1. a profile in your settings;
2. 'demo';
3. a provider in the table above;
4. 'NAME/MODEL', where NAME is a profile, a provider above or a server below;
5. a short name: 'gpt-codex' and 'gpt-spark' for 'gpt-5.3-codex' and 'gpt-5.3-codex-spark' of OpenAI, 'openrouter-deepseek' and
   'openrouter-glm' for DeepSeek V3.2 and GLM 4.7 at OpenRouter;
6. a model id for the active profile.

Ids that begin with the name of a company, such as 'z-ai/glm-4.7' at OpenRouter, work unchanged.

Without a model, and for '/model' and 'buddy models', buddy looks for servers on this machine: only on 127.0.0.1, and for at most
0.3 seconds. It offers them, but never selects one by itself. '%s' names other ports, such as
'ollama=11500 vllm=9000', or 'off'. If a name has two addresses, buddy uses the one where a server answers, preferably one that has
the model.

| name | who | address |
|---|---|---|
`, EnvLocal)
	for _, p := range servers {
		say("| '%s/MODEL' | %s | '%s' |\n", p.Name, p.Title, p.BaseURL)
	}
}

// TestDetect: without a profile the first provider with a key is used; a profile, an endpoint or a key meant for
// something else selects none.
func TestDetect(t *testing.T) {
	for _, tt := range []struct {
		name   string
		env    map[string]string
		stored string // a provider with a stored key
		file   string
		o      Options
		want   string // profile of the active model; "" for the demo
		key    string
	}{
		{name: "nothing"},
		{name: "a variable", env: map[string]string{"OPENAI_API_KEY": "k1"}, want: "openai", key: "k1"},
		{name: "two", env: map[string]string{"OPENAI_API_KEY": "k1", "ANTHROPIC_API_KEY": "k2"}, want: "anthropic", key: "k2"},
		{name: "stored", stored: "groq", want: "groq", key: "stored-key"},
		{name: "the variable beats what is stored", env: map[string]string{"GROQ_API_KEY": "k1"}, stored: "groq", want: "groq", key: "k1"},
		{name: "another's key", env: map[string]string{"BUDDY_API_KEY": "k1"}},
		{name: "its own key comes first", env: map[string]string{"BUDDY_API_KEY": "k1", "XAI_API_KEY": "k2"}, want: "xai", key: "k2"},
		{name: "a profile", env: map[string]string{"OPENAI_API_KEY": "k1"}, file: "[models.a]\napi_base_url = \"http://localhost:1/v1\"\n", want: "a"},
		{name: "a profile without a key", env: map[string]string{"OPENAI_API_KEY": "k1"}, file: "[models.a]\napi_base_url = \"https://example.com/v1\"\n", want: "a"},
		{name: "an endpoint", env: map[string]string{"OPENAI_API_KEY": "k1"}, o: Options{BaseURL: "http://localhost:1/v1", Model: "m"}, want: "m"},
		{name: "the demo was asked for", env: map[string]string{"OPENAI_API_KEY": "k1"}, o: Options{Model: Demo}},
		{name: "a profile at a known address", env: map[string]string{"OPENAI_API_KEY": "k1"}, file: "[models.a]\napi_base_url = \"https://api.openai.com/v1\"\n", want: "a", key: "k1"},
		{name: "a known name at another address", env: map[string]string{"OPENAI_API_KEY": "k1"}, file: "[models.openai]\napi_base_url = \"https://example.com/v1\"\n", want: "openai"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHome(t)
			for name, value := range tt.env {
				t.Setenv(name, value)
			}
			write(t, h.user, tt.file)
			if tt.stored != "" {
				if _, err := Auth().SetKey(t.Context(), tt.stored, "stored-key"); err != nil {
					t.Fatal(err)
				}
			}
			cfg, _, _ := load(t, tt.o)
			got, key := "", ""
			if cfg.Active != nil {
				got = cfg.Active.Name
				key, _, _ = cfg.Active.Key()
			}
			if got != tt.want || !strings.HasPrefix(key, tt.key) || tt.key == "" && key != "" && tt.env["BUDDY_API_KEY"] == "" {
				t.Errorf("active %q with key %q, want %q with %q; problem %q", got, key, tt.want, tt.key, cfg.Problem)
			}
		})
	}
}

// TestChooseBundled: --model accepts bundled names in addition to profiles of the files.
func TestChooseBundled(t *testing.T) {
	const ollama, router = "[models.a]\napi_base_url = \"http://localhost:1/v1\"\n", "[models.a]\napi_base_url = \"https://openrouter.ai/api/v1\"\napi_key = \"k\"\n"
	const first = "[models.a]\napi_base_url = \"https://api.openai.com/v1\"\napi_key = \"k\"\n"
	for _, tt := range []struct {
		name, file, model, env string
		profile, id, url       string
	}{
		{"a provider", "", "openai", "", "openai", "gpt-6.1-sol", "https://api.openai.com/v1"},
		{"beside a profile", ollama, "openai", "", "openai", "gpt-6.1-sol", "https://api.openai.com/v1"},
		{"its model", "", "openai/gpt-9", "", "openai/gpt-9", "gpt-9", "https://api.openai.com/v1"},
		{"its model, beside a profile of one company", first, "anthropic/c", "", "anthropic/c", "c", "https://api.anthropic.com/v1"},
		{"a model of a profile", first, "a/gpt-9", "", "a/gpt-9", "gpt-9", "https://api.openai.com/v1"},
		{"a model of a gateway", router, "openai/gpt-9", "", "a", "openai/gpt-9", "https://openrouter.ai/api/v1"},
		{"a model on this machine", ollama, "openai/gpt-oss-20b", "", "a", "openai/gpt-oss-20b", "http://localhost:1/v1"},
		{"a model of a detected gateway", "", "openai/gpt-9", "OPENROUTER_API_KEY", "openrouter", "openai/gpt-9", "https://openrouter.ai/api/v1"},
		{"a model of the detected gateway by its name", "", "openrouter/openai/gpt-9", "OPENROUTER_API_KEY", "openrouter/openai/gpt-9", "openai/gpt-9", "https://openrouter.ai/api/v1"},
		{"a server on this machine", router, "ollama/qwen3:8b", "", "ollama/qwen3:8b", "qwen3:8b", "http://127.0.0.1:11434/v1"},
		{"a short name", "", "gpt-codex", "", "openai/gpt-5.3-codex", "gpt-5.3-codex", "https://api.openai.com/v1"},
		{"a short name and a profile", ollama, "gpt-spark", "", "openai/gpt-5.3-codex-spark", "gpt-5.3-codex-spark", "https://api.openai.com/v1"},
		{"a short name at a gateway", "", "openrouter-glm", "", "openrouter/z-ai/glm-4.7", "z-ai/glm-4.7", "https://openrouter.ai/api/v1"},
		{"a profile with a short name", "[models.gpt-codex]\napi_base_url = \"http://localhost:1/v1\"\nmodel = \"m\"\n", "gpt-codex", "", "gpt-codex", "m", "http://localhost:1/v1"},
		{"an id for the profile", ollama, "mistral", "", "a", "mistral", "http://localhost:1/v1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHome(t)
			write(t, h.user, tt.file)
			if tt.env != "" {
				t.Setenv(tt.env, "k")
			}
			cfg, _, _ := load(t, Options{Model: tt.model})
			p := cfg.Active
			if p == nil || p.Name != tt.profile || p.Model != tt.id || p.BaseURL != tt.url {
				t.Errorf("%q gives %+v", tt.model, p)
			}
		})
	}
	newHome(t)
	if cfg, _, _ := load(t, Options{Model: "anthropic"}); !strings.HasSuffix(cfg.Problem, "set ANTHROPIC_API_KEY or run: buddy login anthropic") {
		t.Errorf("problem %q", cfg.Problem)
	}
	if _, _, _, err := Load(Options{Model: "opnai"}); err == nil || !strings.Contains(err.Error(), "none is defined, but buddy has openai;") {
		t.Error(err)
	}
	if _, _, _, err := Load(Options{Model: "ollama"}); err == nil {
		t.Error("a server without a model is a model")
	}
}

// TestLocalServers: EnvLocal replaces the usual ports.
func TestLocalServers(t *testing.T) {
	for _, tt := range []struct{ env, want string }{
		{"ollama=1, vllm=22", "ollama http://127.0.0.1:1/v1 vllm http://127.0.0.1:22/v1"},
		{"off", ""},
		{"ollama=x other=1 llamacpp=99999 lmstudio=1@example.com", ""},
	} {
		t.Setenv(EnvLocal, tt.env)
		var got []string
		for _, p := range LocalServers() {
			got = append(got, p.Name, p.BaseURL)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%q: %q, want %q", tt.env, s, tt.want)
		}
	}
	t.Setenv(EnvLocal, "")
	if n := len(LocalServers()); n != len(servers) {
		t.Errorf("%d servers", n)
	}
}

// TestAuthStore: the file is private and complete, and its contents are never printed.
func TestAuthStore(t *testing.T) {
	newHome(t)
	s := Auth()
	if err := os.MkdirAll(filepath.Dir(s.Path()), 0o755); err != nil {
		t.Fatal(err)
	}
	if found, err := s.SetKey(t.Context(), "openai", "sk-1234567"); found || err != nil {
		t.Fatal(found, err)
	}
	for path, want := range map[string]os.FileMode{s.Path(): 0o600, filepath.Dir(s.Path()): 0o700 | os.ModeDir} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	all, err := s.Read()
	if err != nil || all.Keys["openai"] != "sk-1234567" {
		t.Fatal(err)
	}
	token := Token{Access: "sk-1234567", Refresh: "sk-1234567"}
	for _, v := range []any{all, token, []Token{token}, map[string]Token{"a": token}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, "1234567") {
				t.Errorf("%s of %T prints %s", verb, v, text)
			}
		}
	}
	if _, err := s.SetKey(t.Context(), "openai", "a b"); err == nil || strings.Contains(err.Error(), "a b") {
		t.Error(err)
	}
	if found, err := s.SetKey(t.Context(), "openai", ""); !found || err != nil {
		t.Error(found, err)
	}
	write(t, s.Path(), `{"keys":{"openai":"sk-12345`)
	if _, err := s.Read(); err == nil || strings.Contains(err.Error(), "sk-12345") {
		t.Error(err)
	}
	if cfg, _, _ := load(t, Options{}); cfg.Active != nil {
		t.Errorf("a torn file chose %s", cfg.Active.Name)
	}
	t.Setenv("HOME", "")
	if _, err := Auth().SetKey(t.Context(), "openai", "k"); err == nil {
		t.Error("stored without a home")
	}
}

// TestLoginFields: a profile names its login; a key has precedence.
func TestLoginFields(t *testing.T) {
	h := newHome(t)
	const profile = "[models.a]\napi_base_url = \"https://example.com/v1\"\n"
	write(t, h.user, profile+"login_issuer = \"https://id.example.com/\"\nlogin_client_id = \"c\"\n")
	cfg, _, _ := load(t, Options{})
	p := cfg.Active
	if !p.UsesLogin() || p.Login.ID() != "https://id.example.com c" || cfg.Problem != `model profile "a" is not logged in: run buddy login a` {
		t.Errorf("%+v, problem %q", p, cfg.Problem)
	}
	t.Setenv("BUDDY_API_KEY", "k")
	if cfg, _, _ := load(t, Options{}); cfg.Active.UsesLogin() || cfg.Problem != "" {
		t.Errorf("with a key: problem %q", cfg.Problem)
	}
	for text, want := range map[string]string{
		"login_issuer = \"https://x.y\"\n":        "needed together",
		"login_client_id = \"c\"\n":               "needed together",
		"login_issuer = \"http://example.com\"\n": "neither https nor on this machine",
	} {
		write(t, h.user, profile+text)
		if _, _, _, err := Load(Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

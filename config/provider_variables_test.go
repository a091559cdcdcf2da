package config

import (
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// Variables that people set for a vendor's libraries apply to that provider only.
func TestVariablesOfVendors(t *testing.T) {
	for _, tt := range []struct {
		name                      string
		env                       map[string]string
		settings                  string
		url                       string
		api                       API
		key, source, header, from string // from: source of the address
	}{
		{"none", map[string]string{"OPENAI_API_KEY": "k"}, "", "https://api.openai.com/v1", Responses, "k", "OPENAI_API_KEY", "", ""},
		{
			"another server",
			map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://gateway:4000/v1/"},
			"",
			"http://gateway:4000/v1", Responses, "k", "OPENAI_API_KEY", "", "OPENAI_BASE_URL",
		},
		{
			"another server of OpenAI",
			map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://eu.api.openai.com/v1"},
			"",
			"https://eu.api.openai.com/v1", Responses, "k", "OPENAI_API_KEY", "", "OPENAI_BASE_URL",
		},
		{
			"Anthropic's have no version in them",
			map[string]string{"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "https://gateway/anthropic"},
			"",
			"https://gateway/anthropic/v1", Anthropic, "k", "ANTHROPIC_API_KEY", "", "ANTHROPIC_BASE_URL",
		},
		{
			"but may",
			map[string]string{"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "https://gateway/v1/"},
			"",
			"https://gateway/v1", Anthropic, "k", "ANTHROPIC_API_KEY", "", "ANTHROPIC_BASE_URL",
		},
		{
			"a token",
			map[string]string{"ANTHROPIC_API_KEY": "k", "ANTHROPIC_AUTH_TOKEN": "t"},
			"",
			"https://api.anthropic.com/v1", Anthropic, "t", "ANTHROPIC_AUTH_TOKEN", "Authorization", "",
		},
		{
			"another model",
			map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://gateway:4000/v1"},
			"[agent]\nmodel = \"openai/qwen\"\n",
			"http://gateway:4000/v1", Completions, "k", "OPENAI_API_KEY", "", "OPENAI_BASE_URL",
		},
		{
			"BUDDY_BASE_URL comes first, with a key of its own",
			map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://gateway/v1", "BUDDY_BASE_URL": "http://mine/v1"},
			"[agent]\nmodel = \"openai\"\n", "http://mine/v1", Responses, "", "", "", "BUDDY_BASE_URL",
		},
		{
			"a profile keeps its address",
			map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://gateway/v1"},
			"[models.a]\napi_base_url = \"https://api.openai.com/v1\"\n",
			"https://api.openai.com/v1", Completions, "k", "OPENAI_API_KEY", "", "FILE:2",
		},
		{
			"a profile at that address has no key of the provider",
			map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://gateway/v1"},
			"[models.a]\napi_base_url = \"http://gateway/v1\"\n",
			"http://gateway/v1", Completions, "", "", "", "FILE:2",
		},
		{
			"a token in a profile",
			map[string]string{"ANTHROPIC_AUTH_TOKEN": "t"},
			"[models.a]\napi_base_url = \"https://gateway/v1\"\napi = \"anthropic\"\napi_key_env = \"ANTHROPIC_AUTH_TOKEN\"\n",
			"https://gateway/v1", Anthropic, "t", "ANTHROPIC_AUTH_TOKEN", "Authorization", "FILE:2",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHome(t)
			for name, value := range tt.env {
				t.Setenv(name, value)
			}
			if tt.settings != "" {
				write(t, h.user, tt.settings)
			}
			cfg, index, _ := load(t, Options{})
			p := cfg.Active
			key, source, err := p.Key()
			from := index[Path("models", p.Name, "api_base_url")]
			if p.BaseURL != tt.url || p.API != tt.api || key != tt.key || source != tt.source || err != nil || p.HeaderFor(source) != tt.header || from != strings.ReplaceAll(tt.from, "FILE", h.user) {
				t.Errorf("%s (%s) from %q, key %q from %q in %q, %v", p.BaseURL, p.API, from, key, source, p.HeaderFor(source), err)
			}
			for _, secret := range []string{tt.env["OPENAI_API_KEY"], tt.env["ANTHROPIC_API_KEY"], tt.env["ANTHROPIC_AUTH_TOKEN"]} {
				if secret != "" && !strings.Contains(strings.Join(cfg.Secrets(), " "), secret) {
					t.Errorf("the secret %q is not known as one: %q", secret, cfg.Secrets())
				}
			}
		})
	}
}

// An invalid address is an error with the variable's name when the provider is used, and only then.
func TestBaseURLOfAVendorIsWrong(t *testing.T) {
	h := newHome(t)
	t.Setenv("OPENAI_API_KEY", "k")
	t.Setenv("OPENAI_BASE_URL", "gateway:4000")
	_, _, _, err := Load(Options{})
	wantError(t, err, `OPENAI_BASE_URL: "gateway:4000" has no http or https scheme (allowed: http://HOST/… or https://HOST/…)`)
	write(t, h.user, oneURL)
	load(t, Options{})
}

// A project's file can't use the values of these variables, nor send the provider's key to another address.
func TestProjectSetsNoAddress(t *testing.T) {
	h := newHome(t)
	t.Setenv("OPENAI_API_KEY", "k")
	write(t, h.project, "[models.openai]\napi_base_url = \"http://evil/v1\"\n[agent]\nmodel = \"openai\"\n")
	cfg, _, notices := load(t, Options{})
	if cfg.Active.BaseURL != "https://api.openai.com/v1" || len(notices) == 0 {
		t.Errorf("%s, %q", cfg.Active.BaseURL, notices)
	}
}

// Spaces and a line break around a key are removed, with a notice; a line break inside makes the key invalid.
func TestKeyWithALineBreak(t *testing.T) {
	for _, tt := range []struct{ variable, value, key, settings string }{
		{"OPENAI_API_KEY", "sk-1\n", "sk-1", ""},
		{"OPENAI_API_KEY", " \tsk-1\r\n", "sk-1", ""},
		{"ANTHROPIC_AUTH_TOKEN", "sk-1 ", "sk-1", ""},
		{"BUDDY_API_KEY", "sk-1\n", "sk-1", oneURL},
		{"MINE", "sk-1\n", "sk-1", oneURL + "api_key_env = \"MINE\"\n"},
		{"MINE", "sk-1", "sk-1", oneURL + "api_key_env = \"MINE\"\n"},
	} {
		h := newHome(t)
		t.Setenv(tt.variable, tt.value)
		if tt.settings != "" {
			write(t, h.user, tt.settings)
		}
		cfg, _, notices := load(t, Options{})
		want := tt.variable + " has spaces or a line break around the key; buddy left them out"
		if said := strings.Join(notices, "\n"); (said == want) != (tt.key != tt.value) || tt.key == tt.value && said != "" {
			t.Errorf("%s=%q: notices %q", tt.variable, tt.value, notices)
		}
		if key, _, err := cfg.Active.Key(); key != tt.key || err != nil {
			t.Errorf("%s=%q: key %q, %v", tt.variable, tt.value, key, err)
		}
	}
	newHome(t)
	t.Setenv("OPENAI_API_KEY", "sk-1\nsk-2")
	if cfg, _, _ := load(t, Options{}); !strings.Contains(cfg.Problem, "OPENAI_API_KEY: the key has a space, a line break") || strings.Contains(cfg.Problem, "sk-") {
		t.Errorf("%q", cfg.Problem)
	}
}

// The authorities in a file are added to the system's; a missing file, or one without certificates, is an error.
func TestAuthorities(t *testing.T) {
	h := newHome(t)
	srv := httptest.NewTLSServer(nil)
	defer srv.Close()
	write(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})))
	write(t, "key.pem", "-----BEGIN NOTHING-----\n")
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"":        "",
		"ca.pem":  "",
		"key.pem": `models.a.ca_file: "` + dir + `/key.pem": holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)`,
		"no.pem":  `models.a.ca_file: "` + dir + `/no.pem": no such file or directory`,
	} {
		text := oneURL
		if file != "" {
			text += "ca_file = \"" + dir + "/" + file + "\"\n"
		}
		write(t, h.user, text)
		cfg, _, _ := load(t, Options{})
		pool, err := cfg.Active.with("other").Authorities()
		switch {
		case want != "":
			wantError(t, err, want)
		case err != nil || (pool != nil) != (file != ""):
			t.Errorf("%q: %v, %v", file, pool, err)
		case pool != nil:
			if _, err := srv.Certificate().Verify(x509.VerifyOptions{Roots: pool}); err != nil {
				t.Errorf("the authority is not in the pool: %v", err)
			}
		}
	}
}

package account

import (
	"errors"
	"strings"
	"testing"

	"buddy/app/apptest"
	"buddy/config"
)

// TestKeyIsKept: what the screen does with a key that it was given.
func TestKeyIsKept(t *testing.T) {
	apptest.Home(t)
	if _, err := Find(config.Config{}, "nowhere"); err == nil || !strings.Contains(err.Error(), "unknown provider or profile") {
		t.Error(err)
	}
	a, err := Find(config.Config{}, "openai")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Keep(t.Context(), "sk-typed"); err != nil || a.Name != "openai" || a.Provider.Title != "OpenAI" || a.Login.Issuer != "" {
		t.Errorf("%+v, %v", a, err)
	}
	if all, err := config.Auth().Read(); err != nil || all.Keys["openai"] != "sk-typed" {
		t.Error("not stored", err)
	}
	text, err := a.Forget(t.Context())
	if all, _ := config.Auth().Read(); err != nil || len(all.Keys) != 0 || !strings.Contains(text, "logged out") {
		t.Errorf("%q, %v", text, err)
	}
}

// TestAuthLogin: auth = "login" selects a browser login: at the issuer, or at a provider that needs no client.
func TestAuthLogin(t *testing.T) {
	apptest.Home(t)
	login := config.Login{Auth: config.ByLogin}
	c := config.Config{Models: []config.Profile{
		{Name: "router", BaseURL: "https://openrouter.ai/api/v1", Login: login},
		{Name: "own", BaseURL: "https://llm.example.com/v1", Login: login},
		{Name: "issued", BaseURL: "https://llm.example.com/v1", Login: config.Login{Auth: config.ByLogin, Issuer: "https://id.example.com", ClientID: "x"}},
	}}
	a, err := Find(c, "router")
	if err != nil || !a.Browser || a.Provider.Name != "openrouter" {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err := Find(c, "openrouter"); err != nil || a.Browser {
		t.Errorf("%+v, %v", a, err)
	}
	if f, err := a.Begin(t.Context()); err != nil || !strings.HasPrefix(f.URL, "https://openrouter.ai/auth?callback_url=http%3A%2F%2Flocalhost%3A") || f.Code != "" {
		t.Error(f, err)
	} else if how := HowTo(f); !strings.Contains(how, "in a browser on this machine") {
		t.Error(how)
	}
	if text, ok, err := a.State(t.Context()); ok || err != nil || text != "router: not logged in to OpenRouter (run: buddy login router)" {
		t.Error(text, ok, err)
	}
	if _, err := Find(c, "own"); !errors.Is(err, ErrNoClient) || !strings.Contains(err.Error(), "to use a key, set api_key_env; to log in") {
		t.Error(err)
	}
	if a, err := Find(c, "issued"); err != nil || !a.Browser || a.Login.Issuer == "" {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := config.Auth().SetKey(t.Context(), "openrouter", "sk-or"); err != nil {
		t.Fatal(err)
	}
	if text, ok, _ := a.State(t.Context()); !ok || !strings.HasPrefix(text, "router: key from ") {
		t.Error(text)
	}
	if key, _, err := c.Models[0].Key(); key != "sk-or" || err != nil {
		t.Error(key, err)
	}
	if all := All(c); len(all) != 3+len(config.Providers()) {
		t.Error(all)
	}
}

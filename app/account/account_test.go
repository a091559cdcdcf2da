package account

import (
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

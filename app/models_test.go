package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"buddy/app/slash"
	"buddy/config"
)

// ownHome gives a test a home without settings, keys and servers.
func ownHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "BUDDY_API_KEY", "AGENT_API_KEY", "BUDDY_MODEL", "AGENT_MODEL", "BUDDY_BASE_URL", "AGENT_BASE_URL"} {
		t.Setenv(name, "")
	}
	for _, p := range config.Providers() {
		t.Setenv(p.KeyEnv, "")
	}
	t.Setenv(config.EnvLocal, "off")
	t.Chdir(t.TempDir())
	return home
}

// serveLocal starts a server of models on this machine, known as one of Ollama.
func serveLocal(t *testing.T, models ...string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"object":"list","data":[{"id":"%s"}]}`, strings.Join(models, `"},{"id":"`))
	}))
	t.Cleanup(s.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	t.Setenv(config.EnvLocal, "ollama="+port)
}

// TestOffers (H06): the list has what can be used under the name that chooses it; what a
// server on this machine says is safe to show.
func TestOffers(t *testing.T) {
	ownHome(t)
	serveLocal(t, "qwen3:8b", `\u001b[31mred`)
	t.Setenv("XAI_API_KEY", "xai-key")
	c, index, _, err := loadConfig(&flags{})
	if err != nil {
		t.Fatal(err)
	}
	offers := offersOf(t.Context(), c, index)
	seen := map[string]slash.Offer{}
	for _, o := range offers {
		seen[o.Name] = o
	}
	if o := seen["xai"]; !o.Active || !o.Usable || o.Why != "key from XAI_API_KEY" || o.Window != 200_000 {
		t.Errorf("xai: %+v", o)
	}
	if o := seen["ollama/qwen3:8b"]; !o.Usable || o.Model != "qwen3:8b" || o.From != "Ollama on this machine" || o.Why != "no key needed" {
		t.Errorf("ollama: %+v in %+v", o, offers)
	}
	var table strings.Builder
	printOffers(&table, offers)
	text := table.String() + slash.OffersText(offers, "xai")
	if strings.ContainsAny(text, "\x1b") || strings.Contains(text, "xai-key") || !strings.Contains(text, "\n* 1  xai · grok-4.7 · 200k · $2.00 / $6.00") {
		t.Errorf("%s", text)
	}
	for _, o := range offers {
		if _, ok := c.Lookup(o.Name); !ok && o.Name != config.Demo {
			t.Errorf("%q is offered and chooses nothing", o.Name)
		}
	}
}

// TestSwitchNeedsKey: a provider without a key is refused when it is chosen, not when it is asked.
func TestSwitchNeedsKey(t *testing.T) {
	ownHome(t)
	c, index, _, err := loadConfig(&flags{})
	if err != nil {
		t.Fatal(err)
	}
	p := &program{config: c, index: index}
	if _, err := p.modelOf("openai", ""); err == nil || !strings.Contains(err.Error(), "OPENAI_API_KEY") {
		t.Error(err)
	}
	t.Setenv("OPENAI_API_KEY", "sk-1")
	if m, err := p.modelOf("openai/gpt-9", ""); err != nil || m.Info().Model != "gpt-9" || m.Info().Profile != "openai/gpt-9" {
		t.Error(m, err)
	}
}

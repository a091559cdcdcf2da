package compose

import (
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/fallback"
	"buddy/agent/selection"
	"buddy/app/apptest"
	"buddy/config"
)

// TestConnect: each protocol has its adapter.
func TestConnect(t *testing.T) {
	for _, api := range []config.API{config.Completions, config.Responses, config.Anthropic} {
		m, err := Connect(config.Profile{Name: "a", BaseURL: "http://localhost:1/v1", API: api, ContextLimit: 7}, model.RecoverRetry)
		if err != nil {
			t.Fatal(err)
		}
		if i := m.Info(); i.API != string(api) || i.Profile != "a" || i.Model != "a" || i.Window != 7 {
			t.Errorf("%s: %+v", api, i)
		}
	}
	if m, err := Connect(config.Profile{Name: "a", API: config.Anthropic}, model.RecoverRetry); err == nil || m != nil {
		t.Errorf("%v, %v without a URL", m, err)
	}
}

// TestContextWindow: the profile's window overrides the catalogue; an unknown one is assumed, and marked as such.
func TestContextWindow(t *testing.T) {
	for _, tt := range []struct {
		profile config.Profile
		window  int
		known   bool
	}{
		{config.Profile{Model: "gpt-4o", ContextLimit: 7}, 7, true},
		{config.Profile{Model: "gpt-4o"}, 128_000, true},
		{config.Profile{Model: "unheard-of", ContextLimit: 7}, 7, true},
		{config.Profile{Model: "unheard-of"}, 8192, false},
	} {
		tt.profile.Name, tt.profile.BaseURL, tt.profile.API = "a", "http://localhost:1/v1", config.Completions
		m, err := Connect(tt.profile, model.RecoverRetry)
		if err != nil {
			t.Fatal(err)
		}
		if window, known := selection.New(m, nil).Window(); window != tt.window || known != tt.known {
			t.Errorf("%s with %d: %d, known %v; want %d, %v", tt.profile.Model, tt.profile.ContextLimit, window, known, tt.window, tt.known)
		}
	}
}

// TestDependable: every model except the fallback itself has the fallback.
func TestDependable(t *testing.T) {
	a, b := config.Profile{Name: "a", BaseURL: "http://localhost:1/v1"}, config.Profile{Name: "b", BaseURL: "http://localhost:2/v1"}
	p := &Program{Setup: Setup{Config: config.Config{Models: []config.Profile{a, b}, Agent: config.Agent{FallbackModel: "b"}}}}
	for _, tt := range []struct {
		profile config.Profile
		want    bool
	}{{a, true}, {b, false}} {
		m, err := p.dependable(tt.profile)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := m.(*fallback.Model); ok != tt.want || m.Info().Profile != tt.profile.Name {
			t.Errorf("profile %s: %T of %s", tt.profile.Name, m, m.Info().Profile)
		}
	}
}

// TestPriceOf: the profile's price overrides the documented one of its endpoint.
func TestPriceOf(t *testing.T) {
	const url = "https://api.openai.com/v1"
	tests := []struct {
		name    string
		profile config.Profile
		want    model.Price
	}{
		{"documented", config.Profile{BaseURL: url, Model: "gpt-5.1"}, model.Price{Input: 1_250_000, Cached: 125_000, CacheWrite: 1_250_000, Output: 10_000_000}},
		{"of another seller", config.Profile{BaseURL: "https://example.com/v1", Model: "gpt-5.1"}, model.Price{}},
		{"said", config.Profile{BaseURL: url, Model: "gpt-5.1", Prices: model.Price{Input: 2, Cached: 1, CacheWrite: 3, Output: 4}}, model.Price{Input: 2, Cached: 1, CacheWrite: 3, Output: 4}},
		{"said in part", config.Profile{BaseURL: url, Prices: model.Price{Input: 2, Output: 4}}, model.Price{Input: 2, Cached: 2, CacheWrite: 2, Output: 4}},
	}
	for _, tt := range tests {
		tt.profile.Name = "a"
		m, err := Connect(tt.profile, model.RecoverRetry)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Info().Price; got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestSwitchNeedsKey: a provider without a key is refused when it is chosen, not at the first request.
func TestSwitchNeedsKey(t *testing.T) {
	apptest.Home(t)
	c, index, _, err := LoadConfig(&Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &Program{Setup: Setup{Config: c, Index: index}}
	if _, err := p.modelOf("openai", ""); err == nil || !strings.Contains(err.Error(), "OPENAI_API_KEY") {
		t.Error(err)
	}
	t.Setenv("OPENAI_API_KEY", "sk-1")
	if m, err := p.modelOf("openai/gpt-9", ""); err != nil || m.Info().Model != "gpt-9" || m.Info().Profile != "openai/gpt-9" {
		t.Error(m, err)
	}
}

package app

import (
	"testing"

	"buddy/config"
)

// TestConnect (M05, H04): each wire format has its adapter.
func TestConnect(t *testing.T) {
	for _, api := range []config.API{config.Completions, config.Responses, config.Anthropic} {
		m, err := connect(config.Profile{Name: "a", BaseURL: "http://localhost:1/v1", API: api, ContextLimit: 7})
		if err != nil {
			t.Fatal(err)
		}
		if i := m.Info(); i.API != string(api) || i.Profile != "a" || i.Model != "a" || i.Window != 7 {
			t.Errorf("%s: %+v", api, i)
		}
	}
	if m, err := connect(config.Profile{Name: "a", API: config.Anthropic}); err == nil || m != nil {
		t.Errorf("%v, %v without a URL", m, err)
	}
}

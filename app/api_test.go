package app

import (
	"testing"

	"buddy/config"
)

// TestAPI (H04): the profile's api chooses the adapter.
func TestAPI(t *testing.T) {
	for _, api := range []config.API{config.Completions, config.Responses} {
		m, err := connect(config.Profile{Name: "p", Model: "m", BaseURL: "http://localhost:1/v1", API: api})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Info().API; got != string(api) {
			t.Errorf("%s: the model speaks %s", api, got)
		}
	}
}

package anthropic

import "testing"

// TestLimits: an answer stays within the runtime's share of the window, but has room for the thinking and an answer,
// and at most the model's maximum.
func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		config Config
		want   int
	}{
		{Config{}, 8192},
		{Config{Window: 1_000_000, MaxOutput: 128_000}, 50_000},
		{Config{Window: 200_000, MaxOutput: 64_000}, 10_000},
		{Config{Window: 40_000, MaxOutput: 128_000}, 8192},
		{Config{Window: 8192, MaxOutput: 4096}, 4096},
		{Config{Window: 1_000_000, MaxOutput: 128_000, MaxTokens: 60_000}, 60_000},
		{Config{Window: 200_000, MaxOutput: 64_000, Effort: "high"}, 24_576},
		{Config{Window: 1_000_000, MaxOutput: 128_000, Effort: "max"}, 57_344},
		{Config{Effort: "max"}, 57_344},
	} {
		tt.config.BaseURL, tt.config.Model = "https://api.example.com/v1", "claude-x"
		m, err := newAdapter(tt.config)
		if err != nil || m.maxTokens != tt.want {
			t.Errorf("%+v: %v, want %d", tt.config, err, tt.want)
		}
	}
	if _, err := newAdapter(Config{BaseURL: "https://api.example.com/v1", Model: "claude-x", Effort: "max", MaxTokens: 8192}); err == nil {
		t.Error("a limit without room for an answer was taken")
	}
}

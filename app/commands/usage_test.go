package commands

import (
	"math"
	"strings"
	"testing"
	"time"

	"buddy/agent/model"
	"buddy/sessions"
)

// Numbers that make no sense, as a provider or a damaged session may have them, are shown and stop nothing.
func TestUsageOfStrangeNumbers(t *testing.T) {
	t.Parallel()
	if got := numbers(sessions.Use{Requests: 1, Cached: 5}); !strings.HasPrefix(got, "1 request · 0 tokens in, 0 out") {
		t.Errorf("%q", got)
	}
	for _, tt := range []struct {
		limit model.RateLimit
		want  string
	}{
		{model.RateLimit{Of: "x", Limit: 100, Remaining: 7}, "93% used · 7 of 100 left"},
		{model.RateLimit{Of: "x", Limit: math.MaxInt64}, "100% used"},
		{model.RateLimit{Of: "x", Limit: 5, Remaining: -5}, "100% used"},
		{model.RateLimit{Of: "x", Limit: 5, Remaining: 50}, "0% used"},
		{model.RateLimit{Of: "x"}, "0% used"},
	} {
		if got := limitsOf([]model.RateLimit{tt.limit}, time.Now()).Values[0].Text; !strings.HasPrefix(got, tt.want) {
			t.Errorf("%+v: %q, want %q", tt.limit, got, tt.want)
		}
	}
}

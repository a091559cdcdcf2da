package endpoint

import (
	"net/http"
	"testing"
	"time"
)

// TestAskedWait reads the waits of servers in all spellings.
func TestAskedWait(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		header []string // names and values
		body   string
		want   time.Duration
	}{
		{nil, "", 0},
		{[]string{"Retry-After", "7"}, "", 7 * time.Second},
		{[]string{"Retry-After", "0.25"}, "", 250 * time.Millisecond},
		{[]string{"Retry-After", "Sun, 22 Nov 2026 12:01:00 GMT"}, "", time.Minute},
		{[]string{"Retry-After", "Sun, 22 Nov 2026 11:00:00 GMT"}, "", 0},
		{[]string{"Retry-After", "soon", "X-Ratelimit-Reset-Requests", "6m0s"}, "", 6 * time.Minute},
		{[]string{"Retry-After", "9", "Retry-After-Ms", "1500"}, "", 1500 * time.Millisecond},
		{[]string{"X-Ratelimit-Reset-Requests", "1s", "X-Ratelimit-Reset-Tokens", "7.66s"}, "", time.Second},
		{[]string{"X-Ratelimit-Reset-Requests", "1s", "X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Tokens", "9s", "X-Ratelimit-Remaining-Tokens", "0"}, "", 9 * time.Second},
		{[]string{"X-Ratelimit-Reset-Requests", "2s", "X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Tokens", "9s", "X-Ratelimit-Remaining-Tokens", "500"}, "", 2 * time.Second},
		{[]string{"X-Ratelimit-Reset", "1795348830000"}, "", 30 * time.Second},
		{[]string{"X-Ratelimit-Reset", "1795348830"}, "", 30 * time.Second},
		{[]string{"Anthropic-Ratelimit-Input-Tokens-Reset", "2026-11-22T12:00:40Z", "Anthropic-Ratelimit-Input-Tokens-Remaining", "0"}, "", 40 * time.Second},
		{nil, "Please try again in 250ms.", 250 * time.Millisecond},
		{nil, "Please try again in 2.5s. Visit https://x", 2500 * time.Millisecond},
		{nil, "Please retry in 36.5s.", 36500 * time.Millisecond},
		{nil, "try again in 1h2m3s", time.Hour + 2*time.Minute + 3*time.Second},
		{nil, "Retry after 20 seconds", 20 * time.Second},
		{nil, "try again in 5 minutes", 5 * time.Minute},
		{nil, "try again in a while", 0},
		{nil, `{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"free","resets_at":1795352400,"resets_in_seconds":3600}}`, time.Hour},
		{nil, `{"error":{"type":"usage_limit_reached","resets_at":null,"resets_in_seconds":null}}`, 0},
		{nil, `{"error":{"message":"Rate limit exceeded: free-models-per-day.","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"50","X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1795392000000"}}}}`, 12 * time.Hour},
		{[]string{"Retry-After", "5"}, `{"error":{"resets_in_seconds":60}}`, 5 * time.Second},
	} {
		h := http.Header{}
		for i := 0; i < len(tt.header); i += 2 {
			h.Set(tt.header[i], tt.header[i+1])
		}
		if got := askedWait(h, tt.body, now); got != tt.want {
			t.Errorf("%q %q: %v, want %v", tt.header, tt.body, got, tt.want)
		}
	}
}

package endpoint

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"buddy/agent/model"
)

// Rate limits in the headers of OpenAI, Anthropic and OpenRouter are understood; what makes no sense is left out.
func TestRateLimitsInHeaders(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_790_000_000_000)
	in := func(d time.Duration) int64 { return now.Add(d).UnixMilli() }
	for name, tt := range map[string]struct {
		headers map[string]string
		want    []model.RateLimit
	}{
		"none": {map[string]string{"Content-Type": "text/event-stream"}, nil},
		"OpenAI": {
			map[string]string{
				"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "59", "x-ratelimit-reset-requests": "1s",
				"x-ratelimit-limit-tokens": "150000", "x-ratelimit-remaining-tokens": "4500", "x-ratelimit-reset-tokens": "6m0s",
			},
			[]model.RateLimit{{Of: "requests", Limit: 60, Remaining: 59, Reset: in(time.Second)}, {Of: "tokens", Limit: 150_000, Remaining: 4500, Reset: in(6 * time.Minute)}},
		},
		"Anthropic": {
			map[string]string{
				"anthropic-ratelimit-input-tokens-limit": "1000", "anthropic-ratelimit-input-tokens-remaining": "0",
				"anthropic-ratelimit-input-tokens-reset": now.Add(time.Minute).UTC().Format(time.RFC3339),
			},
			[]model.RateLimit{{Of: "input tokens", Limit: 1000, Reset: now.Add(time.Minute).Truncate(time.Second).UnixMilli()}},
		},
		"OpenRouter": {
			map[string]string{"X-RateLimit-Limit": "20", "X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "1790000060000"},
			[]model.RateLimit{{Of: "requests", Limit: 20, Remaining: 1, Reset: in(time.Minute)}},
		},
		"without a reset": {map[string]string{"X-RateLimit-Limit": "20", "X-RateLimit-Remaining": "1"}, []model.RateLimit{{Of: "requests", Limit: 20, Remaining: 1}}},
		"nonsense": {map[string]string{
			"x-ratelimit-limit-a": "0", "x-ratelimit-remaining-a": "0", "x-ratelimit-limit-b": "5", "x-ratelimit-remaining-b": "6",
			"x-ratelimit-limit-c": "5", "x-ratelimit-remaining-c": "-1", "x-ratelimit-remaining-d": "1", "x-ratelimit-limit-f~": "5", "x-ratelimit-remaining-f~": "5", "x-ratelimit-limit-e": "many", "x-ratelimit-remaining-e": "1",
			"x-ratelimit-limit-a-name-that-has-more-than-thirty-bytes": "5", "x-ratelimit-remaining-a-name-that-has-more-than-thirty-bytes": "5",
		}, nil},
	} {
		h := make(http.Header)
		for k, v := range tt.headers {
			h.Set(k, v)
		}
		if got := limits(h, now); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

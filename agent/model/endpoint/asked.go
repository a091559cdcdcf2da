package endpoint

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"buddy/agent/model"
)

// askedWait returns how long an answer with an error status asks to wait; 0 when it does
// not say. The plainest word counts: Retry-After-Ms, Retry-After, then when a limit that is
// used up is reset, then what the text says.
func askedWait(h http.Header, body string, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	if wait := until(h.Get("Retry-After"), now); wait > 0 {
		return wait
	}
	if wait := reset(h, now); wait > 0 {
		return wait
	}
	if wait := resetIn(body, now); wait > 0 {
		return wait
	}
	return model.AskedWait(body)
}

// resets finds the members of an error object that say when a quota is back: "resets_at" and "resets_in_seconds" of
// ChatGPT's plans (github.com/router-for-me/CLIProxyAPI/issues/1666), "X-RateLimit-Reset" of OpenRouter, whose headers
// are in the body too (github.com/Gitlawb/openclaude/issues/936).
var resets = regexp.MustCompile(`(?i)"(?:resets_at|resets_in_seconds|x-ratelimit-reset)"\s*:\s*"?([\w.:+-]{1,40})`)

// resetIn returns the longest wait of those that an error object names.
func resetIn(body string, now time.Time) time.Duration {
	var longest time.Duration
	for _, m := range resets.FindAllStringSubmatch(body, 10) {
		longest = max(longest, until(m[1], now))
	}
	return longest
}

// reset returns when limits are reset that are used up: the last of them; where no header
// tells which are, the first. Names and values:
// developers.openai.com/api/docs/guides/rate-limits (x-ratelimit-reset-requests: 6m0s),
// platform.claude.com/docs/en/api/rate-limits (anthropic-ratelimit-tokens-reset: RFC 3339),
// openrouter.ai/docs/api/reference/limits (X-RateLimit-Reset: milliseconds since 1970).
func reset(h http.Header, now time.Time) time.Duration {
	var used, first time.Duration
	for name := range h {
		low := strings.ToLower(name)
		if !strings.Contains(low, "ratelimit") || !strings.Contains(low, "reset") {
			continue
		}
		wait := until(h.Get(name), now)
		if wait <= 0 {
			continue
		}
		left := h.Get(strings.Replace(low, "reset", "remaining", 1))
		switch {
		case left == "0":
			used = max(used, wait)
		case left == "" && (first == 0 || wait < first):
			first = wait
		}
	}
	if used > 0 {
		return used
	}
	return first
}

// until reads seconds, a duration such as 6m0s, a date, or seconds or milliseconds since
// 1970, as a wait from now; 0 when it is none or over.
func until(v string, now time.Time) time.Duration {
	v = strings.TrimSpace(v)
	if n, err := strconv.ParseFloat(v, 64); err == nil {
		switch {
		case n >= 1e12 && n < 1e14:
			return max(0, time.UnixMilli(int64(n)).Sub(now))
		case n >= 1e9 && n < 1e11:
			return max(0, time.Unix(int64(n), 0).Sub(now))
		case n > 0 && n < 1e6:
			return time.Duration(n * float64(time.Second))
		}
		return 0
	}
	if d, err := time.ParseDuration(v); err == nil {
		return max(0, d)
	}
	if t, err := time.Parse(time.RFC3339, v); err == nil {
		return max(0, t.Sub(now))
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

package endpoint

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"buddy/agent/model"
)

// askedWait returns how long a server that answered with an error status asks the client to wait, or 0 if it does not
// ask. The most precise source wins: Retry-After-Ms, Retry-After, the time when an exhausted limit is reset, then the
// text.
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

// resets matches the members of an error object with the time when a quota is reset: "resets_at" and
// "resets_in_seconds" of ChatGPT's plans (github.com/router-for-me/CLIProxyAPI/issues/1666), "X-RateLimit-Reset" of
// OpenRouter, which repeats headers in the body (github.com/Gitlawb/openclaude/issues/936).
var resets = regexp.MustCompile(`(?i)"(?:resets_at|resets_in_seconds|x-ratelimit-reset)"\s*:\s*"?([\w.:+-]{1,40})`)

// resetIn returns the longest wait that an error object mentions.
func resetIn(body string, now time.Time) time.Duration {
	var longest time.Duration
	for _, m := range resets.FindAllStringSubmatch(body, 10) {
		longest = max(longest, until(m[1], now))
	}
	return longest
}

// reset returns the wait until all exhausted limits are reset. If the headers don't show which limits are exhausted, it
// returns the wait until the first reset. Names and values: developers.openai.com/api/docs/guides/rate-limits
// (x-ratelimit-reset-requests: 6m0s), platform.claude.com/docs/en/api/rate-limits (anthropic-ratelimit-tokens-reset:
// RFC 3339), openrouter.ai/docs/api/reference/limits (X-RateLimit-Reset: milliseconds since 1970).
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
		remaining := h.Get(strings.Replace(low, "reset", "remaining", 1))
		switch {
		case remaining == "0":
			used = max(used, wait)
		case remaining == "" && (first == 0 || wait < first):
			first = wait
		}
	}
	if used > 0 {
		return used
	}
	return first
}

// until returns the wait from now until v, which is a number of seconds, a duration such as 6m0s, a date, or a Unix
// time in seconds or milliseconds. It returns 0 if v is invalid or past.
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

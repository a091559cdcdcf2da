package endpoint

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"buddy/agent/model"
)

const (
	maxLimits    = 8  // rate limits of an answer
	maxLimitName = 30 // bytes
	plainName    = "abcdefghijklmnopqrstuvwxyz0123456789 "
)

// limits returns the rate limits in the headers of an answer, sorted by name. Each limit has three headers, such as
// X-RateLimit-Limit-Tokens, X-RateLimit-Remaining-Tokens and X-RateLimit-Reset-Tokens. The comment of reset links to
// the names.
func limits(h http.Header, now time.Time) []model.RateLimit {
	var all []model.RateLimit
	for header := range h {
		low := strings.ToLower(header)
		if !strings.Contains(low, "ratelimit") || !strings.Contains(low, "remaining") {
			continue
		}
		of := func(what string) string { return h.Get(strings.Replace(low, "remaining", what, 1)) }
		limit, err := strconv.ParseInt(of("limit"), 10, 64)
		remaining, err2 := strconv.ParseInt(h.Get(header), 10, 64)
		name := limitName(low)
		if err != nil || err2 != nil || limit <= 0 || remaining < 0 || remaining > limit || len(name) > maxLimitName || strings.Trim(name, plainName) != "" {
			continue
		}
		l := model.RateLimit{Of: name, Limit: limit, Remaining: remaining}
		if wait := until(of("reset"), now); wait > 0 {
			l.Reset = now.Add(wait).UnixMilli()
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b model.RateLimit) int { return cmp.Compare(a.Of, b.Of) })
	return all[:min(len(all), maxLimits)]
}

// limitName returns the words of a header's name that say what is limited. OpenRouter's X-RateLimit-Remaining has none;
// it counts requests.
func limitName(header string) string {
	words := slices.DeleteFunc(strings.Split(header, "-"), func(w string) bool {
		return w == "x" || w == "anthropic" || w == "ratelimit" || w == "remaining"
	})
	return cmp.Or(strings.Join(words, " "), "requests")
}

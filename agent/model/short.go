package model

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"buddy/texts"
)

// Short says in a few words what happened, with the provider's own if they add something: "Overloaded (529)",
// "Rate limited (429): try again in 6.7 s".
func (e *Error) Short() string {
	if e.Status == 0 || e.Kind != ReportedError && e.Kind != StatusError {
		what, _, _ := strings.Cut(e.What, ": ")
		return texts.Capital(what)
	}
	text := fmt.Sprintf("%s (%d)", statusName(e.Status), e.Status)
	if own := ownWords(e.Said); own != "" && !strings.Contains(strings.ToLower(text), strings.ToLower(own)) {
		text += ": " + own
	}
	return text
}

// statusName says what an HTTP status means to a person.
func statusName(code int) string {
	switch code {
	case http.StatusTooManyRequests:
		return "Rate limited"
	case http.StatusInternalServerError:
		return "Server error"
	case http.StatusServiceUnavailable:
		return "Unavailable"
	}
	name := texts.Capital(strings.TrimSpace(strings.TrimPrefix(StatusText(code), strconv.Itoa(code))))
	if name == "" {
		return "Error"
	}
	return name
}

// waitWords matches what providers write about when to come back: "Please try again in 6.66s."
var waitWords = regexp.MustCompile(`(?i)(try again|retry) (?:in|after) (\d+(?:\.\d+)?) ?(ms|s|m|h|milliseconds?|seconds?|minutes?|hours?)\b`)

// mostOwn limits what of a provider's own words is said in short, in runes.
const mostOwn = 90

// ownWords returns the part of a provider's message that matters to a person who waits: when to come back, else its first
// sentence.
func ownWords(said string) string {
	if m := waitWords.FindStringSubmatch(said); m != nil {
		n, _ := strconv.ParseFloat(m[2], 64) // the pattern makes it a number
		unit := m[3]
		switch {
		case strings.HasPrefix(unit, "ms") || strings.HasPrefix(unit, "milli"):
			n, unit = n/1000, "s"
		case unit[0] == 'm' || unit[0] == 'M':
			unit = "min"
		default:
			unit = strings.ToLower(unit[:1])
		}
		return fmt.Sprintf("try again in %s %s", strconv.FormatFloat(math.Round(n*10)/10, 'f', -1, 64), unit)
	}
	first, _, _ := strings.Cut(said, ". ")
	first = strings.TrimRight(strings.TrimSpace(first), ".")
	if r := []rune(first); len(r) > mostOwn {
		first = strings.TrimSpace(string(r[:mostOwn])) + "…"
	}
	return first
}

package model

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"buddy/texts"
)

// Short says in a few words what happened, with the provider's own if they add something: "Overloaded (529)",
// "Server error (500): No GPU left".
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

// mostOwn limits what of a provider's own words is said in short, in runes.
const mostOwn = 90

// ownWords returns the part of a provider's message that matters to a person: its first sentence. When to come back is
// not repeated: the wait is shown as it passes, and two waits would contradict each other.
func ownWords(said string) string {
	if AskedWait(said) > 0 {
		return ""
	}
	first, _, _ := strings.Cut(said, ". ")
	first = strings.TrimRight(strings.TrimSpace(first), ".")
	if r := []rune(first); len(r) > mostOwn {
		first = strings.TrimSpace(string(r[:mostOwn])) + "…"
	}
	return first
}

package model

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"buddy/texts"
)

// Short returns a few words about what happened, and the provider's own words if they add something: "Overloaded
// (529)", "Server error (500): No GPU left".
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

// statusName returns the meaning of an HTTP status in plain words.
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

// mostOwn limits the length of a provider's own words, in runes.
const mostOwn = 90

// ownWords returns the first sentence of a provider's message. If the message asks to wait, it returns "", because a
// countdown shows the wait already.
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

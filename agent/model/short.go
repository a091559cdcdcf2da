package model

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"buddy/texts"
)

// Short returns a few words about what happened, such as "Overloaded (529)". If the provider's message adds something,
// they include it: "Server error (500): No GPU left".
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

// mostOwn limits how much of a provider's message Short includes, in runes.
const mostOwn = 90

// ownWords returns the first sentence of a provider's message. It returns "" if the message asks the client to wait,
// because a countdown already shows that.
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

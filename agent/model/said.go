package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Heard keeps what a server answered with an error: its words, and how it began.
func (e *Error) Heard(answer []byte) {
	e.Said, e.Body = Words(answer), excerpt(answer, bodyLimit)
	if IsPage(answer) {
		e.Said = Excerpt([]byte(pageText(string(answer), StatusText(e.Status))))
	}
}

// Malformed returns a FormatError about an answer; cause may be nil.
func Malformed(what string, answer []byte, cause error) *Error {
	e := &Error{Kind: FormatError, What: what, Err: cause}
	e.Heard(answer)
	return e
}

// Cut returns the error of an answer that was cut off.
func Cut() *Error { return &Error{Kind: CutError, What: "the answer was cut off"} }

// Cause is Error without what to do. A key that was refused comes before all else: the address says nothing about it.
func (e *Error) Cause() string {
	text := e.What
	if e.Kind == StatusError && e.Status == http.StatusUnauthorized {
		if own := ownWords(e.Said); own != "" {
			text += ". " + own
		}
		return text
	}
	if u, err := url.Parse(e.Endpoint); err == nil && u.Host != "" {
		text = u.Host + ": " + text
	}
	if e.Said != "" {
		text += ": " + e.Said
	}
	if e.Tries > 1 {
		text += fmt.Sprintf(" (tried %d times)", e.Tries)
	}
	return text
}

// StatusText is an HTTP status for people: "401 unauthorized".
func StatusText(code int) string {
	const overloaded = 529 // Anthropic's, which no standard has
	text := strings.ToLower(http.StatusText(code))
	if code == overloaded {
		text = "overloaded"
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, text))
}

// Back says when a server takes requests again that asks to wait: "requests are taken again at 18:40, in 2h5m".
func Back(wait time.Duration) string {
	at := time.Now().Add(wait)
	layout := "15:04"
	if wait > 12*time.Hour {
		layout = "Mon 2 Jan 15:04"
	}
	in := wait.Round(time.Minute).String()
	return "requests are taken again at " + at.Format(layout) + ", in " + strings.TrimSuffix(in, "0s")
}

// Raw returns what the server answered, with the address and the status, for a person who asks to see it;
// "" if nothing of an answer came.
func (e *Error) Raw() string {
	if e.Body == "" {
		return ""
	}
	text := e.Endpoint
	if e.Status != 0 {
		text = strings.TrimSpace(fmt.Sprintf("%s %d", text, e.Status))
	}
	return strings.TrimSpace(text + "\n" + e.Body)
}

// Tell takes an error apart for people: one sentence with the cause, what to do, and what the server
// answered. The last two may be empty.
func Tell(err error) (cause, next, raw string) {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err.Error(), "", ""
	}
	if err.Error() == e.Error() { // nothing was said around it
		return e.Cause(), e.Hint, e.Raw()
	}
	return err.Error(), "", e.Raw()
}

// said finds the member of an object that holds words for people. The answer may be cut off, and nobody
// knows its shape, so it is not decoded as a whole.
var said = regexp.MustCompile(`"(message|msg|detail|error_description|error)"\s*:\s*("(?:[^"\\]|\\.)+")`)

// embedded matches the beginning of an object in the middle of words.
var embedded = regexp.MustCompile(`[\s:(\-]*[\[{]\s*[\[{]?\s*['"]`)

// Words returns what an answer says to people, as Excerpt does: the message of an error object, or plain
// text. A web page and an object without a message say nothing.
func Words(answer []byte) string {
	text := strings.TrimSpace(string(answer))
	text = strings.TrimSpace(strings.TrimPrefix(text, "data:"))
	for range 3 { // a message may hold another server's object
		if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[{") {
			break
		}
		if text = strings.TrimSpace(message(text)); text == "" {
			return ""
		}
	}
	if at := embedded.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	if strings.HasPrefix(text, "<") {
		return ""
	}
	return Excerpt([]byte(text))
}

// message returns the first member of an object that is words for people; one that is named so comes
// before others.
func message(object string) string {
	first := ""
	for _, m := range said.FindAllStringSubmatch(object, 20) {
		var text string
		if json.Unmarshal([]byte(m[2]), &text) != nil {
			continue
		}
		if m[1] == "message" {
			return text
		}
		if first == "" {
			first = text
		}
	}
	return first
}

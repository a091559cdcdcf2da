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

// Heard sets Said and Body from the server's answer to a failed request.
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

// Cut returns the error for an answer that was cut off.
func Cut() *Error { return &Error{Kind: CutError, What: "the answer was cut off"} }

// Cause returns the text of Error without the hint. If the server refused the key, it omits the server's address, which
// would not explain anything.
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

// StatusText returns an HTTP status with its meaning, such as "401 unauthorized".
func StatusText(code int) string {
	const overloaded = 529 // used by Anthropic, in no standard
	text := strings.ToLower(http.StatusText(code))
	if code == overloaded {
		text = "overloaded"
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, text))
}

// Back tells the user when a server that asked to wait will accept requests again: "requests are accepted again at
// 18:40, in 2h5m".
func Back(wait time.Duration) string {
	at := time.Now().Add(wait)
	layout := "15:04"
	if wait > 12*time.Hour {
		layout = "Mon 2 Jan 15:04"
	}
	in := wait.Round(time.Minute).String()
	return "requests are accepted again at " + at.Format(layout) + ", in " + strings.TrimSuffix(in, "0s")
}

// Raw returns the server's answer with the address and the status, to show on request; "" if there was no answer.
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

// Tell splits an error for display: one sentence with the cause, the next step, and the server's answer. The last two
// may be empty.
func Tell(err error) (cause, next, raw string) {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err.Error(), "", ""
	}
	if err.Error() == e.Error() { // err is not wrapped
		return e.Cause(), e.Hint, e.Raw()
	}
	return err.Error(), "", e.Raw()
}

// messageMember finds the member of an error object that contains the message for users. It searches the text instead
// of decoding it, because the answer may be cut off and its structure is unknown.
var messageMember = regexp.MustCompile(`"(message|msg|detail|error_description|error)"\s*:\s*("(?:[^"\\]|\\.)+")`)

// embedded matches where an object starts inside a sentence.
var embedded = regexp.MustCompile(`[\s:(\-]*[\[{]\s*[\[{]?\s*['"]`)

// Words returns the message in a server's answer, shortened by Excerpt: the message of an error object, or plain text.
// It returns "" for a web page, and for an object without a message.
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

// message returns the value of the first "message" in an object, or else of the first member that may contain a
// message.
func message(object string) string {
	first := ""
	for _, m := range messageMember.FindAllStringSubmatch(object, 20) {
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

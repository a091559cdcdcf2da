package sse

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"buddy/agent/model"
)

// reported returns the error in an event that contains an error instead of a part of the answer: {"error": {…}},
// {"error": "text"}, {"type": "error", …}, {"object": "error", …}, or any data if the event's name is error (named).
func reported(event []byte, named bool) error {
	if !named && !bytes.Contains(event, []byte(`"error"`)) {
		return nil
	}
	var e struct {
		Error, Code           json.RawMessage
		Type, Object, Message json.RawMessage
	}
	if json.Unmarshal(event, &e) != nil && !named {
		return nil // the adapter reports what is wrong with it
	}
	switch {
	case !isBlank(e.Error):
		return Reported(e.Error)
	case named, text(e.Type) == "error" || text(e.Object) == "error":
		return Reported(event)
	}
	return nil
}

func isBlank(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "{}", `""`, "false":
		return true
	}
	return false
}

// text returns a JSON string's value, or a number's digits; "" for anything else.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

// Reported converts an error object to a [model.Error] without an Endpoint. It reads the members that most providers
// use.
func Reported(raw json.RawMessage) error {
	e := &model.Error{Kind: model.ReportedError, What: "the server reported an error in its answer"}
	var o struct{ Message, Detail, Type, Code, Status json.RawMessage }
	if json.Unmarshal(raw, &o) != nil {
		message := cmp.Or(text(raw), string(raw))
		e.Heard([]byte(message))
		e.RetryAfter = model.AskedWait(message)
		e.Status = statusOf(e.Body)
		return classify(e, e.Body)
	}
	e.Heard(raw)
	e.Said = model.Words([]byte(cmp.Or(text(o.Message), text(o.Detail), string(raw))))
	e.RetryAfter = model.AskedWait(cmp.Or(text(o.Message), text(o.Detail), string(raw)))
	e.Status = statusOf(text(o.Code), text(o.Status), text(o.Type))
	return classify(e, string(raw))
}

// classify makes e a ContextError if the message means that the request is too long.
func classify(e *model.Error, message string) error {
	if window, ok := model.Overflow(message); ok && !e.Overloaded() {
		e.Kind, e.Status, e.Window = model.ContextError, 400, window
	} else if model.OverRate(message) {
		e.Kind, e.Status = model.ContextError, 400
	}
	return e
}

// These words in an error's type or code show that sending the same request again is useless (permanent) or may help
// (busy).
var (
	permanent = []string{"invalid", "not_found", "authentication", "permission", "context_length", "quota", "content_filter", "unsupported", "too_large", "billing"}
	busy      = []string{"rate_limit", "too_many", "resource_exhausted"}
)

// statusOf returns the HTTP status that a server's name for an error corresponds to, or 500 if the name is unknown: a
// request that the server has started to answer was not wrong.
func statusOf(words ...string) int {
	for _, w := range words {
		if n, err := strconv.Atoi(w); err == nil && n >= 400 && n < 600 {
			return n
		}
	}
	all := strings.ToLower(strings.Join(words, " "))
	for _, w := range busy {
		if strings.Contains(all, w) {
			return 429
		}
	}
	if strings.Contains(all, "overloaded") {
		return 529
	}
	for _, w := range permanent {
		if strings.Contains(all, w) {
			return 400
		}
	}
	return 500
}

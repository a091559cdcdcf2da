package completions

import (
	"bytes"
	"encoding/json"
	"slices"

	"buddy/agent/model/wire"
)

// template holds the bytes around the string in an event that contains only one string: a piece of the text, of
// reasoning or of a call's arguments. Servers repeat these bytes in the following events, so only the string must be
// read. That saves three quarters of the work for a long answer (BenchmarkClient).
type template struct {
	head, tail []byte // around the string, without its quotes
	apply      func(*answer, json.RawMessage) error
}

// learn stores an event as the template. If the event has other content besides one string, it clears the template.
func (t *template) learn(event []byte, c chunk) {
	t.head = t.head[:0]
	if len(c.Choices) != 1 || c.Choices[0].Index != 0 || c.Choices[0].Finish != nil || c.Choices[0].Message != nil || !isBlank(c.Usage) {
		return
	}
	text, apply := only(c.Choices[0].Delta)
	if len(text) <= len(`""`) || text[0] != '"' || bytes.Count(event, text) != 1 {
		return
	}
	i := bytes.Index(event, text)
	t.head = append(t.head, event[:i]...)
	t.tail = append(t.tail[:0], event[i+len(text):]...)
	t.apply = apply
}

// only returns a delta's value and the function that adds it to an answer, or nil if the delta has several values.
func only(delta wire.Members) (raw json.RawMessage, apply func(*answer, json.RawMessage) error) {
	key := ""
	for k, v := range delta {
		if k == "role" || isBlank(v) {
			continue
		}
		if key != "" {
			return nil, nil
		}
		key = k
	}
	switch {
	case key == "content":
		return delta[key], (*answer).content
	case key == "tool_calls":
		return onlyArguments(delta[key])
	case isTrace(key):
		return delta[key], func(a *answer, raw json.RawMessage) error { return a.merge(wire.Members{key: raw}) }
	}
	return nil, nil
}

func onlyArguments(raw json.RawMessage) (json.RawMessage, func(*answer, json.RawMessage) error) {
	var list []wire.Members
	if json.Unmarshal(raw, &list) != nil || len(list) != 1 {
		return nil, nil
	}
	p, err := readPiece(list[0])
	if err != nil || p.index < 0 || p.id != "" || p.name != "" || len(p.extra) > 0 {
		return nil, nil
	}
	return p.args, func(a *answer, raw json.RawMessage) error { return a.callPiece(piece{index: p.index, args: raw}) }
}

// match returns the string of an event that otherwise equals the template.
func (t *template) match(event []byte) (json.RawMessage, bool) {
	end := len(event) - len(t.tail)
	if len(t.head) == 0 || end < len(t.head)+len(`""`) || !bytes.HasPrefix(event, t.head) || !bytes.HasSuffix(event, t.tail) {
		return nil, false
	}
	raw := event[len(t.head):end]
	if raw[0] != '"' || raw[len(raw)-1] != '"' {
		return nil, false
	}
	special := func(b byte) bool { return b < ' ' || b == '"' || b == '\\' }
	if slices.ContainsFunc(raw[1:len(raw)-1], special) && !json.Valid(raw) {
		return nil, false // the string ends earlier and more follows
	}
	return raw, true
}

package completions

import (
	"bytes"
	"encoding/json"
	"slices"

	"buddy/agent/model/wire"
)

// template is the form of the last event that had only one string: a piece of the text, of reasoning or of a call's
// arguments. Servers repeat the rest byte for byte, so the next such event is read without parsing, which saves three
// quarters of the work for a long answer (BenchmarkClient).
type template struct {
	head, tail []byte // around the string, without its quotes
	apply      func(*answer, json.RawMessage) error
}

// learn stores the form of an event, or clears the form if the event has more than a string.
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

// only returns the only value of a delta and the function that adds it; nil if it has several.
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

// match returns the string of an event of the same form.
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

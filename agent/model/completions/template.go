package completions

import (
	"bytes"
	"encoding/json"
	"slices"
)

// template is the form of the last event that held nothing but text. Servers repeat it
// byte for byte around every piece, so the next one is read without parsing the rest:
// a quarter of the work for a long answer (BenchmarkClient).
type template struct{ head, tail []byte } // up to the text, with its quotes

// learn remembers the form of an event, or forgets when it holds more than text.
func (t *template) learn(event []byte, c chunk) {
	t.head = t.head[:0]
	if len(c.Choices) != 1 || c.Choices[0].Index != 0 || c.Choices[0].Finish != nil || c.Choices[0].Message != nil || !isBlank(c.Usage) {
		return
	}
	delta := c.Choices[0].Delta
	for k, raw := range delta {
		if k != "content" && k != "role" && !isBlank(raw) {
			return
		}
	}
	text := delta["content"]
	if len(text) <= len(`""`) || text[0] != '"' || bytes.Count(event, text) != 1 {
		return
	}
	i := bytes.Index(event, text)
	t.head = append(t.head, event[:i+1]...)
	t.tail = append(t.tail[:0], event[i+len(text)-1:]...)
}

// match returns the text of an event of the same form.
func (t *template) match(event []byte) (string, bool) {
	end := len(event) - len(t.tail)
	if len(t.head) == 0 || end < len(t.head) || !bytes.HasPrefix(event, t.head) || !bytes.HasSuffix(event, t.tail) {
		return "", false
	}
	text := event[len(t.head):end]
	special := func(b byte) bool { return b < ' ' || b == '"' || b == '\\' || b >= 0x80 }
	if !slices.ContainsFunc(text, special) {
		return string(text), true
	}
	var s string
	err := json.Unmarshal(event[len(t.head)-1:end+1], &s) // fails when the string ends early
	return s, err == nil
}

package completions

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"buddy/agent/model/wire"
)

// isTrace reports whether a field's name is that of a reasoning trace. It excludes signatures, encrypted blocks and
// counts, which have similar names and must never be shown.
func isTrace(name string) bool {
	name = strings.ToLower(name)
	has := func(word string) bool { return strings.Contains(name, word) }
	if has("signature") || has("encrypted") || has("redacted") || has("tokens") || has("effort") || strings.HasSuffix(name, "_id") {
		return false
	}
	return has("reasoning") || has("thinking") || has("thought")
}

// reasoningKey is the field for reasoning of most servers, in answers and requests.
const reasoningKey = "reasoning_content"

// preferred are the names of traces, the best first, for servers that send the same text under several names.
var preferred = []string{reasoningKey, "reasoning", "reasoning_text", "thinking", "thought"}

func byPreference(a, b string) int {
	rank := func(s string) int {
		if i := slices.Index(preferred, strings.ToLower(s)); i >= 0 {
			return i
		}
		return len(preferred)
	}
	if d := rank(a) - rank(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

// traces finds the new text in pieces of reasoning fields. Several fields may carry the same text, which is shown once.
type traces struct {
	shown []byte // the text that fields agree on
	byKey map[string]*trace
}

// trace is one reasoning field. While it only repeats what another field has already said, it adds no text.
type trace struct {
	held    string // the start, while it may still mean "none"
	started bool
	own     int  // where the text of this field ends in shown
	at      int  // how much of shown this field has had, too
	apart   bool // its text differs from shown
}

// add returns the new text in the next piece of a field.
func (t *traces) add(field string, raw json.RawMessage) string {
	f := t.byKey[field]
	if f == nil {
		if t.byKey == nil {
			t.byKey = make(map[string]*trace)
		}
		f = &trace{}
		t.byKey[field] = f
	}
	s := pull(raw, !f.started, 0)
	if !f.started {
		f.held += s
		if isNothing(f.held) {
			return ""
		}
		s, f.held, f.started = f.held, "", true
	}
	return t.news(f, s)
}

// isNothing reports whether the text of a trace, such as "none", means that there is no reasoning.
func isNothing(s string) bool {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "", "null", "none", "n/a", "[]", "{}":
		return true
	}
	return false
}

// news returns the part of s that has not been shown yet, where s is the next text of a field.
func (t *traces) news(f *trace, s string) string {
	if s == "" || f.apart {
		return s
	}
	known := t.shown[f.at:]
	n := min(len(known), len(s))
	switch {
	case string(known[:n]) != s[:n]: // it was equal up to here by chance
		f.apart = true
		return string(t.shown[f.own:f.at]) + s
	case n == len(s):
		f.at += n
		return ""
	}
	t.shown = append(t.shown, s[n:]...)
	f.at = len(t.shown)
	f.own = f.at
	return s[n:]
}

// textKeys are the members of an object that hold its text.
var textKeys = []string{
	"text", "content", "summary", "reasoning_content", "reasoning", "reasoning_text",
	"thinking", "thought", "thoughts", "value", "parts", "details", "delta",
}

// maxDepth bounds the search for text in nested values.
const maxDepth = 8

// pull returns the text in a JSON value. If first is set, a string may itself contain JSON with the text. In later
// pieces of a field, text may look like JSON by chance, and is returned as it is.
func pull(raw json.RawMessage, first bool, depth int) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || depth > maxDepth {
		return ""
	}
	switch raw[0] {
	case '"':
		s, ok := wire.String(raw)
		if !ok {
			return ""
		}
		inner := strings.TrimSpace(s)
		if first && inner != "" && (inner[0] == '{' || inner[0] == '[') && json.Valid([]byte(inner)) {
			return pull(json.RawMessage(inner), first, depth+1)
		}
		return s
	case '[':
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list) // a broken list has no text
		var out strings.Builder
		for _, v := range list {
			out.WriteString(pull(v, first, depth+1))
		}
		return out.String()
	case '{':
		return pullObject(raw, first, depth)
	}
	return ""
}

func pullObject(raw json.RawMessage, first bool, depth int) string {
	var m wire.Members
	if json.Unmarshal(raw, &m) != nil {
		return ""
	}
	if kind := strings.ToLower(wire.Text(m["type"])); strings.Contains(kind, "encrypted") || strings.Contains(kind, "redacted") {
		return ""
	}
	var texts []string
	for _, k := range textKeys {
		if s := pull(m[k], first, depth+1); s != "" && !slices.Contains(texts, s) {
			texts = append(texts, s)
		}
	}
	return strings.Join(texts, "")
}

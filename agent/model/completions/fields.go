package completions

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"buddy/agent/model"
)

// fields collects fields that are not part of the protocol, to send them back. A field that arrived in one piece is
// sent back unchanged.
type fields map[string]*field

type field struct {
	raw  json.RawMessage // the only piece
	tree any             // several pieces joined, see join
}

// text is a string that grows.
type text struct{ buf []byte }

// MarshalJSON writes the string.
func (t *text) MarshalJSON() ([]byte, error) { return json.Marshal(string(t.buf)) }

func (f fields) has(key string) bool { return f[key] != nil }

// add joins the next piece of a field. It drops empty pieces: some servers send a null for each of their fields, and
// refuse it in requests.
func (f *fields) add(key string, raw json.RawMessage) {
	if isBlank(raw) {
		return
	}
	if *f == nil {
		*f = make(fields)
	}
	old := (*f)[key]
	if old == nil {
		(*f)[key] = &field{raw: slices.Clone(raw)}
		return
	}
	if old.tree == nil {
		if bytes.Equal(old.raw, raw) && !isTrace(key) {
			return // the same in every delta: an attribute
		}
		old.tree, old.raw = parse(old.raw), nil
	}
	old.tree = join(key, isTrace(key), old.tree, parse(raw), 0)
}

func isBlank(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", `""`, "[]", "{}":
		return true
	}
	return false
}

// noteKey is the key under which a message or a call stores which server and model its fields outside the protocol came
// from.
const noteKey = model.Note + Name

// encode returns the fields, and under noteKey their origin, the server and model that sent them. It returns nil if
// there are no fields.
func (f fields) encode(origin string) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	for k, v := range f {
		raw := v.raw
		if v.tree != nil {
			b, err := json.Marshal(v.tree)
			if err != nil { // parsed values: cannot happen
				continue
			}
			raw = b
		}
		if out == nil {
			out = map[string]json.RawMessage{noteKey: note(origin)}
		}
		out[k] = raw
	}
	return out
}

func note(origin string) json.RawMessage {
	raw, _ := json.Marshal(origin) // of a string: cannot fail
	return raw
}

// own returns those fields of a message or a call that are not part of the protocol, without notes. It returns none if
// they did not come from origin: another server may refuse them, and reasoning is meant only for the model that wrote
// it.
func own(extra map[string]json.RawMessage, origin string) map[string]json.RawMessage {
	if extra[noteKey] == nil || !bytes.Equal(extra[noteKey], note(origin)) {
		return nil
	}
	extra = maps.Clone(extra) // the history has the original
	maps.DeleteFunc(extra, func(k string, _ json.RawMessage) bool { return strings.HasPrefix(k, model.Note) })
	return extra
}

// parse decodes JSON to map[string]any, []any, *text, json.Number and bool.
func parse(raw json.RawMessage) any {
	var s string
	if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return &text{[]byte(s)}
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return growable(v)
}

func growable(v any) any {
	switch v := v.(type) {
	case string:
		return &text{[]byte(v)}
	case []any:
		for i := range v {
			v[i] = growable(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = growable(v[k])
		}
	}
	return v
}

// join adds piece to old: texts and lists are appended, objects are joined member by member, and anything else is
// replaced. traced means that both belong to a reasoning trace.
func join(key string, traced bool, old, piece any, depth int) any {
	if piece == nil || depth > maxDepth {
		return old
	}
	switch p := piece.(type) {
	case *text:
		if o, ok := old.(*text); ok {
			return joinTexts(key, traced, o, p, depth)
		}
	case []any:
		if o, ok := old.([]any); ok {
			return joinLists(traced, o, p, depth)
		}
	case map[string]any:
		if o, ok := old.(map[string]any); ok {
			for _, k := range slices.Sorted(maps.Keys(p)) {
				o[k] = join(k, traced, o[k], p[k], depth+1)
			}
			return o
		}
	}
	return piece
}

// joinTexts appends piece to old, with two exceptions: in an object, a text that is no prose, such as a type or a
// signature, is replaced; and a field outside of reasoning that every delta repeats is kept once.
func joinTexts(key string, traced bool, old, piece *text, depth int) *text {
	switch {
	case len(piece.buf) == 0:
		return old
	case depth > 0 && !slices.Contains(textKeys, strings.ToLower(key)):
		return piece
	case depth == 0 && !traced && bytes.Equal(old.buf, piece.buf):
		return old
	}
	old.buf = append(old.buf, piece.buf...)
	return old
}

// joinLists appends piece to old. In a trace, the first element of piece may continue the last element of old.
func joinLists(traced bool, old, piece []any, depth int) []any {
	for _, v := range piece {
		if traced && len(old) > 0 && continues(old[len(old)-1], v) {
			old[len(old)-1] = join("", traced, old[len(old)-1], v, depth+1)
			continue
		}
		old = append(old, v)
	}
	return old
}

// continues reports whether b is the next piece of the block a: both have the same type and index, and a has no
// signature yet, which would complete it.
func continues(a, b any) bool {
	x, ok := a.(map[string]any)
	y, ok2 := b.(map[string]any)
	if !ok || !ok2 {
		return false
	}
	kind := attribute(x, "type")
	return kind == attribute(y, "type") && attribute(x, "index") == attribute(y, "index") && attribute(x, "signature") == "" &&
		!strings.Contains(kind, "encrypted") && !strings.Contains(kind, "redacted")
}

// attribute returns a scalar member as text.
func attribute(m map[string]any, key string) string {
	switch v := m[key].(type) {
	case *text:
		return string(v.buf)
	case json.Number:
		return v.String()
	}
	return ""
}

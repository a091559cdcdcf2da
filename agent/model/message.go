package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"buddy/texts/quickjson"
)

// Role is the author of a message, spelled as on the wire.
type Role string

// The roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Kind distinguishes messages with the role user, some of which the user has not written.
type Kind string

// The kinds.
const (
	Prompt   Kind = ""         // a person's request; it opens an exchange
	Steering Kind = "steering" // a person's message during a running exchange
	Reminder Kind = "reminder" // context that buddy adds; it requests nothing
)

// Message is one entry of a conversation. Its JSON form is that of Chat Completions; an assistant message that only
// calls tools has "content": null.
type Message struct {
	Role       Role
	Kind       Kind // Role User; not sent to providers
	Content    string
	Images     []Image // Role User
	ToolCalls  []ToolCall
	ToolCallID string // Role Tool: the call that this answers
	Failed     bool   // Role Tool: the call failed or did not run; sent only in protocols that have a field for it
	Name       string
	Extra      map[string]json.RawMessage // every field that this type does not know
}

// Note is the prefix of keys in Extra, such as "buddy:responses", whose values only buddy understands. They are stored
// with the message but not sent.
const Note = "buddy:"

const (
	// imagesKey holds Images in JSON. It has the prefix Note because providers have an "images" field of their own.
	imagesKey = Note + "images"
	// kindKey holds Kind in JSON.
	kindKey = Note + "kind"
	// compactedKey marks a message with the provider's summary, see Compacted.
	compactedKey = Note + "compacted"
)

// Compacted reports whether the message holds the provider's summary of all messages before it. Such a message is kept
// even with no text and no calls.
func (m Message) Compacted() bool { return m.Extra[compactedKey] != nil }

// MarkCompacted makes Compacted return true. It replaces the map Extra with a copy.
func (m *Message) MarkCompacted() {
	extra := maps.Clone(m.Extra)
	if extra == nil {
		extra = make(map[string]json.RawMessage)
	}
	extra[compactedKey] = json.RawMessage("true")
	m.Extra = extra
}

// ToolCall is a model's request to run a tool. Arguments is the JSON text as the model wrote it, possibly invalid.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
	Extra     map[string]json.RawMessage
}

// member is a key of a JSON object, with the value to encode or a pointer to decode into.
type member struct {
	key   string
	value any
}

// MarshalJSON writes known fields in a fixed order, then unknown ones sorted by name, so that a message always has the
// same bytes, as prompt caches require.
func (m Message) MarshalJSON() ([]byte, error) {
	fields := m.fields(nil)
	if len(m.Images) > 0 {
		fields = append(fields, member{imagesKey, m.Images})
	}
	if m.Kind != Prompt {
		fields = append(fields, member{kindKey, m.Kind})
	}
	return writeObject(fields, m.Extra)
}

// EncodeWith encodes a message for a provider, without Kind and Images. If content is not nil, it replaces the text.
func (m Message) EncodeWith(content any) ([]byte, error) {
	return writeObject(m.fields(content), m.Extra)
}

// fields returns the JSON members of a message's fields. If content is not nil, it replaces the text.
func (m Message) fields(content any) []member {
	fields := []member{{"role", m.Role}}
	switch {
	case content != nil:
		fields = append(fields, member{"content", content})
	case m.Content == "" && m.Role == Assistant && len(m.ToolCalls) > 0:
		fields = append(fields, member{"content", nil})
	default:
		fields = append(fields, member{"content", m.Content})
	}
	if len(m.ToolCalls) > 0 {
		fields = append(fields, member{"tool_calls", m.ToolCalls})
	}
	if m.ToolCallID != "" {
		fields = append(fields, member{"tool_call_id", m.ToolCallID})
	}
	if m.Name != "" {
		fields = append(fields, member{"name", m.Name})
	}
	return fields
}

// UnmarshalJSON reads the output of MarshalJSON and the messages of providers.
func (m *Message) UnmarshalJSON(data []byte) error {
	var n Message
	var err error
	n.Extra, err = readObject(data, []member{
		{"role", &n.Role},
		{"content", &n.Content},
		{"tool_calls", &n.ToolCalls},
		{"tool_call_id", &n.ToolCallID},
		{"name", &n.Name},
		{imagesKey, &n.Images},
		{kindKey, &n.Kind},
	})
	if err != nil {
		return fmt.Errorf("message: %w", err)
	}
	*m = n
	return nil
}

// Object returns the arguments of a call, or {} if they are not a JSON object. vLLM and llama-server parse the
// arguments of earlier calls, so an invalid one would make them refuse every later request. The model still sees its
// mistake, because the call's result reports it.
func Object(arguments string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &members) != nil || members == nil {
		return "{}"
	}
	return arguments
}

type callFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// MarshalJSON writes the nested form of Chat Completions.
func (c ToolCall) MarshalJSON() ([]byte, error) {
	return writeObject([]member{{"id", c.ID}, {"type", "function"}, {"function", callFunction{c.Name, c.Arguments}}}, c.Extra)
}

// UnmarshalJSON reads the nested form of Chat Completions.
func (c *ToolCall) UnmarshalJSON(data []byte) error {
	var n ToolCall
	var kind string
	var f callFunction
	var err error
	n.Extra, err = readObject(data, []member{{"id", &n.ID}, {"type", &kind}, {"function", &f}})
	if err != nil {
		return fmt.Errorf("tool call: %w", err)
	}
	n.Name, n.Arguments = f.Name, f.Arguments
	*c = n
	return nil
}

func writeObject(fields []member, extra map[string]json.RawMessage) ([]byte, error) {
	for _, k := range slices.Sorted(maps.Keys(extra)) {
		fields = append(fields, member{k, extra[k]})
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	buf.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			buf.WriteByte(',')
		}
		if err := encodeMember(&buf, enc, f); err != nil {
			return nil, fmt.Errorf("%s: %w", f.key, err)
		}
	}
	buf.WriteByte('}')
	return buf.Bytes(), nil
}

func encodeMember(buf *bytes.Buffer, enc *json.Encoder, f member) error {
	if err := enc.Encode(f.key); err != nil {
		return err
	}
	buf.Truncate(buf.Len() - 1) // the encoder ends each value with a newline
	buf.WriteByte(':')
	if err := enc.Encode(f.value); err != nil {
		return err
	}
	buf.Truncate(buf.Len() - 1)
	return nil
}

// readObject decodes the members named in known and returns the others. Names must match exactly; encoding/json alone
// would accept "Content" for "content". data must be valid JSON.
func readObject(data []byte, known []member) (others map[string]json.RawMessage, err error) {
	all := make(map[string]json.RawMessage)
	if !quickjson.Members(data, func(key, value []byte) bool { all[string(key)] = value; return true }) {
		clear(all)
		if err := json.Unmarshal(data, &all); err != nil {
			return nil, err
		}
	}
	for _, k := range known {
		raw, ok := all[k.key]
		if !ok {
			continue
		}
		if err := readMember(raw, k.value); err != nil {
			return nil, fmt.Errorf("%s: %w", k.key, err)
		}
		delete(all, k.key)
	}
	for key, raw := range all {
		all[key] = slices.Clone(raw)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, nil
}

// readMember is json.Unmarshal with a shortcut for strings.
func readMember(raw json.RawMessage, to any) error {
	if text, ok := to.(*string); ok {
		if s, ok := quickjson.String(raw); ok {
			*text = s
			return nil
		}
	}
	return json.Unmarshal(raw, to)
}

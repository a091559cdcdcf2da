package model

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func encode(t testing.TB, m Message) string {
	t.Helper()
	data, err := m.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func decode(t testing.TB, text string) Message {
	t.Helper()
	var m Message
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return m
}

func TestMessageJSON(t *testing.T) {
	call := ToolCall{ID: "c1", Name: "run", Arguments: `{"a":1}`}
	tests := []struct {
		name string
		m    Message
		want string
	}{
		{"system", Message{Role: System, Content: "be brief"}, `{"role":"system","content":"be brief"}`},
		{"user", Message{Role: User, Content: "<hi> & \"bye\"\n"}, `{"role":"user","content":"<hi> & \"bye\"\n"}`},
		{"empty user", Message{Role: User}, `{"role":"user","content":""}`},
		{"assistant", Message{Role: Assistant, Content: "yes"}, `{"role":"assistant","content":"yes"}`},
		{
			"assistant that only calls",
			Message{Role: Assistant, ToolCalls: []ToolCall{call}},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"run","arguments":"{\"a\":1}"}}]}`,
		},
		{
			"assistant that says and calls",
			Message{Role: Assistant, Content: "ok", ToolCalls: []ToolCall{call, call}},
			`{"role":"assistant","content":"ok","tool_calls":[{"id":"c1","type":"function","function":{"name":"run","arguments":"{\"a\":1}"}},{"id":"c1","type":"function","function":{"name":"run","arguments":"{\"a\":1}"}}]}`,
		},
		{"tool", Message{Role: Tool, Content: "out", ToolCallID: "c1", Name: "run"}, `{"role":"tool","content":"out","tool_call_id":"c1","name":"run"}`},
		{
			"unknown fields, sorted",
			Message{Role: Assistant, Content: "x", Extra: map[string]json.RawMessage{
				"reasoning_content": json.RawMessage(`"<why>"`), "audio": json.RawMessage(`null`), "b": json.RawMessage(`{"z":1, "a":1e400}`),
			}},
			`{"role":"assistant","content":"x","audio":null,"b":{"z":1,"a":1e400},"reasoning_content":"<why>"}`,
		},
	}
	for _, tt := range tests {
		if got := encode(t, tt.m); got != tt.want {
			t.Errorf("%s: encodes as %s, want %s", tt.name, got, tt.want)
		}
		if got := encode(t, decode(t, tt.want)); got != tt.want {
			t.Errorf("%s: comes back as %s, want %s", tt.name, got, tt.want)
		}
	}
}

// A provider gets its own fields back, whatever their order.
func TestUnknownFieldsKept(t *testing.T) {
	in := `{"annotations":[],"tool_calls":[{"index":0,"function":{"arguments":"","name":"f"},"id":"c","type":"function","extra_content":{"google":{"thought_signature":"AB+/="}}}],
		"refusal":null,"content":null,"role":"assistant","reasoning_details":[{"type":"reasoning.encrypted","data":"x<y"}]}`
	m := decode(t, in)
	want := Message{
		Role:      Assistant,
		ToolCalls: []ToolCall{{ID: "c", Name: "f", Extra: map[string]json.RawMessage{"index": json.RawMessage(`0`), "extra_content": json.RawMessage(`{"google":{"thought_signature":"AB+/="}}`)}}},
		Extra: map[string]json.RawMessage{
			"annotations": json.RawMessage(`[]`), "refusal": json.RawMessage(`null`),
			"reasoning_details": json.RawMessage(`[{"type":"reasoning.encrypted","data":"x<y"}]`),
		},
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("decodes as %#v, want %#v", m, want)
	}
	out := encode(t, m)
	for _, part := range []string{`"annotations":[]`, `"refusal":null`, `"data":"x<y"`, `"extra_content":{"google":{"thought_signature":"AB+/="}}`, `"index":0`, `"content":null`} {
		if !strings.Contains(out, part) {
			t.Errorf("%s lost %s", out, part)
		}
	}
	if m := decode(t, `{"role":"user","content":"x"}`); m.Extra != nil {
		t.Errorf("Extra = %v without unknown fields, want nil", m.Extra)
	}
	// A field that differs in case is another field.
	both := `{"role":"user","content":"mine","CONTENT":"other","Role":"system"}`
	if m := decode(t, both); m.Content != "mine" || m.Role != User || encode(t, decode(t, encode(t, m))) != encode(t, m) {
		t.Errorf("%s decodes as %+v", both, m)
	}
}

// Arguments are passed through verbatim, valid or not.
func TestArgumentsVerbatim(t *testing.T) {
	for _, args := range []string{``, `{}`, `{ "b" : 1,	"a":1.0 }`, `{"a":`, `not json`, `"\u003c"`, "{\"a\":\"\\n<é>\u2028\"}\n", `null`} {
		m := Message{Role: Assistant, ToolCalls: []ToolCall{{ID: "c", Name: "f", Arguments: args}}}
		if got := decode(t, encode(t, m)).ToolCalls[0].Arguments; got != args {
			t.Errorf("arguments %q came back as %q", args, got)
		}
	}
}

// The same message always gives the same bytes.
func TestDeterministic(t *testing.T) {
	extra := map[string]json.RawMessage{}
	for _, k := range strings.Split("q w e r t y u i o p a s d f g h", " ") {
		extra[k] = json.RawMessage(`"` + k + `"`)
	}
	m := Message{Role: Assistant, Content: "x", Extra: extra, ToolCalls: []ToolCall{{ID: "c", Extra: extra}}}
	want := encode(t, m)
	for range 100 {
		if got := encode(t, m); got != want {
			t.Fatalf("encodes as %s, then as %s", want, got)
		}
	}
}

func TestBadMessages(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:                        "message: ",
		`{"content":5}`:             "content",
		`{"role":{}}`:               "role",
		`{"tool_calls":{}}`:         "tool_calls",
		`{"tool_calls":[5]}`:        "tool call",
		`{"tool_calls":[{"id":5}]}`: "id",
	} {
		var m Message
		if err := json.Unmarshal([]byte(text), &m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", text, err, want)
		}
	}
	m := Message{Role: User, Extra: map[string]json.RawMessage{"x": json.RawMessage(`{`)}}
	if _, err := m.MarshalJSON(); err == nil || !strings.Contains(err.Error(), "x: ") {
		t.Errorf("a field that is not JSON: %v", err)
	}
}

// Decoding the encoded form of a decoded message gives the same message.
func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}],"x":{"a":[1]}}`))
	f.Add([]byte(`{"role":"user","CONTENT":"b","content":"a"}`))
	f.Add([]byte(`{"role":"tool","tool_call_id":"c","name":"n","content":"\ud800<\u2028"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second Message
		if json.Unmarshal(data, &first) != nil {
			return
		}
		one, err := first.MarshalJSON()
		if err != nil {
			t.Fatalf("decoded, but does not encode: %v", err)
		}
		if err := json.Unmarshal(one, &second); err != nil {
			t.Fatalf("%s: %v", one, err)
		}
		two, err := second.MarshalJSON()
		if err != nil || !bytes.Equal(one, two) {
			t.Fatalf("encodes as\n%s, then as\n%s (%v)", one, two, err)
		}
		if first.Content != second.Content || len(first.ToolCalls) != len(second.ToolCalls) || len(first.Extra) != len(second.Extra) {
			t.Fatalf("%#v became %#v", first, second)
		}
	})
}

// Images survive the journal, old lines load, and a provider's "images" field stays in Extra.
func TestImagesJSON(t *testing.T) {
	image := Image{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}
	const line = `{"role":"user","content":"what?","buddy:images":[{"media_type":"image/png","data":"iVBORw0KGgo="}]}`
	m := Message{Role: User, Content: "what?", Images: []Image{image}}
	if got := encode(t, m); got != line {
		t.Errorf("encodes as %s", got)
	}
	if got := decode(t, line); !reflect.DeepEqual(got, m) {
		t.Errorf("decodes as %+v", got)
	}
	for _, old := range []string{
		`{"role":"user","content":"what?"}`,
		`{"role":"assistant","content":"look","images":[{"type":"image_url","image_url":{"url":"data:,"}}]}`,
	} {
		if m := decode(t, old); m.Images != nil || encode(t, m) != old {
			t.Errorf("%s comes back as %s", old, encode(t, m))
		}
	}
	b, err := m.EncodeWith([]string{"x"})
	if want := `{"role":"user","content":["x"]}`; err != nil || string(b) != want {
		t.Errorf("%v, %s, want %s", err, b, want)
	}
}

// TestNewImage: the media type comes from the bytes.
func TestNewImage(t *testing.T) {
	for head, want := range map[string]string{
		"\x89PNG\r\n\x1a\n": "image/png", "\xff\xd8\xff\xe0": "image/jpeg", "GIF87a": "image/gif", "GIF89a": "image/gif",
		"RIFF\x00\x00\x00\x00WEBP": "image/webp", "RIFF\x00\x00\x00\x00WAVE": "", "RIFFWEBP": "", "%PDF-1.7": "", "": "",
	} {
		i, err := NewImage([]byte(head))
		if i.MediaType != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", head, i.MediaType, err)
		}
	}
}

// TestCompacted: the mark does not change a shared Extra, and survives the journal.
func TestCompacted(t *testing.T) {
	extra := map[string]json.RawMessage{"a": json.RawMessage("1")}
	m := Message{Role: Assistant, Content: "x", Extra: extra}
	m.MarkCompacted()
	if len(extra) != 1 || !m.Compacted() || !decode(t, encode(t, m)).Compacted() || (Message{}).Compacted() {
		t.Errorf("%+v", m)
	}
}

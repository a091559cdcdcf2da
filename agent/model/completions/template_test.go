package completions

import (
	"encoding/json"
	"testing"
)

// FuzzTemplate compares the fast path with the slow one: an event that matches the form
// of another must hold exactly the text that parsing it gives.
func FuzzTemplate(f *testing.F) {
	const a = `{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"one","refusal":null},"finish_reason":null}],"usage":null}`
	for _, b := range []string{
		`{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"t\"w\u00e9\n","refusal":null},"finish_reason":null}],"usage":null}`,
		`{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}],"usage":null}`,
		`{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"x","x":"y","refusal":null},"finish_reason":null}],"usage":null}`,
		`{"choices":[{"delta":{"content":"one"}}]}`,
	} {
		f.Add([]byte(a), []byte(b))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var first, second chunk
		if json.Unmarshal(a, &first) != nil {
			return
		}
		var form template
		form.learn(a, first)
		got, ok := form.match(b)
		if !ok {
			return
		}
		if err := json.Unmarshal(b, &second); err != nil {
			t.Fatalf("%q matched %q but is no JSON: %v", b, a, err)
		}
		if want := plain(second.Choices[0].Delta["content"]); got != want {
			t.Fatalf("%q after %q: fast %q, slow %q", b, a, got, want)
		}
	})
}

// TestTemplate: the fast path is taken for what servers send, and only for that.
func TestTemplate(t *testing.T) {
	event := func(members string) []byte { return []byte(`{"choices":[{"index":0,"delta":{` + members + `}}]}`) }
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{`"content":"a"`, `"content":"b"`, true},
		{`"content":"a"`, `"content":"b\nc"`, true},
		{`"content":"a"`, `"content":"b","x":"c"`, false},
		{`"content":"a","reasoning":"r"`, `"content":"b","reasoning":"r"`, false},
		{`"content":"a","tool_calls":[{"index":0}]`, `"content":"b","tool_calls":[{"index":0}]`, false},
		{`"content":"a","x":"a"`, `"content":"b","x":"a"`, false},
		{`"content":""`, `"content":"b"`, false},
		{`"content":null`, `"content":null`, false},
	} {
		var c chunk
		if err := json.Unmarshal(event(tt.a), &c); err != nil {
			t.Fatal(err)
		}
		var form template
		form.learn(event(tt.a), c)
		if _, ok := form.match(event(tt.b)); ok != tt.want {
			t.Errorf("%s after %s: match = %v", tt.b, tt.a, ok)
		}
	}
}

package completions

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"buddy/agent/model"
	"buddy/agent/model/wire"
)

// FuzzTemplate: an answer of any two events is the same with the fast path and without.
func FuzzTemplate(f *testing.F) {
	const a = `{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"one","refusal":null},"finish_reason":null}],"usage":null}`
	for _, b := range []string{
		`{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"t\"w\u00e9\n","refusal":null},"finish_reason":null}],"usage":null}`,
		`{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}],"usage":null}`,
		`{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"x","x":"y","refusal":null},"finish_reason":null}],"usage":null}`,
	} {
		f.Add([]byte(a), []byte(b))
	}
	f.Add([]byte(`{"choices":[{"delta":{"reasoning":"a"}}]}`), []byte(`{"choices":[{"delta":{"reasoning":"{\"text\":\"b\"}"}}]}`))
	f.Add([]byte(`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}}]}`), []byte(`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}}]}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		with, ok := answerOf(a, b, false)
		without, ok2 := answerOf(a, b, true)
		if ok != ok2 || ok && !cmp.Equal(with, without) {
			t.Fatalf("%q, then %q: %v, %v\n%s", a, b, ok, ok2, cmp.Diff(without, with))
		}
	})
}

// answerOf returns all deltas of the events a and b; ok is false if they are refused.
func answerOf(a, b []byte, slow bool) (deltas []model.Delta, ok bool) {
	collect := &answer{Collector: wire.Collector{Emit: func(d model.Delta) error {
		deltas = append(deltas, d)
		return nil
	}}}
	for _, event := range [][]byte{a, b, b} {
		if slow {
			collect.form = template{}
		}
		if collect.Take(event) != nil {
			return nil, false
		}
	}
	ok = collect.Done(true) == nil
	// Generated ids are random.
	for i, d := range deltas {
		deltas[i].CallID = ""
		if d.Call != nil {
			d.Call.ID = ""
		}
		if d.Message != nil {
			for j := range d.Message.ToolCalls {
				d.Message.ToolCalls[j].ID = ""
			}
		}
	}
	return deltas, ok
}

// TestTemplate: the fast path is used only for events of the usual form.
func TestTemplate(t *testing.T) {
	event := func(members string) []byte { return []byte(`{"choices":[{"index":0,"delta":{` + members + `}}]}`) }
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{`"content":"a"`, `"content":"b"`, true},
		{`"content":"a"`, `"content":"b\nc"`, true},
		{`"content":"a"`, `"content":"b","x":"c"`, false},
		{`"reasoning":"a"`, `"reasoning":"b"`, true},
		{`"reasoning":"a"`, `"content":"b"`, false},
		{`"tool_calls":[{"index":1,"function":{"arguments":"a"}}]`, `"tool_calls":[{"index":1,"function":{"arguments":"b\"c"}}]`, true},
		{`"tool_calls":[{"index":1,"function":{"arguments":"a"}}]`, `"tool_calls":[{"index":2,"function":{"arguments":"b"}}]`, false},
		{`"tool_calls":[{"index":1,"id":"i","function":{"arguments":"a"}}]`, `"tool_calls":[{"index":1,"id":"i","function":{"arguments":"b"}}]`, false},
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

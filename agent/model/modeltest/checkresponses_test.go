package modeltest_test

import (
	"strings"
	"testing"

	"buddy/agent/model/modeltest"
)

// TestCheckResponses: the requests that a strict provider refuses and accepts.
func TestCheckResponses(t *testing.T) {
	const (
		user      = `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`
		assistant = `{"type":"message","role":"assistant","content":"hi"}`
		thought   = `{"type":"reasoning","id":"r","summary":[],"encrypted_content":"E"}`
		a         = `{"type":"function_call","call_id":"a","name":"x","arguments":"{}"}`
		b         = `{"type":"function_call","call_id":"b","name":"x","arguments":"{}"}`
		outA      = `{"type":"function_call_output","call_id":"a","output":"1"}`
		outB      = `{"type":"function_call_output","call_id":"b","output":"2"}`
		free      = `{"type":"custom_tool_call","call_id":"a","name":"x","input":"text"}`
		outFree   = `{"type":"custom_tool_call_output","call_id":"a","output":"1"}`
		custom    = `,"tools":[{"type":"custom","name":"x","format":{"type":"grammar","syntax":"lark","definition":"start: /x/"}}]`
		search    = `{"type":"web_search_call","id":"w"}`
	)
	for _, tt := range []struct{ items, rest, want string }{
		{user, "", ""},
		{user + "," + thought + "," + assistant + "," + thought + "," + a + "," + b + "," + outA + "," + outB + "," + search + "," + assistant + "," + user, "", ""},
		{user, `,"tools":[{"type":"function","name":"x","parameters":{}}]`, ""},
		{user + "," + free + "," + b + "," + outFree + "," + outB, custom, ""},
		{user + "," + free + "," + outA, custom, "for a call of another type"},
		{user + "," + a + "," + outFree, custom, "for a call of another type"},
		{user + "," + strings.Replace(free, `"text"`, "{}", 1), custom, "are not a string"},
		{user, strings.Replace(custom, "lark", "ebnf", 1), "without a grammar"},
		{user, strings.Replace(custom, `"format"`, `"parameters":{},"format"`, 1), "a custom tool with parameters"},
		{"", "", "non-empty list of items"},
		{user, `,"messages":[]`, "unknown parameter: messages"},
		{user, `,"tools":[]`, "non-empty list of tools"},
		{user, `,"tools":[{"type":"function","function":{"name":"x","parameters":{}}}]`, "tools[0]: not a function"},
		{`{"type":"what"}`, "", `unknown item "what"`},
		{strings.Replace(user, "hi", " ", 1), "", "is blank"},
		{strings.Replace(user, "input_text", "text", 1), "", `"text" instead of "input_text"`},
		{strings.Replace(user, "user", "tool", 1), "", `unknown role "tool"`},
		{`{"type":"message","role":"user","content":[]}`, "", "is empty"},
		{user + "," + strings.Replace(thought, "E", "", 1), "", "a reasoning item without"},
		{user + "," + thought, "", "without the item that follows"},
		{user + "," + thought + "," + user, "", "message follows reasoning"},
		{user + "," + a, "", "no tool output found for function calls: a"},
		{user + "," + a + "," + user, "", "outputs of these calls: a"},
		{user + "," + a + "," + b + "," + outB, "", `an unexpected output for "b"; calls without an output, in order: [a, b]`},
		{user + "," + a + "," + b + "," + outA + "," + assistant, "", `an item of type "message" comes before the outputs of these calls: b`},
		{user + "," + outA, "", `an unexpected output for "a"`},
		{user + "," + a + "," + thought + "," + outA, "", "an output follows reasoning"},
		{user + "," + a + "," + strings.Replace(outA, "1", "", 1), "", "is empty"},
		{user + "," + a + "," + outA + "," + a, "", "came before"},
		{user + "," + strings.Replace(a, `"{}"`, "{}", 1), "", "are not a string"},
		{user + "," + strings.Replace(a, `"a"`, `""`, 1), "", "without call_id or name"},
	} {
		err := modeltest.CheckResponses([]byte(`{"model":"m","store":false,"input":[` + tt.items + `]` + tt.rest + `}`))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: %v, want %q", tt.items, tt.rest, err, tt.want)
		}
	}
	for _, body := range []string{"", "[]", `{"store":false,"input":[` + user + `]}`, `{"model":"m","store":true,"input":[` + user + `]}`} {
		if modeltest.CheckResponses([]byte(body)) == nil {
			t.Errorf("%q was taken", body)
		}
	}
}

package modeltest_test

import (
	"strings"
	"testing"

	"buddy/agent/model/modeltest"
)

// TestCheck: the requests that strict providers refuse and accept.
func TestCheck(t *testing.T) {
	const (
		user   = `{"role":"user","content":"hi"}`
		calls  = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"x","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"x","arguments":"{}"}}]}`
		a      = `{"role":"tool","tool_call_id":"a","content":"1"}`
		b      = `{"role":"tool","tool_call_id":"b","content":"2"}`
		system = `{"role":"system","content":"be kind"}`
	)
	call := func(members string) string {
		return user + `,{"role":"assistant","content":null,"tool_calls":[{` + members + `}]}`
	}
	for _, tt := range []struct{ name, messages, rest, want string }{
		{"plain", user, "", ""},
		{"calls and results", system + "," + user + "," + calls + "," + a + "," + b + "," + user, "", ""},
		{"text beside calls", user + "," + strings.Replace(calls, "null", `"text"`, 1) + "," + a + "," + b, "", ""},
		{"tools", user, `,"tools":[{"type":"function","function":{"name":"x","parameters":{}}}]`, ""},
		{"no message", "", "", "non-empty list of messages"},
		{"unknown role", `{"role":"developer","content":"x"}`, "", `messages[0]: unknown role "developer"`},
		{"blank user", `{"role":"user","content":" "}`, "", `the content of "user" is blank`},
		{"no content", user + `,{"role":"assistant","tool_calls":[]}`, "", "content is missing"},
		{"empty assistant", user + `,{"role":"assistant","content":""}`, "", "neither text nor calls"},
		{"empty text beside calls", user + "," + strings.Replace(calls, "null", `""`, 1), "", "neither text nor null"},
		{"no calls", user + `,{"role":"assistant","content":null,"tool_calls":[]}`, "", "non-empty list of calls"},
		{"call without id", call(`"type":"function"`), "", "without an id"},
		{"call without type", call(`"id":"a","function":{"name":"x","arguments":"{}"}`), "", "not a function with a name"},
		{"call without name", call(`"id":"a","type":"function","function":{"name":"","arguments":"{}"}`), "", "not a function with a name"},
		{"arguments as an object", call(`"id":"a","type":"function","function":{"name":"x","arguments":{}}`), "", "are not a string"},
		{"id used again", user + "," + calls + "," + a + "," + b + "," + calls, "", `the id "a" of a tool call came before`},
		{"no result", user + "," + calls + "," + a, "", "without a result: b"},
		{"user before the result", user + "," + calls + "," + a + "," + user, "", `a "user" message comes before the results of these calls: b`},
		{"system before the result", user + "," + calls + "," + system, "", `a "system" message`},
		{"wrong order", user + "," + calls + "," + b + "," + a, "", `an unexpected result for "b"; calls without a result, in order: [a, b]`},
		{"result without call", user + "," + a, "", `an unexpected result for "a"`},
		{"empty result", user + "," + calls + `,{"role":"tool","tool_call_id":"a","content":""}`, "", "is empty"},
		{"empty tools", user, `,"tools":[]`, "non-empty list of tools"},
		{"tool twice", user, `,"tools":[{"type":"function","function":{"name":"x","parameters":{}}},{"type":"function","function":{"name":"x","parameters":{}}}]`, "is there twice"},
		{"tool without a name", user, `,"tools":[{"type":"function","function":{"parameters":{}}}]`, "not a function"},
		{"tool without a schema", user, `,"tools":[{"type":"function","function":{"name":"x"}}]`, "not a schema"},
		{"options without stream", user, `,"stream_options":{}`, "stream_options without stream"},
	} {
		err := modeltest.Check([]byte(`{"model":"m","messages":[` + tt.messages + `]` + tt.rest + `}`))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	for _, body := range []string{"", "[]", `{"messages":[` + user + `]}`} {
		if modeltest.Check([]byte(body)) == nil {
			t.Errorf("%q was taken", body)
		}
	}
}

package modeltest

import (
	"strings"
	"testing"
)

// TestCheckMessages: the requests that a strict provider refuses, and the reasons.
func TestCheckMessages(t *testing.T) {
	const (
		ask  = `{"role":"user","content":[{"type":"text","text":"a"}]}`
		use  = `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"do","input":{}}]}`
		back = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r"},{"type":"text","text":"b"}]}`
		mark = `"cache_control":{"type":"ephemeral"}`
	)
	answer := func(block string) string { return ask + `,{"role":"assistant","content":[` + block + `]}` }
	for _, tt := range []struct{ messages, more, want string }{
		{ask + "," + use + "," + back, `"system":[{"type":"text","text":"s",` + mark + `}],"tools":[{"name":"do","input_schema":{"type":"object"},` + mark + `}]`, ""},
		{answer(`{"type":"thinking","thinking":"a","signature":"` + signature("a") + `"},{"type":"novel"},{"type":"text","text":"b"}`), "", ""},
		{ask, `"stream_options":{}`, "stream_options: extra inputs are not permitted"},
		{ask, `"tools":[]`, "tools must be a non-empty list of tools"},
		{ask, `"tools":[{"name":"a b","input_schema":{"type":"object"}}]`, `tools[0]: the name "a b"`},
		{ask, `"tools":[{"name":"a","input_schema":{"type":"object"}},{"name":"a","input_schema":{"type":"object"}}]`, `tools[1]: "a" is there twice`},
		{ask, `"tools":[{"name":"a"}]`, "tools[0]: input_schema is not a schema"},
		{ask, `"system":[]`, "system must be a non-empty list"},
		{ask, `"system":[{"type":"image"}]`, `system[0]: a block of type "image"`},
		{ask, `"system":[{"type":"text","text":" "}]`, "system[0]: the text is blank"},
		{ask, `"max_tokens":0`, "max_tokens is not a number above 0"},
		{ask, `"model":""`, "model is missing"},
		{"", "", "messages must be a non-empty list of messages"},
		{ask + "," + ask, "", `messages[1]: the role is "user" where "assistant" is due`},
		{use, "", `messages[0]: the role is "assistant"`},
		{`{"role":"user","content":[]}`, "", "messages[0]: the content is empty"},
		{`{"role":"user","content":[{"type":"text","text":"\n"}]}`, "", "messages[0]: content[0]: the text is blank"},
		{`{"role":"user","content":[{}]}`, "", `a block of type ""`},
		{back, "", `an unexpected result for "c1"; calls without a result: []`},
		{ask + "," + use, "", "tool calls without a result: c1"},
		{ask + "," + use + "," + ask, "", `messages[2]: content[0]: a block of type "text" comes before the results of these calls: c1`},
		{ask + "," + use + "," + back + "," + use, "", `the id "c1" of a tool call is no id or came before`},
		{answer(`{"type":"tool_use","id":"c.1","name":"do","input":{}}`), "", `the id "c.1"`},
		{answer(`{"type":"tool_use","id":"c1","name":"","input":{}}`), "", `the tool call "c1" has the name ""`},
		{answer(`{"type":"tool_use","id":"c1","name":"do","input":null}`), "", "is not an object"},
		{answer(`{"type":"thinking","thinking":"b","signature":"` + signature("a") + `"},{"type":"text","text":"b"}`), "", "the signature is not that of the thinking"},
		{answer(`{"type":"redacted_thinking"},{"type":"text","text":"b"}`), "", "redacted_thinking without data"},
		{answer(`{"type":"thinking","thinking":"a","signature":"` + signature("a") + `"}`), "", "the last block is thinking"},
		{answer(`{"type":"thinking","thinking":"a","signature":"` + signature("a") + `",` + mark + `},{"type":"text","text":"b"}`), "", "cache_control of type"},
		{`{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"a",`+mark+`},`, 4) + `{"type":"text","text":"a",` + mark + `}]}`, "", "5 blocks have cache_control (allowed: 4)"},
	} {
		body := `{"model":"m","max_tokens":1,"stream":true,"messages":[` + tt.messages + `]`
		if tt.more != "" {
			body += "," + tt.more // of two members with the same name, the last counts
		}
		err := CheckMessages([]byte(body + "}"))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error = %v, want %q", body, err, tt.want)
		}
	}
	if err := CheckMessages([]byte("[]")); err == nil {
		t.Error("a list passes")
	}
}

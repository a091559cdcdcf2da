package modeltest_test

import (
	"strings"
	"testing"

	"buddy/agent/model"
	. "buddy/agent/model/modeltest"
)

// TestStrangeAnswers: data that real servers send outside of any protocol causes no error and is not in the history, in
// every protocol.
func TestStrangeAnswers(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, tt := range []struct {
		name       string
		part       Answer
		tool, args string
	}{
		{"blank arguments", Answer{Call{"c1", "look", " \n "}}, "look", "{}"},
		{"no arguments", Answer{Call{"c1", "look", ""}}, "look", "{}"},
		{"a name that no provider takes", Answer{Call{"c1", "functions.look<|x|> é", `{"a":1}`}}, "look", `{"a":1}`},
		{"a name in other letters", Answer{Call{"c1", "søk é", `{"a":1}`}}, "s_k__", `{"a":1}`},
		{"a name that is too long", Answer{Call{"c1", long, `{"a":1}`}}, long[:64], `{"a":1}`},
	} {
		Each(t, func(t *testing.T, p Protocol) {
			t.Run(tt.name, func(t *testing.T) {
				srv := Start(t, Steps(tt.part, Answer{Text("ok")}))
				m := p.Connect(t, srv.URL)
				ask := []model.Message{{Role: model.User, Content: "hello"}}
				r := Collect(t.Context(), m, model.Request{Messages: ask})
				if r.Err != nil || len(r.Ready) != 1 || r.Ready[0].Name != tt.tool || r.Ready[0].Arguments != tt.args {
					t.Fatalf("%+v, %v", r.Ready, r.Err)
				}
				if c := r.Done.Message.ToolCalls; len(c) != 1 || c[0].Name != tt.tool || c[0].Arguments != tt.args {
					t.Errorf("the history has %+v", c)
				}
				again := append(ask, *r.Done.Message, model.Message{Role: model.Tool, ToolCallID: "c1", Name: tt.tool, Content: "no such tool"})
				if r := Collect(t.Context(), m, model.Request{Messages: again}); r.Err != nil {
					t.Errorf("the next request: %v", r.Err)
				}
			})
		})
	}
}

// TestUsageAlone: usage in an event without a delta is accepted, at any place in a protocol.
func TestUsageAlone(t *testing.T) {
	for name, events := range map[string]string{
		"completions": `data: {"usage":{"prompt_tokens":9,"completion_tokens":2}}` + "\n\n" + `data: {"choices":[{"index":0,"delta":null,"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n",
		"anthropic":   `data: {"type":"message_delta","usage":{"input_tokens":9,"output_tokens":2}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n",
	} {
		for _, p := range Protocols {
			if p.Name != name {
				continue
			}
			srv := Start(t, Steps(Answer{Raw(events), End{}}))
			r := Collect(t.Context(), p.Connect(t, srv.URL), model.Request{Messages: []model.Message{{Role: model.User, Content: "hello"}}})
			if r.Err != nil || r.Done == nil || r.Done.Usage == nil || r.Done.Usage.Prompt != 9 {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
}

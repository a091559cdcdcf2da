package modeltest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"buddy/agent/model"
	. "buddy/agent/model/modeltest"
)

// TestBodies: the adapters' requests match the types that the providers publish, including every member. Servers of
// this package check the same, except for data that they get back.
func TestBodies(t *testing.T) {
	pixel := png
	tools := []model.ToolDef{
		{Name: "run_shell", Description: "Runs a command.", Parameters: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"},"target":{"type":"string","enum":["local","build","db"]}},"required":["command"]}`)},
		{Name: "bare"},
	}
	user := func(text string, images ...model.Image) model.Message {
		return model.Message{Role: model.User, Content: text, Images: images}
	}
	system := model.Message{Role: model.System, Content: "You are <buddy>."}
	called := model.Message{Role: model.Assistant, Content: "I look.", ToolCalls: []model.ToolCall{{ID: "c1", Name: "run_shell", Arguments: `{"command":"ls","target":"build"}`}, {ID: "c2", Name: "run_shell", Arguments: "{"}}}
	results := []model.Message{{Role: model.Tool, ToolCallID: "c1", Name: "run_shell", Content: "a b"}, {Role: model.Tool, ToolCallID: "c2", Name: "run_shell", Content: "Tool error: bad arguments"}}
	conv := append([]model.Message{system, user("look on build and db"), called}, results...)
	only := model.Message{Role: model.Assistant, ToolCalls: called.ToolCalls}
	for name, req := range map[string]model.Request{
		"first":             {Messages: []model.Message{user("hello")}},
		"system and tools":  {Messages: []model.Message{system, user("hello")}, Tools: tools},
		"calls":             {Messages: conv, Tools: tools},
		"calls alone":       {Messages: append([]model.Message{user("go"), only}, results...), Tools: tools},
		"text and on":       {Messages: append(slices.Clip(conv), model.Message{Role: model.Assistant, Content: "Done."}, user("thanks")), Tools: tools},
		"pictures":          {Messages: []model.Message{user("what is it", pixel, pixel)}},
		"pictures alone":    {Messages: []model.Message{user("", pixel)}},
		"pictures of tools": {Messages: append(slices.Clip(conv), user("<system-reminder>The pictures.</system-reminder>", pixel)), Tools: tools},
		"of the moment":     {Messages: append(slices.Clip(conv), user("<system-reminder>now</system-reminder>")), Tools: tools, Ephemeral: 1},
		"after compaction":  {Messages: []model.Message{system, user("<summary>what was</summary>"), {Role: model.Assistant, Content: "I go on."}, user("go on")}, Tools: tools},
	} {
		for _, effort := range []Effort{"", "none", "low", "high", "max"} {
			Each(t, func(t *testing.T, p Protocol) {
				t.Run(name+" "+string(effort), func(t *testing.T) {
					srv := Start(t, Steps(Answer{Text("ok")}))
					if r := Collect(t.Context(), p.New(t, Config{BaseURL: srv.URL, Effort: effort}), req); r.Err != nil {
						t.Fatal(r.Err)
					}
					if err := CheckSchema(p.Name, srv.Requests()[0].Body); err != nil {
						t.Errorf("%v\n%s", err, srv.Requests()[0].Body)
					}
				})
			})
		}
	}
}

// TestBrokenArgumentsAreNotSentBack: servers that parse the arguments of earlier calls, such as vLLM, would refuse
// every later request.
func TestBrokenArgumentsAreNotSentBack(t *testing.T) {
	whole := `{"at":"it"}`
	for _, broken := range []string{"", "{", `{"command": "echo WALDO", "mut`, `["WALDO"]`, `"WALDO"`, "null"} {
		calls := []model.ToolCall{{ID: "c1", Name: "look", Arguments: broken}, {ID: "c2", Name: "look", Arguments: whole}}
		msgs := []model.Message{
			{Role: model.User, Content: "go"},
			{Role: model.Assistant, ToolCalls: calls},
			{Role: model.Tool, ToolCallID: "c1", Name: "look", Content: "Tool error: bad arguments"},
			{Role: model.Tool, ToolCallID: "c2", Name: "look", Content: "seen"},
		}
		Each(t, func(t *testing.T, p Protocol) {
			srv := Start(t, Steps(Answer{Text("ok")}))
			if r := Collect(t.Context(), p.New(t, Config{BaseURL: srv.URL}), model.Request{Messages: msgs}); r.Err != nil {
				t.Fatal(r.Err)
			}
			body := strings.ReplaceAll(string(srv.Requests()[0].Body), `\"`, `"`)
			if strings.Contains(body, "WALDO") || strings.Count(body, "{}") != 1 || strings.Count(body, whole) != 1 || calls[0].Arguments != broken {
				t.Errorf("%q: %s", broken, body)
			}
		})
	}
}

// TestBadBodies: the schemas refuse extra, missing and wrong members, so that a match is meaningful.
func TestBadBodies(t *testing.T) {
	for protocol, bodies := range map[string][]string{
		"completions": {
			`{"model":"m","messages":[{"role":"user","content":"a"}],"stream":true,"made_up":1}`,
			`{"model":"m","stream":true}`,
			`{"model":"m","messages":[{"role":"tool","content":"a","tool_call_id":"c","name":"x"}],"stream":true}`,
		},
		"responses": {
			`{"model":"m","input":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}],"stream":true}`,
			`{"model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:"}]}],"stream":true}`,
			`{"model":"m","input":"a","stream":true,"tools":[{"type":"function","name":"x","parameters":{}}]}`,
		},
		"anthropic": {
			`{"model":"m","messages":[{"role":"user","content":"a"}],"stream":true}`,
			`{"model":"m","max_tokens":1,"messages":[{"role":"system","content":[{"type":"text","text":"a","name":"x"}]}],"stream":true}`,
		},
	} {
		for _, body := range bodies {
			if err := CheckSchema(protocol, []byte(body)); err == nil || !strings.Contains(err.Error(), "the body is not one of "+protocol) {
				t.Errorf("%s: %v", body, err)
			}
		}
	}
}

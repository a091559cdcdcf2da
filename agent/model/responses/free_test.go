package responses_test

import (
	"encoding/json"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
	"buddy/agent/model/responses"
)

const (
	aPatch   = "*** Begin Patch\n*** Add File: a.go\n+s := \"<&>\\n\" // ö\n*** End Patch\n"
	wrapped  = `{"patch":"*** Begin Patch\n*** Add File: a.go\n+s := \"<&>\\n\" // ö\n*** End Patch\n"}`
	freeCall = `{"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":"*** Begin Patch\n*** Add File: a.go\n+s := \"<&>\\n\" // ö\n*** End Patch\n"}`
	jsonCall = `{"type":"function_call","call_id":"c1","name":"apply_patch","arguments":"{\"patch\":\"*** Begin Patch\\n*** Add File: a.go\\n+s := \\\"<&>\\\\n\\\" // ö\\n*** End Patch\\n\"}"}`
)

// freely is a request with one tool that may be called with free text, and one that may not.
func freely(more ...model.Message) model.Request {
	schema := json.RawMessage(`{"type":"object"}`)
	return model.Request{Messages: append([]model.Message{question.Messages[0]}, more...), Tools: []model.ToolDef{
		{Name: "apply_patch", Description: "patches", Parameters: schema, Free: &model.FreeText{Argument: "patch", Grammar: "start: /x+/"}},
		{Name: "other", Parameters: schema},
	}}
}

// A call in free text has the same arguments as in JSON, in any pieces, and is sent back unchanged to its model, and as
// JSON to another model.
func TestFreeText(t *testing.T) {
	for _, size := range []int{0, 1, 7} {
		for _, way := range []modeltest.Part{modeltest.Pause(0), modeltest.Dribble{}, modeltest.Plain{}} {
			srv := modeltest.Start(t, modeltest.Steps(
				modeltest.Answer{
					way,
					modeltest.Chunks{Bytes: size},
					modeltest.Reasoning{Text: "hm"},
					modeltest.Call{ID: "c1", Name: "apply_patch", Arguments: aPatch},
					modeltest.Call{ID: "c2", Name: "other", Arguments: `{"a":1}`},
				},
				modeltest.Answer{modeltest.Text("ok")}, modeltest.Answer{modeltest.Text("ok")},
			))
			c := responses.Config{BaseURL: srv.URL, Free: true}
			first := modeltest.Collect(t.Context(), newModel(t, c), freely())
			if first.Err != nil {
				t.Fatal(first.Err)
			}
			calls := first.Done.Message.ToolCalls
			if len(calls) != 2 || calls[0].Arguments != wrapped || calls[1].Arguments != `{"a":1}` || len(first.Ready) != 2 || first.Ready[0].Arguments != wrapped {
				t.Fatalf("calls %q, ready %q", calls, first.Ready)
			}
			stored, err := json.Marshal(first.Done.Message) // as the journal does
			if err != nil {
				t.Fatal(err)
			}
			var back model.Message
			if err := json.Unmarshal(stored, &back); err != nil {
				t.Fatal(err)
			}
			again := freely(back, model.Message{Role: model.Tool, ToolCallID: "c1", Content: "done"}, model.Message{Role: model.Tool, ToolCallID: "c2", Content: "done"})
			other := c
			other.Model, other.Free = "other", false
			for i, want := range []struct {
				config responses.Config
				parts  []string
			}{
				{c, []string{`{"type":"custom","name":"apply_patch","description":"patches","format":{"type":"grammar","syntax":"lark","definition":"start: /x+/"}}`, freeCall, `{"type":"custom_tool_call_output","call_id":"c1","output":"done"}`, `{"type":"function_call_output","call_id":"c2","output":"done"}`}},
				{other, []string{`{"type":"function","name":"apply_patch"`, jsonCall, `{"type":"function_call_output","call_id":"c1","output":"done"}`}},
			} {
				if r := modeltest.Collect(t.Context(), newModel(t, want.config), again); r.Err != nil {
					t.Fatal(r.Err)
				}
				for _, part := range want.parts {
					if body := string(srv.Requests()[i+1].Body); !strings.Contains(body, part) {
						t.Errorf("sent\n%s\nwithout\n%s", body, part)
					}
				}
			}
		}
	}
}

// After a server has refused such tools, requests have none, and earlier calls are sent as JSON.
func TestFreeTextIsRefused(t *testing.T) {
	srv := modeltest.Start(t, modeltest.Steps(
		modeltest.Answer{modeltest.Call{ID: "c1", Name: "apply_patch", Arguments: aPatch}},
		modeltest.Answer{modeltest.Status{Code: 400, Body: `{"error":{"message":"Invalid value: 'custom'. Supported values are: 'function'.","param":"tools[0].type"}}`}},
		modeltest.Answer{modeltest.Text("ok")}, modeltest.Answer{modeltest.Text("ok")},
	))
	m := newModel(t, responses.Config{BaseURL: srv.URL, Free: true})
	first := modeltest.Collect(t.Context(), m, freely())
	again := freely(*first.Done.Message, model.Message{Role: model.Tool, ToolCallID: "c1", Content: "done"})
	for range 2 {
		if r := modeltest.Collect(t.Context(), m, again); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	all := srv.Requests()
	if len(all) != 4 || !strings.Contains(string(all[1].Body), freeCall) || !strings.Contains(string(all[2].Body), jsonCall) || strings.Contains(string(all[3].Body), "custom") {
		t.Errorf("%d requests, the last %s", len(all), all[len(all)-1].Body)
	}
}

// Free text for a tool without that form is a call, which the tool refuses because of its arguments.
func TestFreeTextForAnUnknownTool(t *testing.T) {
	r := stream(t, string(done(0, `{"type":"custom_tool_call","id":"i","call_id":"c1","name":"x","input":"y"}`)), completed)
	if r.Err != nil || len(r.Done.Message.ToolCalls) != 1 || r.Done.Message.ToolCalls[0].Arguments != `{"input":"y"}` {
		t.Errorf("%v, %+v", r.Err, r.Done)
	}
	cut := stream(t, `{"type":"response.output_item.added","output_index":0,"item":{"type":"custom_tool_call","id":"i","call_id":"c1","name":"x","input":""}}`,
		`{"type":"response.custom_tool_call_input.delta","output_index":0,"item_id":"i","delta":"*** Be"}`)
	if cut.Err == nil || len(cut.Ready) != 0 {
		t.Errorf("a call that was cut off is one: %+v", cut.Ready)
	}
}

package completions_test

import (
	"encoding/json"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/completions"
	"buddy/agent/model/modeltest"
)

// TestReasoningRequired: a server that refuses answers without reasoning, such as those of another model or an
// interrupted one, gets some in each. One that refuses the field gets none.
func TestReasoningRequired(t *testing.T) {
	for _, tt := range []struct {
		said string
		sent int  // answers with made-up reasoning in the last request
		own  bool // the model's own reasoning is in it
	}{
		{`{"error":{"message":"thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"}}`, 2, true},
		{"{\"error\":{\"message\":\"The `reasoning_content` in the thinking mode must be passed back to the API.\"}}", 2, true},
		{`{"error":{"message":"messages.1: property 'reasoning_content' is unsupported"}}`, 0, false},
	} {
		n := 0
		srv := modeltest.Start(t, func(modeltest.Request) modeltest.Answer {
			if n++; n == 1 {
				return modeltest.Answer{modeltest.Status{Code: 400, Body: tt.said}}
			}
			return modeltest.Answer{modeltest.Text("ok")}
		})
		m := newModel(t, completions.Config{BaseURL: srv.URL})
		msgs := []model.Message{
			question.Messages[0],
			{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "c1", Name: "look", Arguments: "{}"}}},
			{Role: model.Tool, ToolCallID: "c1", Content: "nothing"},
			{Role: model.Assistant, Content: "half of an ans"},
			question.Messages[0],
			{Role: model.Assistant, Content: "all of it", Extra: map[string]json.RawMessage{"reasoning_content": json.RawMessage(`"hm"`), noteKey: from(t, m)}},
			question.Messages[0],
		}
		first := modeltest.Collect(t.Context(), m, model.Request{Messages: msgs})
		second := modeltest.Collect(t.Context(), m, model.Request{Messages: msgs})
		sent := srv.Requests()
		last := string(sent[len(sent)-1].Body)
		if first.Err != nil || second.Err != nil || len(sent) != 3 || strings.Count(last, `"reasoning_content":" "`) != tt.sent || strings.Contains(last, `"reasoning_content":"hm"`) != tt.own {
			t.Errorf("%s: %v, %v, %d requests, the last %s", tt.said, first.Err, second.Err, len(sent), last)
		}
	}
}

package completions_test

import (
	"encoding/json"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/completions"
	"buddy/agent/model/modeltest"
)

// TestExtraStaysWithItsModel: fields outside the protocol, such as reasoning and signatures, are sent back only to the
// model and address that they came from, even after they were stored.
func TestExtraStaysWithItsModel(t *testing.T) {
	answer := modeltest.Answer{
		modeltest.Event(delta(`"reasoning_content":"mine alone","reasoning_details":[{"signature":"mine alone"}]`)), modeltest.Text("let me see"),
		modeltest.Event(delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"look","arguments":"{}"},"extra_content":{"google":{"thought_signature":"mine alone"}}}]`)),
	}
	home, other := modeltest.Start(t, modeltest.Steps(answer)), modeltest.Start(t, modeltest.Steps())
	r := modeltest.Collect(t.Context(), newModel(t, completions.Config{BaseURL: home.URL}), question)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	raw, err := json.Marshal(*r.Done.Message)
	var stored model.Message
	if err != nil || json.Unmarshal(raw, &stored) != nil {
		t.Fatal(err)
	}
	bare := stored
	bare.Extra = map[string]json.RawMessage{"reasoning_content": stored.Extra["reasoning_content"]} // as older versions stored it
	bare.ToolCalls = []model.ToolCall{stored.ToolCalls[0]}
	bare.ToolCalls[0].Extra = map[string]json.RawMessage{"extra_content": stored.ToolCalls[0].Extra["extra_content"]}
	for _, tt := range []struct {
		name  string
		srv   *modeltest.Server
		model string
		said  model.Message
		want  int
	}{
		{"the same model", home, "test-1", stored, 3},
		{"another model", home, "test-2", stored, 0},
		{"another address", other, "test-1", stored, 0},
		{"of nobody knows which model", home, "test-1", bare, 0},
	} {
		msgs := []model.Message{question.Messages[0], tt.said, {Role: model.Tool, ToolCallID: "c1", Content: "nothing"}}
		modeltest.Collect(t.Context(), newModel(t, completions.Config{BaseURL: tt.srv.URL, Model: tt.model}), model.Request{Messages: msgs})
		sent := tt.srv.Requests()
		body := string(sent[len(sent)-1].Body)
		if n := strings.Count(body, "mine alone"); n != tt.want || strings.Contains(body, model.Note) || !strings.Contains(body, "let me see") {
			t.Errorf("%s: %d times, not %d, in %s", tt.name, n, tt.want, body)
		}
	}
	if len(stored.Extra) != 3 || len(stored.ToolCalls[0].Extra) != 2 {
		t.Errorf("the history has %v, %v", stored.Extra, stored.ToolCalls[0].Extra)
	}
}

package completions_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/completions"
	"buddy/agent/model/modeltest"
)

// TestGeminiTakesCallsOfOthers: Gemini 3 requires a signature at the first call of each answer. Missing ones get a
// placeholder; its own ones stay, and other models get none.
func TestGeminiTakesCallsOfOthers(t *testing.T) {
	const (
		google = "https://generativelanguage.googleapis.com/v1beta/openai"
		skip   = `"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}`
	)
	for _, tt := range []struct {
		url, model string
		want       int
	}{
		{google, "gemini-3-pro-preview", 2},
		{google, "models/gemini-flash-latest", 2},
		{google, "gemini-2.5-pro", 0},
		{"https://gateway.example/v1", "google/gemini-3.5-flash", 2},
		{"https://openrouter.ai/api/v1", "google/gemini-3.5-flash", 0}, // it adds signatures itself
		{"https://api.example.com/v1", "glm-5", 0},
	} {
		srv := modeltest.New(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{modeltest.Text("ok")} })
		m := newModel(t, completions.Config{BaseURL: tt.url, Model: tt.model, HTTPClient: &http.Client{Transport: srv.Transport()}})
		call := func(id string) model.ToolCall { return model.ToolCall{ID: id, Name: "look", Arguments: "{}"} }
		signed := call("signed")
		signed.Extra = map[string]json.RawMessage{"extra_content": json.RawMessage(`{"google":{"thought_signature":"its own"}}`), noteKey: from(t, m)}
		said := func(calls ...model.ToolCall) []model.Message {
			all := []model.Message{{Role: model.Assistant, ToolCalls: calls}}
			for _, c := range calls {
				all = append(all, model.Message{Role: model.Tool, ToolCallID: c.ID, Content: "nothing"})
			}
			return all
		}
		msgs := append([]model.Message{question.Messages[0]}, said(call("a"), call("b"))...)
		msgs = append(append(msgs, said(signed, call("c"))...), said(call("d"))...)
		_ = modeltest.Collect(t.Context(), m, model.Request{Messages: msgs})
		body := string(srv.Requests()[0].Body)
		if n := strings.Count(body, skip); n != tt.want || strings.Count(body, "thought_signature\"") != n+1 || n > 0 && (!strings.Contains(body, `{"id":"a","type":"function","function":{"name":"look","arguments":"{}"},`+skip) || strings.Count(body, `"arguments":"{}"}}`) != 2) {
			t.Errorf("%s at %s: %d times, not %d, in %s", tt.model, tt.url, n, tt.want, body)
		}
	}
}

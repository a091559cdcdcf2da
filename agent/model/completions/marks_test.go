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

// TestMarks: only Claude through OpenRouter gets cache marks.
func TestMarks(t *testing.T) {
	msgs := []model.Message{
		{Role: model.System, Content: "be brief"},
		{Role: model.User, Content: "one"},
		{Role: model.Assistant, Content: "a"},
		{Role: model.User, Content: "two"},
		{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "c", Name: "x", Arguments: "{}"}}},
		{Role: model.Tool, ToolCallID: "c", Content: "done"},
		{Role: model.User, Content: "of the moment"},
	}
	for _, tt := range []struct {
		base, model string
		want        string // the texts with a mark
	}{
		{"https://openrouter.ai/api/v1", "anthropic/claude-sonnet-5.5", "be brief two done"},
		{"https://openrouter.ai/api/v1", "z-ai/glm-5", ""},
		{"https://api.example.com/v1", "claude-sonnet-5-5", ""},
	} {
		var body []byte
		srv := modeltest.New(func(r modeltest.Request) modeltest.Answer {
			body = r.Body
			return modeltest.Answer{modeltest.Text("ok")}
		})
		m := newModel(t, completions.Config{BaseURL: tt.base, Model: tt.model, HTTPClient: &http.Client{Transport: srv.Transport()}})
		_ = modeltest.Collect(t.Context(), m, model.Request{Messages: msgs, Ephemeral: 1}) // the schema of OpenAI has no marks: a refusal does not matter
		if body == nil {
			body = srv.Requests()[0].Body
		}
		var b struct {
			Messages []struct{ Content json.RawMessage }
		}
		if err := json.Unmarshal(body, &b); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range b.Messages {
			var parts []struct {
				Text  string
				Cache *struct{ Type string } `json:"cache_control"`
			}
			if json.Unmarshal(m.Content, &parts) == nil && len(parts) == 1 && parts[0].Cache != nil && parts[0].Cache.Type == "ephemeral" {
				got = append(got, parts[0].Text)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s %s: marks at %q, want %q", tt.base, tt.model, got, tt.want)
		}
	}
}

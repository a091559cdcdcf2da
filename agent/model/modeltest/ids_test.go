package modeltest_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
)

var idInBody = regexp.MustCompile(`"(?:id|call_id|tool_call_id|tool_use_id)":"([^"]*)"`)

// TestCallIDsOfOthers: another model's call ids that a server would refuse are sent in an accepted form, the same for a
// call and its result, and different for different calls. Accepted ids stay.
func TestCallIDsOfOthers(t *testing.T) {
	const (
		plain = "call_1"
		kimi  = "functions.look:0"
		nine  = "aB3dE6gH9"
	)
	long := "fc_" + strings.Repeat("0123456789abcdef", 3)
	longer := "fc_" + strings.Repeat("0123456789abcdef", 6)
	all := []string{plain, kimi, nine, long, long + "0", longer, longer + "0"}
	mistral := regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
	for _, tt := range []struct {
		api, url, model string
		takes           *regexp.Regexp
		stay            []string
	}{
		{"completions", other, "test-1", regexp.MustCompile(`^.{1,40}$`), []string{plain, kimi, nine}},
		{"responses", other, "test-1", regexp.MustCompile(`^.{1,64}$`), []string{plain, kimi, nine, long, long + "0"}},
		{"anthropic", other, "test-1", regexp.MustCompile(`^[a-zA-Z0-9_-]+$`), []string{plain, nine, long, long + "0", longer, longer + "0"}},
		{"completions", "https://api.mistral.ai/v1", "open-mixtral", mistral, []string{nine}},
		{"completions", openRouter, "mistralai/Devstral-2", mistral, []string{nine}},
		{"completions", vLLM, "Mistral-Large", mistral, []string{nine}},
	} {
		msgs := question.Messages
		for _, id := range all {
			msgs = append(msgs, model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: id, Name: "look", Arguments: "{}"}}},
				model.Message{Role: model.Tool, ToolCallID: id, Content: "nothing"})
		}
		body := sent(t, tt.api, modeltest.Config{BaseURL: tt.url, Model: tt.model}, msgs)
		ids := idInBody.FindAllStringSubmatch(body, -1)
		if len(ids) != 2*len(all) {
			t.Fatalf("%s: %d ids in %s", tt.api, len(ids), body)
		}
		seen, kept := make(map[string]bool), 0
		for i, id := range all {
			call, result := ids[2*i][1], ids[2*i+1][1]
			if call != result || seen[call] || !tt.takes.MatchString(call) {
				t.Errorf("%s, %s, %s: %q became %q and %q", tt.api, tt.url, tt.model, id, call, result)
			}
			if seen[call] = true; call == id {
				kept++
			}
		}
		if kept != len(tt.stay) {
			t.Errorf("%s, %s, %s: %d ids stayed, not %q", tt.api, tt.url, tt.model, kept, tt.stay)
		}
	}
}

// sent returns the body of a model's request.
func sent(t *testing.T, api string, c modeltest.Config, msgs []model.Message) string {
	t.Helper()
	r := &recorder{}
	c.HTTPClient = &http.Client{Transport: r}
	_ = modeltest.Collect(t.Context(), protocol(t, api).New(t, c), model.Request{Messages: msgs})
	return string(r.body)
}

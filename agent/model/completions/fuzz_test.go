package completions_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/completions"
	"buddy/agent/model/modeltest"
)

// FuzzAnswer: any answer of a server becomes an error or a message that agrees with its deltas, survives the journal
// and can be sent back.
func FuzzAnswer(f *testing.F) {
	const data, end = "data: ", "data: [DONE]\n\n"
	for _, members := range []string{
		`"content":"a"`, `"content":[{"type":"text","text":"a"},{"type":"thinking","thinking":"b"}]`, `"refusal":"no"`,
		`"reasoning_content":"why","reasoning":"why"`, `"reasoning_details":[{"type":"reasoning.text","text":"a","signature":"s"}]`,
		`"tool_calls":[{"index":0,"id":"c","function":{"name":"x","arguments":"{\"a\":1}"}}]`,
		`"tool_calls":[{"function":{"name":"x","arguments":{"a":1}}},{"function":{"name":"x"}}]`,
	} {
		event := data + delta(members) + "\n\n"
		f.Add(event + event + end)
	}
	f.Add(`{"choices":[{"message":{"role":"assistant","content":"é","audio":{"id":1}},"finish_reason":"length"}],"usage":{"prompt_tokens":"7"}}`)
	f.Add(data + `{"error":{"message":"no"}}` + "\n\n")
	f.Fuzz(func(t *testing.T, body string) {
		m := newModel(t, completions.Config{BaseURL: "http://x", HTTPClient: &http.Client{Transport: canned(body)}})
		r := modeltest.Collect(t.Context(), m, question)
		var e *model.Error
		if r.Err != nil {
			if !errors.As(r.Err, &e) || r.Done != nil {
				t.Fatalf("error = %v, done = %v", r.Err, r.Done)
			}
			return
		}
		if r.Done == nil || r.Done.Message.Content != r.Text || len(r.Ready) > len(r.Done.Message.ToolCalls) {
			t.Fatalf("%+v", r)
		}
		line, err := json.Marshal(r.Done.Message)
		if err != nil {
			t.Fatal(err)
		}
		var back model.Message
		if err := json.Unmarshal(line, &back); err != nil {
			t.Fatal(err)
		}
		again := modeltest.Collect(t.Context(), m, model.Request{Messages: []model.Message{question.Messages[0], back}})
		if (again.Err == nil) != (r.Err == nil) {
			t.Fatal(again.Err)
		}
	})
}

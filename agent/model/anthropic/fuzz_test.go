package anthropic_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/anthropic"
	"buddy/agent/model/modeltest"
)

// FuzzAnswer: any answer of a server becomes an error or a message that agrees with its deltas, survives the journal
// and can be sent back.
func FuzzAnswer(f *testing.F) {
	const data = "data: "
	f.Add(data + start + "\n\n" + data + piece + "\n\n" + end)
	f.Add(data + `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"a","signature":""}}` + "\n\n" +
		data + `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}` + "\n\n" + data + piece + "\n\n" + end)
	f.Add(data + `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"x","input":{}}}` + "\n\n" +
		data + `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}` + "\n\n" +
		data + `{"type":"content_block_stop","index":1}` + "\n\n" + end)
	f.Add(`{"type":"message","content":[{"type":"server_tool_use","input":[]},{"type":"text","text":"é"},{"type":"new"}],"stop_reason":"end_turn","usage":{"input_tokens":1}}`)
	f.Add(data + `{"type":"error","error":{"type":"overloaded_error"}}` + "\n\n")
	f.Fuzz(func(t *testing.T, body string) {
		m := newModel(t, anthropic.Config{BaseURL: "http://x", HTTPClient: &http.Client{Transport: canned(body)}})
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
		var sent []byte
		keep := transport(func(req *http.Request) { sent, err = io.ReadAll(req.Body) })
		again := newModel(t, anthropic.Config{BaseURL: "http://x", HTTPClient: &http.Client{Transport: keep}})
		msgs := []model.Message{question.Messages[0], back}
		for _, c := range back.ToolCalls {
			msgs = append(msgs, model.Message{Role: model.Tool, ToolCallID: c.ID, Content: "r"})
		}
		if len(back.ToolCalls) == 0 {
			msgs = append(msgs, question.Messages[0])
		}
		if r := modeltest.Collect(t.Context(), again, model.Request{Messages: msgs}); r.Err != nil {
			t.Fatal(r.Err)
		}
		if err != nil || !json.Valid(sent) {
			t.Fatalf("sent %q, %v", sent, err)
		}
	})
}

// transport passes a request to a function and answers it.
type transport func(*http.Request)

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) {
	f(req)
	return canned(end).RoundTrip(req)
}

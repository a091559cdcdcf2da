package anthropic_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/anthropic"
	"buddy/agent/model/modeltest"
)

// canned answers every request with the same body, without a network.
type canned string

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(c)))}, nil
}

const end = `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n"

// BenchmarkClient reads an answer of 200 KB in deltas of 16 bytes, without a network.
func BenchmarkClient(b *testing.B) {
	for _, bb := range []struct{ name, block, delta string }{
		{"text", `{"type":"text","text":""}`, `{"type":"text_delta","text":"Sixteen bytes ok"}`},
		{"thinking", `{"type":"thinking","thinking":""}`, `{"type":"thinking_delta","thinking":"Sixteen bytes ok"}`},
		{"arguments", `{"type":"tool_use","id":"a","name":"x","input":{}}`, `{"type":"input_json_delta","partial_json":"Sixteen bytes ok"}`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			body := canned(`data: {"type":"content_block_start","index":0,"content_block":` + bb.block + "}\n\n" +
				strings.Repeat("event: content_block_delta\n"+`data: {"type":"content_block_delta","index":0,"delta":`+bb.delta+"}\n\n", 200<<10/16) + end)
			m := newModel(b, anthropic.Config{BaseURL: "http://x", HTTPClient: &http.Client{Transport: body}})
			b.SetBytes(200 << 10)
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for d, err := range m.Stream(b.Context(), question) {
					if err != nil {
						b.Fatal(err)
					}
					n += len(d.Text)
				}
				if n != 200<<10 {
					b.Fatal(n)
				}
			}
		})
	}
}

// BenchmarkTurn sends one short turn after a conversation of 1 MB.
func BenchmarkTurn(b *testing.B) {
	var msgs []model.Message
	for range 100 {
		msgs = append(msgs,
			model.Message{Role: model.User, Content: strings.Repeat("a <line> of text\n", 300)},
			model.Message{Role: model.Assistant, Content: strings.Repeat("a \"line\" of text\n", 300)})
	}
	msgs = append(msgs, question.Messages...)
	m := newModel(b, anthropic.Config{BaseURL: "http://x", HTTPClient: &http.Client{Transport: canned(end)}})
	b.ReportAllocs()
	for b.Loop() {
		if r := modeltest.Collect(b.Context(), m, model.Request{Messages: msgs}); r.Err != nil {
			b.Fatal(r.Err)
		}
	}
}

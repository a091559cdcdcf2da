package responses_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"buddy/agent/model/responses"
)

// body answers every request with the same text, without a network.
type body string

func (b body) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(b)))}, nil
}

func canned(s string) *http.Client { return &http.Client{Transport: body(s)} }

// BenchmarkClient reads an answer of 200 KB in deltas of 16 bytes.
func BenchmarkClient(b *testing.B) {
	var all strings.Builder
	const n = 200 << 10 / 16
	for i := range n {
		fmt.Fprintf(&all, "event: response.output_text.delta\ndata: "+`{"type":"response.output_text.delta","content_index":0,"delta":"Sixteen bytes ok","item_id":"msg_0123456789abcdef0123456789abcdef","logprobs":[],"obfuscation":"abc","output_index":0,"sequence_number":%d}`+"\n\n", i)
	}
	all.WriteString("data: " + completed + "\n\n")
	m := newModel(b, responses.Config{BaseURL: "http://x", HTTPClient: canned(all.String())})
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range m.Stream(b.Context(), question) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

package completions_test

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/completions"
	"buddy/agent/model/modeltest"
)

// BenchmarkAnswer reads an answer of 200 KB in deltas of 16 bytes over loopback. cpu-ms is the CPU time of the whole
// process, server included, for one answer.
func BenchmarkAnswer(b *testing.B) {
	text := strings.Repeat("Sixteen bytes ok", 200<<10/16)
	for _, bb := range []struct {
		name string
		part modeltest.Part
	}{
		{"text", modeltest.Text(text)},
		{"reasoning", modeltest.Reasoning{Text: text}},
		{"arguments", modeltest.Call{ID: "a", Name: "x", Arguments: `{"content":"` + text + `"}`}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			var body strings.Builder
			srv := modeltest.Start(b, func(modeltest.Request) modeltest.Answer {
				return modeltest.Answer{modeltest.Chunks{Bytes: 16}, bb.part}
			})
			m := newModel(b, completions.Config{BaseURL: srv.URL})
			b.ReportAllocs()
			before := cpu(b)
			for b.Loop() {
				body.Reset()
				for d, err := range m.Stream(b.Context(), question) {
					if err != nil {
						b.Fatal(err)
					}
					if d.Kind != model.Done {
						body.WriteString(d.Text)
					}
				}
			}
			b.ReportMetric(float64((cpu(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
			if body.Len() < len(text) {
				b.Fatalf("%d bytes", body.Len())
			}
		})
	}
}

// cpu returns the CPU time of this process.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTurn sends one short turn after a conversation of 1 MB.
func BenchmarkTurn(b *testing.B) {
	const ok = `data: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	var msgs []model.Message
	for range 100 {
		msgs = append(msgs,
			model.Message{Role: model.User, Content: strings.Repeat("a <line> of text\n", 300)},
			model.Message{Role: model.Assistant, Content: strings.Repeat("a \"line\" of text\n", 300)})
	}
	msgs = append(msgs, question.Messages...)
	m := newModel(b, completions.Config{BaseURL: "http://x", HTTPClient: &http.Client{Transport: canned(ok)}})
	b.ReportAllocs()
	for b.Loop() {
		if r := modeltest.Collect(b.Context(), m, model.Request{Messages: msgs}); r.Err != nil {
			b.Fatal(r.Err)
		}
	}
}

// canned answers every request with the same body, without a network.
type canned string

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(c)))}, nil
}

// BenchmarkClient is BenchmarkAnswer without a server.
func BenchmarkClient(b *testing.B) {
	const event = `data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"test-1","choices":[{"index":0,"delta":{"content":"Sixteen bytes ok"},"logprobs":null,"finish_reason":null}]}` + "\n\n"
	body := canned(strings.Repeat(event, 200<<10/16) + "data: [DONE]\n\n")
	m := newModel(b, completions.Config{BaseURL: "http://x", HTTPClient: &http.Client{Transport: body}})
	b.ReportAllocs()
	before := cpu(b)
	for b.Loop() {
		for _, err := range m.Stream(b.Context(), question) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64((cpu(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

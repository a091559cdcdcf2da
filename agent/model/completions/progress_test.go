package completions

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/wire"
)

// llamaStream is the answer of a llama.cpp server (build 11434) with return_progress, shortened: progress before and
// after each batch, and a ping every half minute in between.
const llamaStream = `data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"created":1795979494,"id":"chatcmpl-b","model":"model.gguf","system_fingerprint":"b0-unknown","object":"chat.completion.chunk","prompt_progress":{"total":847,"cache":5,"processed":5,"time_ms":0}}

:

data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"created":1795979694,"id":"chatcmpl-b","model":"model.gguf","system_fingerprint":"b0-unknown","object":"chat.completion.chunk","prompt_progress":{"total":847,"cache":5,"processed":847,"time_ms":200215}}

data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"created":1795979694,"id":"chatcmpl-b","model":"model.gguf","system_fingerprint":"b0-unknown","object":"chat.completion.chunk"}

data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"Hello"}}],"created":1795979694,"id":"chatcmpl-b","model":"model.gguf","system_fingerprint":"b0-unknown","object":"chat.completion.chunk"}

data: {"choices":[{"finish_reason":"stop","index":0,"delta":{}}],"created":1795979712,"id":"chatcmpl-b","model":"model.gguf","system_fingerprint":"b0-unknown","object":"chat.completion.chunk"}

data: {"choices":[],"created":1795979712,"id":"chatcmpl-b","model":"model.gguf","object":"chat.completion.chunk","usage":{"completion_tokens":3,"prompt_tokens":847,"total_tokens":850,"prompt_tokens_details":{"cached_tokens":5}}}

data: [DONE]

`

// TestProgress: only a llama.cpp server is asked for its progress. The numbers are in no message, and impossible ones
// are dropped.
func TestProgress(t *testing.T) {
	for _, tt := range []struct {
		name, server, stream string
		asked                bool
		want                 string
	}{
		{"llama.cpp", "llamacpp", llamaStream, true, "5/847 847/847 Hello"},
		{"another", "vllm", llamaStream, false, "5/847 847/847 Hello"},
		{"impossible", "llamacpp", strings.Replace(llamaStream, `"processed":5,`, `"processed":900,`, 1), true, "847/847 Hello"},
		{"negative", "llamacpp", strings.Replace(llamaStream, `"cache":5,`, `"cache":-5,`, 1), true, "847/847 Hello"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := false
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body := make([]byte, r.ContentLength)
				_, _ = r.Body.Read(body)
				asked = strings.Contains(string(body), `"return_progress":true`)
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, tt.stream)
			}))
			defer s.Close()
			m, err := New(wire.Config{Profile: "p", BaseURL: s.URL, Model: "model.gguf", Server: tt.server})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for d, err := range m.Stream(t.Context(), model.Request{Messages: []model.Message{{Role: model.User, Content: "hi"}}}) {
				switch {
				case err != nil:
					t.Fatal(err)
				case d.Kind == model.Reading:
					got = append(got, fmt.Sprintf("%d/%d", d.Prompt.Done, d.Prompt.Total))
				case d.Kind == model.Done:
					got = append(got, d.Message.Content)
					if len(d.Message.Extra) > 0 || d.Usage.Cached != 5 {
						t.Errorf("%+v, %+v", d.Message, d.Usage)
					}
				}
			}
			if strings.Join(got, " ") != tt.want || asked != tt.asked {
				t.Errorf("%q, asked %v; want %q, %v", got, asked, tt.want, tt.asked)
			}
		})
	}
}

// TestProgressIsRefused: a server that does not know the field gets this and later requests without it.
func TestProgressIsRefused(t *testing.T) {
	requests := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		body := make([]byte, r.ContentLength)
		_, _ = r.Body.Read(body)
		if strings.Contains(string(body), "return_progress") {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":{"message":"Unrecognized request argument supplied: return_progress","type":"invalid_request_error"}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, llamaStream)
	}))
	defer s.Close()
	m, err := New(wire.Config{Profile: "p", BaseURL: s.URL, Model: "model.gguf", Server: "llamacpp"})
	if err != nil {
		t.Fatal(err)
	}
	healed := 0
	for range 2 {
		for d, err := range m.Stream(t.Context(), model.Request{Messages: []model.Message{{Role: model.User, Content: "hi"}}}) {
			if err != nil {
				t.Fatal(err)
			}
			if d.Kind == model.Healed {
				healed++
				if want := "model.gguf refused a request: from now on, requests are sent without return_progress"; d.Needs.Text != want {
					t.Errorf("%q, want %q", d.Needs.Text, want)
				}
			}
		}
	}
	if requests != 3 || healed != 1 {
		t.Errorf("%d requests, healed %d times", requests, healed)
	}
}

package blocks_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"buddy/agent/model/blocks"
	"buddy/agent/model/completions"
	"buddy/agent/model/wire"
)

// TestRecordedAnswers plays answers of a real model on a real llama-server (Qwen2.5-Coder 1.5B, 4 bits).
func TestRecordedAnswers(t *testing.T) {
	for name, want := range map[string]struct{ shown, call string }{
		"command": {"", `{"command":"ls docs"}`},        // the explanation after it is cut off
		"answer":  {"```\nBuy rope.\n```", ""},          // the text of the shown file
		"file":    {"```python\n# hello.py\nprint", ""}, // an example without a file name before it
	} {
		stream, err := os.ReadFile("testdata/" + name + ".sse")
		if err != nil {
			t.Fatal(err)
		}
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write(stream)
		}))
		defer srv.Close()
		m, err := completions.New(wire.Config{Profile: "small", BaseURL: srv.URL + "/v1", Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		shown, done, _ := ask(t, blocks.New(m, "x"), reminder("note.txt:\n```\nBuy rope.\n```"), user("Say it."))
		got := ""
		for _, c := range done.Message.ToolCalls {
			got += c.Arguments
		}
		if got != want.call || !strings.HasPrefix(shown, want.shown) || want.shown == "" && shown != "" {
			t.Errorf("%s: called %s, shown %q", name, got, shown)
		}
	}
}

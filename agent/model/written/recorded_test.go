package written_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"buddy/agent/model/completions"
	"buddy/agent/model/wire"
	"buddy/agent/model/written"
)

// TestRecordedStreams reads streams that llama-server sent for Qwen2.5-Coder 1.5B with three tools.
func TestRecordedStreams(t *testing.T) {
	for file, want := range map[string]string{
		"write_file": `write_file { "path": "made.txt", "content": "hello" }`,
		"run_shell":  `run_shell { "command": "sed -i 's/^port = 8080$/port = 9090/' config.ini" }`,
	} {
		stream, err := os.ReadFile("testdata/" + file + ".sse")
		if err != nil {
			t.Fatal(err)
		}
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write(stream) // a client that has disconnected fails the test
		}))
		m, err := completions.New(wire.Config{Profile: "p", BaseURL: srv.URL + "/v1", Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		h := listen(written.New(m), request("go"))
		if got := calls(h.message); got != want || h.text != "" || h.err != nil {
			t.Errorf("%s: calls %q, said %q, %v", file, got, h.text, h.err)
		}
		srv.Close()
	}
}

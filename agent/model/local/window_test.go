package local

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// TestWindow: each kind of server is asked in its own way; a loaded window comes before a possible one.
func TestWindow(t *testing.T) {
	for name, tt := range map[string]struct {
		answers map[string]string // by path
		want    int
	}{
		"vllm":               {map[string]string{"/v1/models": `{"object":"list","data":[{"id":"other","max_model_len":1},{"id":"qwen3","max_model_len":40960}]}`}, 40960},
		"llama.cpp":          {map[string]string{"/v1/models": `{"object":"list","data":[{"id":"qwen3"}]}`, "/props": `{"default_generation_settings":{"n_ctx":16384}}`}, 16384},
		"Ollama, loaded":     {map[string]string{"/api/ps": `{"models":[{"name":"qwen3:latest","context_length":8192}]}`, "/api/show": `{"model_info":{"qwen3.context_length":262144}}`}, 8192},
		"Ollama, set":        {map[string]string{"/api/show": `{"parameters":"stop \"x\"\nnum_ctx                        32768\n","model_info":{"qwen3.context_length":262144}}`}, 32768},
		"Ollama":             {map[string]string{"/api/ps": `{"models":[]}`, "/api/show": `{"model_info":{"general.architecture":"qwen3","qwen3.context_length":262144}}`}, 262144},
		"LM Studio, loaded":  {map[string]string{"/api/v0/models": `{"data":[{"id":"qwen3","loaded_context_length":4096,"max_context_length":131072}]}`}, 4096},
		"LM Studio":          {map[string]string{"/api/v0/models": `{"data":[{"id":"qwen3","max_context_length":131072}]}`}, 131072},
		"another model":      {map[string]string{"/v1/models": `{"object":"list","data":[{"id":"x","max_model_len":40960}]}`}, 0},
		"nonsense":           {map[string]string{"/v1/models": `<html>`, "/props": `[]`, "/api/show": `{"model_info":{"a.context_length":-5}}`, "/api/v0/models": `{"data":[{"id":"qwen3","max_context_length":-9}]}`}, 0},
		"nothing is offered": {nil, 0},
	} {
		base := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if text, ok := tt.answers[r.URL.Path]; ok && (r.Method == http.MethodPost) == (r.URL.Path == "/api/show") {
				fmt.Fprint(w, text)
				return
			}
			w.WriteHeader(http.StatusNotFound)
		})
		if got := describe(t.Context(), base, "qwen3").Window; got != tt.want { // without the limit, which a busy machine may exceed
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
	begin := time.Now()
	for _, base := range []string{muteServer(t), "http://192.0.2.1/v1"} {
		if got := Describe(t.Context(), base, "qwen3"); got != (Facts{}) || time.Since(begin) > time.Minute {
			t.Errorf("%s: %+v after %v", base, got, time.Since(begin))
		}
	}
}

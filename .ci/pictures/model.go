package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"
)

// turn is one answer of the model: its text and its tool calls.
type turn struct {
	text  string
	calls []call
	slow  bool // word by word, for minutes
}

// call is a call of a tool with its arguments.
type call struct {
	tool string
	args map[string]any
}

// script maps each prompt to the model's answers, one per turn.
var script = map[string][]turn{
	"why do the checkout tests fail?": {
		{text: "Let me run them first.", calls: []call{{"run_shell", map[string]any{"command": "go test ./checkout/...", "why": "to see what fails"}}}},
		{calls: []call{{"read_file", map[string]any{"path": "checkout/tax.go"}}, {"read_file", map[string]any{"path": "checkout/tax_test.go"}}, {"grep", map[string]any{"pattern": "Tax\\("}}}},
		{text: "The division in `tax.go` truncates instead of rounding:", calls: []call{{"edit_file", map[string]any{
			"path": "checkout/tax.go", "why": "round to the nearest cent, also below zero",
			"old_string": "\treturn cents * 19 / 100\n", "new_string": "\tif cents < 0 {\n\t\treturn -Tax(-cents)\n\t}\n\treturn (cents*19 + 50) / 100\n",
		}}}},
		{calls: []call{{"run_shell", map[string]any{"command": "go test ./checkout/...", "why": "to see whether that was it"}}}},
		{text: "`Tax` rounds to the nearest cent now, and **TestTax** passes."},
	},
	"start everything and watch it": {
		{text: "Three commands, each in a pane of its own.", calls: []call{
			{"run_shell", map[string]any{"command": "sh api.sh", "wait": false, "why": "the api"}},
			{"run_shell", map[string]any{"command": "sh worker.sh", "wait": false, "why": "the worker"}},
			{"run_shell", map[string]any{"command": "sh assets.sh", "wait": false, "why": "the assets"}},
		}},
		{text: "All three run."},
	},
	"thanks": {{text: "You are welcome."}},
	"explain how checkout works": {{slow: true, text: "A price goes through three steps:\n\n1. The cart adds up its lines, in cents: money is never a fraction here.\n2. `Gross` adds the tax to that sum." +
		" `Tax` takes 19 % of it and rounds to the nearest cent.\n3. The receipt prints both.\n\nTwo things are worth knowing. " +
		"Prices below zero are refunds, and they are taxed as what they refund was; and " + strings.Repeat("the sum is taxed, not each line, so that rounding happens once. ", 20)}},
}

// serve answers requests for chat completions.
func serve() (*httptest.Server, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"qwen3-coder","object":"model"}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var req request
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		stream{w, r}.answer(req.turn())
	})
	return httptest.NewServer(mux), nil
}

// request holds the messages of a request that the script uses.
type request struct {
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Calls   []any           `json:"tool_calls"`
	} `json:"messages"`
}

// turn returns the scripted answer to a request: the next one after the last known prompt. Other requests are answered
// with a title.
func (r *request) turn() turn {
	round := 0
	for i := len(r.Messages) - 1; i >= 0; i-- {
		m := r.Messages[i]
		if m.Role == "assistant" && len(m.Calls) > 0 {
			round++
		}
		for prompt, turns := range script {
			quoted, _ := json.Marshal(prompt) // strings never fail
			if m.Role == "user" && strings.Contains(string(m.Content), strings.Trim(string(quoted), `"`)) && len(r.Messages) > 1 {
				if round < len(turns) {
					return turns[round]
				}
			}
		}
	}
	return turn{text: "Checkout taxes"}
}

// stream is an answer that is being written.
type stream struct {
	w http.ResponseWriter
	r *http.Request
}

// answer writes a turn.
func (s stream) answer(t turn) {
	words := []string{t.text}
	if t.slow {
		words = strings.SplitAfter(t.text, " ")
	}
	for _, word := range words {
		s.send(map[string]any{"content": word}, nil)
		if t.slow {
			select {
			case <-time.After(120 * time.Millisecond):
			case <-s.r.Context().Done():
				return
			}
		}
	}
	for i, c := range t.calls {
		args, _ := json.Marshal(c.args) // the script contains valid values only
		s.send(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": fmt.Sprintf("call_%d_%d", time.Now().UnixNano(), i), "type": "function",
			"function": map[string]any{"name": c.tool, "arguments": string(args)},
		}}}, nil)
	}
	reason := "stop"
	if len(t.calls) > 0 {
		reason = "tool_calls"
	}
	s.send(map[string]any{}, &reason)
	fmt.Fprint(s.w, "data: [DONE]\n\n")
}

// send writes a piece of the answer; the last one has the finish reason.
func (s stream) send(delta map[string]any, reason *string) {
	chunk := map[string]any{"id": "x", "object": "chat.completion.chunk", "model": "qwen3-coder", "choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}}}
	if reason != nil {
		chunk["usage"] = map[string]any{"prompt_tokens": 23100, "completion_tokens": 180, "total_tokens": 23280}
	}
	text, _ := json.Marshal(chunk) // contains valid values only
	fmt.Fprintf(s.w, "data: %s\n\n", text)
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

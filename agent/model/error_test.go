package model_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"buddy/agent/model"
)

// TestExcerpt: the server's text becomes one short, harmless line.
func TestExcerpt(t *testing.T) {
	long := strings.Repeat("é", 300)
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{" \n\t ", ""},
		{"  a \r\n\t b  ", "a b"},
		{"\x1b[31mred\x00\x7f", "\ufffd[31mred\ufffd\ufffd"},
		{"a\u202eb\u200bc", "a\ufffdb\ufffdc"},
		{"a\xff\xc3b", "a\ufffd\ufffdb"},
		{long, long[:198] + "…"},
		{strings.Repeat("x", 199), strings.Repeat("x", 199)},
	} {
		if got := model.Excerpt([]byte(tt.in)); got != tt.want {
			t.Errorf("Excerpt(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// FuzzExcerpt: never too long, never invalid, never a control character.
func FuzzExcerpt(f *testing.F) {
	f.Add([]byte("a\x1b\u202e é\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := model.Excerpt(b)
		if len(s) > 200+len("…") || !utf8.ValidString(s) || strings.ContainsAny(s, "\n\r\t\x1b\u202e") {
			t.Fatalf("Excerpt(%q) = %q", b, s)
		}
	})
}

// TestError: one line with all that is known, and the cause inside.
func TestError(t *testing.T) {
	e := &model.Error{Kind: model.StatusError, Endpoint: "http://x/v1", Status: 503, What: "503 service unavailable", Hint: "wait", Tries: 6, Err: io.EOF}
	e.Heard([]byte(`{"error":{"code":7,"message":"busy"}}`))
	if got := e.Error(); got != "x: 503 service unavailable: busy (tried 6 times); wait" || !errors.Is(e, io.EOF) {
		t.Errorf("%q", got)
	}
	if got := e.Raw(); got != "http://x/v1 503\n{\"error\":{\"code\":7,\"message\":\"busy\"}}" {
		t.Errorf("raw = %q", got)
	}
	for _, err := range []error{e, fmt.Errorf("outside: %w", e)} {
		cause, next, raw := model.Tell(err)
		if whole := strings.TrimSuffix(cause+"; "+next, "; "); whole != err.Error() || raw != e.Raw() {
			t.Errorf("Tell(%v) = %q, %q, %q", err, cause, next, raw)
		}
	}
}

// TestWords: only the message of a server's answer is shown, no object and no web page.
func TestWords(t *testing.T) {
	for _, tt := range []struct{ answer, want string }{
		{"", ""},
		{"slow down\n", "slow down"},
		{`{"error":{"message":"no \"x\"","type":"t"}}`, `no "x"`},
		{`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "Overloaded"},
		{`{"error":"model not found"}`, "model not found"},
		{`[{"error":{"code":429,"message":"quota"}}]`, "quota"},
		{`{"detail":[{"loc":["body"],"msg":"field required"}]}`, "field required"},
		{`{"detail":"Not here","message":"this first"}`, "this first"},
		{`{"error":{"message":"{\"error\":{\"message\":\"inner\"}}"}}`, "inner"},
		{`{"error":{"message":"Error code: 400 - {'error': {'x': 1}}"}}`, "Error code: 400"},
		{`data: {"message":"in an event"}`, "in an event"},
		{`{"error":{"message":"cut in the mid`, ""},
		{`{"message":"whole","details":[{"a`, "whole"},
		{`{"a":1}`, ""},
		{`{"message":7}`, ""},
		{"<html><body>502</body></html>", ""},
		{"\x1b[2Jtext", "\ufffd[2Jtext"},
	} {
		if got := model.Words([]byte(tt.answer)); got != tt.want {
			t.Errorf("Words(%s) = %q, want %q", tt.answer, got, tt.want)
		}
	}
}

// TestOverflow: many wordings mean that a conversation does not fit, and most include the window.
func TestOverflow(t *testing.T) {
	for said, want := range map[string]int{
		`{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","code":"context_length_exceeded"}}`:                                    128000,
		`{"error":{"message":"This endpoint's maximum context length is 1,048,576 tokens. However, you requested about 1293741 tokens"}}`:                                                                     1048576,
		`{"error":{"message":"Your input exceeds the context window of this model."}}`:                                                                                                                        0,
		`prompt is too long: 210000 tokens > 200000 maximum`:                                                                                                                                                  200000,
		"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length":                                                                                                  200000,
		`Input is TOO LONG for requested model.`:                                                                                                                                                              0,
		`{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`: 4096,
		`Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens`:                                                               4096,
		`The decoder prompt (length 9000) is longer than the maximum model length of 8192.`:                                                                                                                   8192,
		`The input (9000 tokens) is longer than the model's context length (8192 tokens).`:                                                                                                                    8192,
		`This model's maximum prompt length is 131072 but the request contains 537812 tokens.`:                                                                                                                131072,
		`Invalid request: Your request exceeded model token limit: 262144 (requested: 265312)`:                                                                                                                262144,
		`{"error":{"code":"1261","message":"Prompt exceeds max length"}}`:                                                                                                                                     0,
		`<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]`:                                                                                                              129024,
		`prompt token count of 100000 exceeds the limit of 64000`:                                                                                                                                             64000,
		`The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).`:                                                                                                             1048575,
		`Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length`:                                                                                              32768,
		`The prompt is too long: 143000, model maximum context length: 131071`:                                                                                                                                131071,
		`too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000`:                                                                                                            4081,
		`prompt too long; exceeded max context length by 8080 tokens`:                                                                                                                                         0,
		"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens":                                                                                             8193,
		`Please reduce the length of the messages or completion.`:                                                                                                                                             0,
		`invalid params, context window exceeds limit (2013)`:                                                                                                                                                 0,
		`Total tokens of image and text exceed max message tokens.`:                                                                                                                                           0,
		`Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 280000 tokens.`:                                                                                                 272000,
		`tokens in request more than max tokens allowed`:                                                                                                                                                      0,
		`max_total_tokens (172191) must be less than or equal to max_seq_len (131072)`:                                                                                                                        131072,
		`Input length 150000 exceeds the maximum allowed input length of 131072 tokens.`:                                                                                                                      131072,
		`Input length 9000 exceeds maximum allowed token size 8192`:                                                                                                                                           8192,
		`Input length 203743 exceeds the maximum length 202752`:                                                                                                                                               202752,
		`Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000`:                                                                                                40000,
		`{"error":"The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096)."}`:                                                                  4096,
		`{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`:                                                                                                            0,
		`litellm.ContextWindowExceededError: ...`:                                                                                                                                                             0,
	} {
		if got, ok := model.Overflow(said); !ok || got != want {
			t.Errorf("%s: %d, %v, want %d", said, got, ok, want)
		}
	}
	for _, said := range []string{
		"", "Invalid 'tools[0].function.name': string too long", "rate limit: too many tokens per minute", "no such model", "max_tokens is too large: 99999", "the image is too large", "Rate limit reached for tokens per min", "string too long. Expected a string with maximum length 64",
		"Too many tokens, please wait before trying again.", "Daily token limit exceeded", "Request exceeds the maximum size",
	} {
		if _, ok := model.Overflow(said); ok {
			t.Errorf("%q is no overflow", said)
		}
	}
}

// TestOverRate: a request larger than the limit never succeeds; one that comes too early does later.
func TestOverRate(t *testing.T) {
	for said, want := range map[string]bool{
		"Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 36278. The input or output tokens must be reduced":                       true,
		"Request too large for model `llama-3.1-8b-instant` in organization `x` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 6294, please reduce your": true,
		"TPM: Limit: 30,000 / min, Requested: 300,000": true,
		"Rate limit reached for model `llama-3.1-8b-instant` on tokens per minute (TPM): Limit 6000, Used 5034, Requested 1443. Please try again in 4.77s.": false,
		"Rate limit reached for gpt-4o on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.":                                   false,
		"Limit 30000, Requested 30000":     false,
		"The usage limit has been reached": false,
		"":                                 false,
	} {
		if got := model.OverRate(said); got != want {
			t.Errorf("%q: %v", said, got)
		}
	}
}

// TestShortHasOneClock: Short has the provider's words, but not its wait: the countdown shows it.
func TestShortHasOneClock(t *testing.T) {
	for _, tt := range []struct {
		status     int
		said, want string
	}{
		{429, "Rate limit reached for gpt-5.5. Please try again in 6.66s.", "Rate limited (429)"},
		{429, "Too many. Retry after 20 seconds.", "Rate limited (429)"},
		{429, "Too many sessions. See the docs.", "Rate limited (429): Too many sessions"},
		{500, "No GPU left.", "Server error (500): No GPU left"},
		{529, "Overloaded", "Overloaded (529)"},
	} {
		e := model.Error{Kind: model.StatusError, Status: tt.status, What: model.StatusText(tt.status), Said: tt.said}
		if got := e.Short(); got != tt.want {
			t.Errorf("%d %q: %q, want %q", tt.status, tt.said, got, tt.want)
		}
	}
}

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

// TestExcerpt: foreign text on one line, short and harmless.
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

// TestWords: of what servers answer, only words are shown; no object, no web page.
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

// TestTooLong: what only sounds like it is not it.
func TestTooLong(t *testing.T) {
	for _, said := range []string{"Invalid 'tools[0].function.name': string too long", "rate limit: too many tokens per minute", "max_tokens is too large", ""} {
		if model.TooLong(said) {
			t.Errorf("%q is taken for a conversation that is too long", said)
		}
	}
	if !model.TooLong("Input is TOO LONG for requested model.") { // the others are played by modeltest.TestFaults
		t.Error("Bedrock")
	}
}

// TestOverRate: a request that is over a limit alone never passes; one that only comes too early does.
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

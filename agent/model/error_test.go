package model_test

import (
	"errors"
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
	e := &model.Error{Kind: model.StatusError, Endpoint: "http://x/v1", Status: 503, What: "status 503", Body: "busy", Hint: "wait", Err: io.EOF}
	if got := e.Error(); got != "http://x/v1: status 503: busy; wait" || !errors.Is(e, io.EOF) {
		t.Errorf("%q", got)
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

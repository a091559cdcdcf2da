package redact

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) { // DECISIONS 9
	r := New("hunter2-hunter2", "short", "", "  padded-value\n")
	tests := []struct{ name, text, want string }{
		{"known value", "key=hunter2-hunter2;", "key=[redacted];"},
		{"known value, padded in its file", "x padded-value y", "x [redacted] y"},
		{"too short to know", "a short text", "a short text"},
		{"OpenAI", "OPENAI_API_KEY=sk-proj-" + strings.Repeat("a1B2", 8), "OPENAI_API_KEY=[redacted]"},
		{"Anthropic", "sk-ant-api03-" + strings.Repeat("x", 30), "[redacted]"},
		{"GitHub", "ghp_" + strings.Repeat("a", 36), "[redacted]"},
		{"AWS", "id AKIAIOSFODNN7EXAMPLE.", "id [redacted]."},
		{"header", "Authorization: Bearer abcdef0123456789", "Authorization: Bearer [redacted]"},
		{"URL", "postgres://ann:s3cret@db/x", "postgres://ann:[redacted]@db/x"},
		{"PEM", "a\n-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb", "a\n[redacted]\nb"},
		{"PEM in JSON", `-----BEGIN PRIVATE KEY-----\nMII+/=\n-----END PRIVATE KEY-----`, "[redacted]"},
		{"public key", "-----BEGIN PUBLIC KEY-----\nMII\n-----END PUBLIC KEY-----", "-----BEGIN PUBLIC KEY-----\nMII\n-----END PUBLIC KEY-----"},
		{"hash", "commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "commit 9fceb02d0ae598e95dc970b74767f19372d61af8"},
		{"words", "risk-free and task-based", "risk-free and task-based"},
		{"time in a URL", "http://host:8080/a@b", "http://host:8080/a@b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := r.Text(tt.text); got != tt.want {
				t.Errorf("Text(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
	if got := (*Redactor)(nil).Text("sk-" + strings.Repeat("a", 30)); got != Mark {
		t.Errorf("nil Redactor: %q", got)
	}
}

func BenchmarkText(b *testing.B) {
	text := strings.Repeat("2026/11/20 14:01:22 [info] GET https://example.invalid/a?b=c 200 in 12 ms\n", 100)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	r := New("hunter2-hunter2")
	for b.Loop() {
		r.Text(text)
	}
}

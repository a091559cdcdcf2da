package redact

import (
	"strings"
	"testing"
)

// TestLeast checks that the minimal length makes a secret in each form, and one byte less an ordinary word.
func TestLeast(t *testing.T) {
	for _, tt := range []struct {
		begin string
		n     int
		body  func(int) string
	}{
		{"sk-", 20, body},
		{"xai-", 60, body},
		{"gsk_", 40, body},
		{"hf_", 30, body},
		{"r8_", 35, body},
		{"pplx-", 40, body},
		{"csk-", 40, body},
		{"nvapi-", 50, body},
		{"tgp_v1_", 40, body},
		{"AIza", 35, body},
		{"ya29.", 40, body},
		{"GOCSPX-", 24, body},
		{"AKIA", 16, caps},
		{"ABSK", 100, body},
		{"aws_secret_access_key = ", 16, body},
		{"SharedAccessKey=", 8, body},
		{"https://x.blob/?sig=", 40, body},
		{"ghp_", 36, body},
		{"github_pat_", 40, body},
		{"glpat-", 20, body},
		{"npm_", 36, body},
		{"_authToken=", 8, body},
		{"pypi-", 50, body},
		{"rubygems_", 48, lower},
		{"dckr_pat_", 20, body},
		{"xoxb-", 10, body},
		{"hooks.slack.com/services/", 30, body},
		{"sk_live_", 16, body},
		{"SG.", 60, body},
		{"dop_v1_", 64, lower},
		{"shpat_", 32, lower},
		{"lin_api_", 40, body},
		{"ntn_", 40, body},
		{"hvs.", 24, body},
		{"dapi", 32, lower},
		{"glsa_", 32, body},
		{"sbp_", 40, lower},
		{"tskey-", 20, body},
		{"AGE-SECRET-KEY-1", 58, caps},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.", 10, body},
		{"x-api-key: ", 16, body},
		{"MY_TOKEN=", 8, body},
	} {
		text := "a " + tt.begin + tt.body(tt.n) + " b"
		if got := (*Redactor)(nil).Text(text); strings.Contains(got, tt.body(tt.n)) || !strings.Contains(got, Mark) {
			t.Errorf("Text(%q) = %q", text, got)
		}
		text = "a " + tt.begin + tt.body(tt.n-1) + " b"
		if got := (*Redactor)(nil).Text(text); got != text {
			t.Errorf("Text(%q) = %q, one byte too few", text, got)
		}
	}
}

// TestChanceFrom checks that only words of at least 20 bytes can be random, including at both ends of a text.
func TestChanceFrom(t *testing.T) {
	const word = "q7Xk2Lp9Zr4Wm8Vt1Bn6"
	for text, want := range map[string]string{
		word: Mark, "a " + word: "a " + Mark, word + " b": Mark + " b", word[:19]: word[:19], "a " + word[:19] + " b": "a " + word[:19] + " b",
	} {
		if got := Entropy(text); got != want {
			t.Errorf("Entropy(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestPEMLines checks that a key without its end marker continues while lines have at most 80 bytes, including
// headers.
func TestPEMLines(t *testing.T) {
	const begin = "-----BEGIN PRIVATE KEY-----\n"
	for _, line := range []string{body(80), ("Comment: " + strings.Repeat("x ", 40))[:80]} {
		text := begin + line + "\n" + body(64) + "\n"
		if got := (*Redactor)(nil).Text(text + "and on"); got != "-----BEGIN PRIVATE KEY-----"+Mark+"\nand on" {
			t.Errorf("a line of %d bytes: %q", len(line), got)
		}
		text = begin + line + "A\n" + body(64) + "\n"
		if got := (*Redactor)(nil).Text(text + "and on"); !strings.Contains(got, line+"A\n") {
			t.Errorf("a line of %d bytes: %q", len(line)+1, got)
		}
	}
}

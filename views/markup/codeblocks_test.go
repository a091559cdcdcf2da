package markup

import (
	"slices"
	"strings"
	"testing"
)

func TestCodeBlocks(t *testing.T) {
	long := strings.Repeat("x", plainLine+1) + "\n"
	tests := map[string][]string{
		"":                                     nil,
		"no `code` here":                       nil,
		"a\n```go\nx := 1\n\n\ty\n```\nb":      {"x := 1\n\n\ty"},
		"```\na\n```\n~~~\nb\n~~~\n":           {"a", "b"},
		"1. one\n   ```sh\n   make\n   ```\n":  {"make"},
		"> ```\n> quoted\n> ```\n":             {"quoted"},
		"text\n\n    indented\n      more\n":   {"indented\n  more"},
		"```\nstill open":                      {"still open"},
		"```\n```\n":                           {""},
		"```\na\x1b[31m\u202e\n```\n":          {"a\x1b[31m\u202e"},
		long + "```go\nx\n```\n~~~\ny\n~~~\nz": {"x", "y"},
		long + "```go\nx":                      {"x"},
	}
	for src, want := range tests {
		if got := CodeBlocks([]byte(src)); !slices.Equal(got, want) {
			t.Errorf("CodeBlocks(%.40q) = %q, want %q", src, got, want)
		}
	}
}

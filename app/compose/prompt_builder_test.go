package compose

import (
	"strings"
	"testing"

	"buddy/agent/model/limits"
)

func TestToolsFitTheModel(t *testing.T) {
	for _, tt := range []struct {
		model  string
		window int
		want   string
	}{
		{"gpt-5.1", 400_000, "edit_file"},
		{"claude-opus-5", 1_000_000, "apply_patch"},
		{"gpt-5.9", 0, "edit_file"},
		{"claude-next", 16_000, "apply_patch fetch_url web_search todo ask_user agent tool_search use_tool"},
		{"nobody-knows", 0, "fetch_url web_search todo ask_user agent tool_search use_tool"},
		{"nobody-knows", 100_000, ""},
		{"qwen3-coder", 0, "apply_patch fetch_url web_search todo ask_user agent tool_search use_tool"},
		{"qwen3-coder", 31_999, "apply_patch fetch_url web_search todo ask_user agent tool_search use_tool"},
		{"qwen3-coder", 32_000, "apply_patch"},
	} {
		if got := strings.Join(unofferedTo(limits.FamilyOf(tt.model), tt.window), " "); got != tt.want {
			t.Errorf("%s with %d tokens is not told of %q, want %q", tt.model, tt.window, got, tt.want)
		}
	}
}

package limits

import (
	"strings"
	"testing"
	"time"

	"buddy/agent/model"
)

func TestWindow(t *testing.T) {
	tests := []struct {
		model string
		want  int
	}{
		{"gpt-4o", 128_000},
		{"GPT-4o-mini-2024-07-18", 128_000},
		{"  openai/gpt-4o : free ", 128_000},
		{"openrouter/openai/gpt-4.1:nitro", 1_047_576},
		{"claude-sonnet-4-5-20250929", 200_000},
		{"claude-sonnet-5", 1_000_000},
		{"claude-sonnet-5-9", 0}, // not documented here
		{"Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8", 262_144},
		{"openai.gpt-oss-120b", 128_000},
		{"gpt-5-chat", 128_000},
		{"gpt-5", 400_000},
		{"deepseek/deepseek-v3.2", 128_000},
		{"deepseek-ai/DeepSeek-V3.1-Terminus", 128_000},
		{"deepseek-v3.2-exp:free", 128_000},
		{"deepseek/deepseek-chat-v3-0324:free", 128_000},
		{"deepseek-r1:8b", 64_000},
		{"z-ai/glm-4.7", 200_000},
		{"zai-org/GLM-4.6", 200_000},
		{"glm-4.5-air", 128_000},
		{"z-ai/glm-4.5v", 64_000},
		{"z-ai/glm-4.6v", 128_000},
		{"glm-4.6v-flash", 128_000},
		{"claude-sonnet-4-20250514", 200_000},
		{"us.anthropic.claude-sonnet-4-20250514-v1:0", 200_000},
		{"anthropic/claude-sonnet-4", 200_000},
		{"claude-opus-4-1-20250805", 200_000},
		{"anthropic/claude-sonnet-4.5", 200_000},
		{"claude-3-5-sonnet-latest", 200_000},
		{"claude-3-7-sonnet-20250219", 200_000},
		{"us.anthropic.claude-3-7-sonnet-20250219-v1:0", 200_000},
		{"anthropic/claude-3.7-sonnet:thinking", 200_000},
		{"qwen3", 32_768},
		{"qwen3:8b", 32_768},
		{"qwen/qwen3-8b:free", 32_768},
		{"qwen3-coder:30b", 262_144},
		{"qwen3.8-27b", 131_072},
		{"llama3.1:8b", 128_000},
		{"llama3.2", 128_000},
		{"meta-llama/Llama-3.3-70B-Instruct", 128_000},
		{"llama3", 0},
		{"gpt-oss:20b", 128_000},
		{"my-gpt-4o", 0},
		{"", 0},
		{"  ", 0},
		{":free", 0},
		{"openai/", 0},
		{"/", 0},
	}
	for _, tt := range tests {
		got, ok := Window(tt.model)
		if got != tt.want || ok != (tt.want > 0) {
			t.Errorf("Window(%q) = %d, %v, want %d", tt.model, got, ok, tt.want)
		}
	}
}

// TestPrice: a price is one seller's, and unstated prices equal the input price.
func TestPrice(t *testing.T) {
	tests := []struct {
		url, model string
		want       model.Price
	}{
		{"https://api.anthropic.com/v1", "claude-opus-5", model.Price{Input: 5_000_000, Cached: 500_000, CacheWrite: 6_250_000, Output: 25_000_000}},
		{"https://API.openai.com/v1", "gpt-5.1", model.Price{Input: 1_250_000, Cached: 125_000, CacheWrite: 1_250_000, Output: 10_000_000}},
		{"https://openrouter.ai/api/v1", "openai/gpt-5.1", model.Price{}},
		{"http://localhost:11434/v1", "gpt-5.1", model.Price{}},
		{"https://api.openai.com/v1", "gpt-oss-20b", model.Price{}},
		{"https://api.openai.com/v1", "unheard of", model.Price{}},
		{"%", "gpt-5.1", model.Price{}},
	}
	for _, tt := range tests {
		if got := Price(tt.url, tt.model); got != tt.want {
			t.Errorf("Price(%q, %q) = %+v, want %+v", tt.url, tt.model, got, tt.want)
		}
	}
}

func TestOutput(t *testing.T) {
	for name, want := range map[string]int{"claude-opus-5": 128_000, "claude-haiku-4-5-20251001": 64_000, "gpt-4o": 16_384, "gemini-2.0-flash": 0, "": 0} {
		if got, ok := Output(name); got != want || ok != (want > 0) {
			t.Errorf("Output(%q) = %d, %v, want %d", name, got, ok, want)
		}
	}
}

func TestFirstRuleWins(t *testing.T) {
	rules := []rule{{Kind: contains, Name: "b", Window: 1}, {Kind: exact, Name: "abc", Window: 2}, {Kind: prefix, Name: "x/", Window: 3}}
	for name, want := range map[string]int{"abc": 1, "x/y": 3, "y": 0} {
		if got := find(rules, name); got.Window != want {
			t.Errorf("find(%q) = %+v, want %d", name, got, want)
		}
	}
}

func TestCatalogueHasSources(t *testing.T) {
	for _, r := range catalogue() {
		if !strings.HasPrefix(r.Source, "https://") || r.Date.AsTime(time.UTC).Before(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: source %q of %s", r.Name, r.Source, r.Date)
		}
	}
}

func TestNoRuleIsHidden(t *testing.T) { // the first match wins: every rule must be reachable
	rules := catalogue()
	for i, r := range rules {
		if got := find(rules[:i], r.Name); got.Window != 0 {
			t.Errorf("rule %d, %q, is never reached", i+1, r.Name)
		}
	}
}

func TestBadCatalogue(t *testing.T) {
	const whole = "[[rule]]\nkind = \"exact\"\nname = \"a\"\nwindow = 100\nsource = \"s\"\ndate = 2026-01-01\n"
	if _, err := parse([]byte(whole + "max_output = 100\nprice = { host = \"h\", input = 1.0, output = 2.0 }")); err != nil {
		t.Error(err)
	}
	for _, text := range []string{
		"x", "[[rule]]\nkind = \"near\"\nname = \"a\"\nwindow = 1\nsource = \"s\"\ndate = 2026-01-01",
		"[[rule]]\nkind = \"exact\"\nname = \"A\"\nwindow = 1\nsource = \"s\"\ndate = 2026-01-01",
		"[[rule]]\nkind = \"exact\"\nname = \"a\"\nwindow = 1\ndate = 2026-01-01",
		whole + "max_output = 101", whole + "price = { input = 1.0, output = 1.0 }", whole + "price = { host = \"h\", input = 1.0 }",
	} {
		if _, err := parse([]byte(text)); err == nil {
			t.Errorf("parse(%q) gives no error", text)
		}
	}
}

func FuzzWindow(f *testing.F) {
	f.Add("openai/gpt-4o:free")
	f.Fuzz(func(t *testing.T, name string) {
		a, _ := Window(name)
		b, _ := Window(" " + name)
		if a != b || a < 0 {
			t.Errorf("Window(%q) = %d and %d", name, a, b)
		}
	})
}

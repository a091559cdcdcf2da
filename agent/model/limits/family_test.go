package limits

import (
	"strings"
	"testing"
)

func TestFamilies(t *testing.T) {
	for name, want := range map[string]Edit{
		"gpt-5.1": Patch, "openai/gpt-5-codex": Patch, "gpt-oss-120b": Patch, "o4-mini": Patch, "GPT-4.1-mini": Patch,
		"claude-opus-5": Replace, "anthropic/claude-sonnet-5:free": Replace, "gemini-2.5-pro": Replace, "Qwen/Qwen3-Coder-30B-A3B": Replace,
		"kimi-k2.5": Replace, "mistral-medium-3.5": Replace, "somebody/else": "", "": "",
	} {
		if got := FamilyOf(name); got.Edit != want {
			t.Errorf("%q: %+v, want %q", name, got, want)
		}
	}
	if !FamilyOf("gpt-5.1").Free || !FamilyOf("openai/codex-mini").Free || FamilyOf("gpt-4.1").Free || FamilyOf("claude-opus-5").Free {
		t.Error("free text is not for the families that document it")
	}
	if !strings.Contains(FamilyOf("gpt-oss-20b").Says, "do not print the patch") || FamilyOf("gpt-5").Says != "" {
		t.Error("families are told what is not theirs")
	}
}

func TestABrokenFamilyIsRefused(t *testing.T) {
	for _, text := range []string{
		`[[family]]`, "[[family]]\nkind=\"prefix\"\nname=\"x\"\nedit=\"diff\"", "[[family]]\nkind=\"like\"\nname=\"x\"\nedit=\"patch\"\ntools=\"all\"",
		"[[family]]\nkind=\"prefix\"\nname=\"x\"\nedit=\"patch\"\ntools=\"some\"", `family = 3`,
	} {
		if _, err := parseFamilies([]byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

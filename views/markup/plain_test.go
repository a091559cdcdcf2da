package markup

import "testing"

// Plain shows everything, Answer keeps joiners between letters; both keep lines and tabs.
func TestPlain(t *testing.T) {
	for _, tt := range []struct{ text, plain, answer string }{
		{"a\tb\n\tc\r\nd", "a\tb\n\tc\nd", "a\tb\n\tc\nd"},
		{"\x1b[31m\x00\r\u009b\u202e\x7f\u2028", "␛[31m␀␍‹U+009B›‹U+202E›‹U+007F›‹U+2028›", "␛[31m␀␍‹U+009B›‹U+202E›‹U+007F›‹U+2028›"},
		{"می\u200cخواهم", "می‹U+200C›خواهم", "می\u200cخواهم"},
		{"g\u200bo\U000e0041", "g‹U+200B›o‹U+E0041›", "g‹U+200B›o‹U+E0041›"},
		{"a\xffb", "a\ufffdb", "a\ufffdb"},
		{"👩\u200d💻 é 日本\n", "👩\u200d💻 é 日本\n", "👩\u200d💻 é 日本\n"},
		{"", "", ""},
	} {
		if got := Plain(tt.text); got != tt.plain {
			t.Errorf("Plain(%q) = %q, want %q", tt.text, got, tt.plain)
		}
		if got := Answer(tt.text); got != tt.answer {
			t.Errorf("Answer(%q) = %q, want %q", tt.text, got, tt.answer)
		}
	}
}

package pattern

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Only texts that differ in case match, and byte offsets are those of the text.
func FuzzPattern(f *testing.F) {
	f.Add("tax", "The Tax")
	f.Add("Tax", "The tax, the Tax")
	f.Add("kſ", "\u212aS KS ks")
	f.Add("é", "É\xff\u0301")
	f.Fuzz(func(t *testing.T, text, in string) {
		p := New(text)
		for at, rounds := 0, 0; ; rounds++ {
			from, to := p.Next([]byte(in), at)
			if from < 0 {
				break
			}
			if from < at || to <= from || to > len(in) || rounds > len(in) || to-from > p.Longest() {
				t.Fatalf("%q in %q: %d..%d from %d", text, in, from, to, at)
			}
			if got := in[from:to]; utf8.ValidString(got) && utf8.ValidString(text) && !strings.EqualFold(got, text) {
				t.Fatalf("%q finds %q", text, got)
			}
			at = to
		}
		if i := strings.Index(in, text); text != "" && i >= 0 && utf8.ValidString(text) {
			if from, _ := p.Next([]byte(in), 0); from < 0 || from > i {
				t.Fatalf("%q in %q was found at %d, want %d", text, in, from, i)
			}
		}
	})
}

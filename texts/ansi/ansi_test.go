package ansi

import (
	"strings"
	"testing"
)

func TestLen(t *testing.T) {
	for _, tt := range []struct{ seq, rest string }{
		{"\x1b[31m", "x"},
		{"\x1b[?1049h", "x"},
		{"\x1b[1 q", "x"},
		{"\x1b[3", "\n"},
		{"\x1b[38;5", "é"},
		{"\x1b]0;title\a", "x"},
		{"\x1b]8;;http://x\x1b\\", "x"},
		{"\x1b]52;c;never ended", "\nx"},
		{"\x1bPq#0", "\x1b[m"},
		{"\x1b(B", "x"},
		{"\x1b#8", "x"},
		{"\x1b7", "x"},
		{"\x1b", "\x1b[m"},
		{"\x1b", ""},
		{"\x1b]0;not over", ""},
		{"\x1b[", ""},
		{"\x1b", "日本"},
		{"\x1b[" + strings.Repeat("1;", 99) + "m", "x"},
	} {
		if n := Len([]byte(tt.seq + tt.rest)); n != len(tt.seq) {
			t.Errorf("Len(%q) = %d, want %d", tt.seq+tt.rest, n, len(tt.seq))
		}
	}
}

func TestControl(t *testing.T) {
	for seq, want := range map[string]string{
		"\x1b[1;31m": "1;31 m", "\x1b[K": " K", "\x1b[?25h": "?25 h", "\x1b(B": "", "\x1b]0;m\a": "", "\x1b[3\n": "",
		"\x1b[" + strings.Repeat("1", 65) + "m": "", "\x1b[1\x1b[2J": "2 J",
	} {
		var p Parser
		p.Start()
		for i := 1; i < len(seq) && p.Active(); i++ {
			p.Next(seq[i])
		}
		got := ""
		if params, final := p.Control(); final != 0 {
			got = string(params) + " " + string(final)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", seq, got, want)
		}
	}
}

// Sequences end at the same position byte by byte and at once, and Strip removes them completely.
func FuzzStrip(f *testing.F) {
	for _, s := range []string{"a\x1b[31mb\x1b[0m", "\x1b]8;;x\x1b\\y", "\x1b]0;x\ny", "\x1b\x1b[", "\x1b(Bz\x18", "é\x1b[1é", "plain"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var p Parser
		var kept []byte
		for i := range len(s) {
			switch b := s[i]; {
			case p.Active() && p.Next(b):
			case b == 0x1b:
				p.Start()
			default:
				kept = append(kept, b)
			}
		}
		if got := Strip(s); got != string(kept) || strings.Contains(got, "\x1b") {
			t.Errorf("Strip(%q) = %q, byte by byte %q", s, got, kept)
		}
	})
}

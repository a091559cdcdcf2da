package markup

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"buddy/themes"
)

// maxGlue limits the combining runes of one character.
const maxGlue = 8

const (
	zwnj = '\u200c'
	zwj  = '\u200d'
)

// glueTable holds runes that a grapheme cluster may have in any number: combining marks, skin tones, conjoining
// Hangul, prepended marks. Without a limit one cluster could be as long as the text.
var glueTable = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x0600, 0x0605, 1},
		{0x06dd, 0x06dd, 1},
		{0x070f, 0x070f, 1},
		{0x08e2, 0x08e2, 1},
		{0x0d4e, 0x0d4e, 1},
		{0x1100, 0x115e, 1},
		{zwnj, zwnj, 1},
		{0xa960, 0xa97f, 1},
		{0xff9e, 0xff9f, 1},
	},
	R32: []unicode.Range32{
		{0x110bd, 0x110bd, 1},
		{0x110cd, 0x110cd, 1},
		{0x111c2, 0x111c3, 1},
		{0x1193f, 0x1193f, 1},
		{0x11941, 0x11941, 1},
		{0x11a3a, 0x11a3a, 1},
		{0x11a84, 0x11a89, 1},
		{0x11d46, 0x11d46, 1},
		{0x1f3fb, 0x1f3ff, 1},
	},
}

func glues(r rune) bool { return r >= 0x300 && unicode.In(r, unicode.M, glueTable) }

// hidden holds the runes that are shown as their code points, because they are invisible or reorder the text around
// them: C1 controls, bidirectional controls, zero-width characters, fillers, tags.
var hidden = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x7f, 0x9f, 1},
		{0xad, 0xad, 1},
		{0x34f, 0x34f, 1},
		{0x61c, 0x61c, 1},
		{0x115f, 0x1160, 1},
		{0x17b4, 0x17b5, 1},
		{0x180e, 0x180e, 1},
		{0x200b, 0x200b, 1},
		{0x200e, 0x200f, 1},
		{0x2028, 0x202e, 1},
		{0x2060, 0x206f, 1},
		{0x3164, 0x3164, 1},
		{0xfeff, 0xfeff, 1},
		{0xffa0, 0xffa0, 1},
		{0xfff0, 0xfffb, 1},
	},
	R32: []unicode.Range32{
		{0x13430, 0x13440, 1},
		{0x1bca0, 0x1bca3, 1},
		{0x1d173, 0x1d17a, 1},
		{0xe0000, 0xe00ff, 1},
		{0xe01f0, 0xe0fff, 1},
	},
	LatinOffset: 2,
}

// Visible returns the replacement of a rune that must not reach the terminal: a symbol for a C0 control, a code point
// such as ‹U+202E› for the others. It returns "" for a rune that may reach the terminal.
func Visible(r rune) string {
	switch {
	case r >= 0 && r < 0x20:
		return string('\u2400' + r)
	case r >= 0x7f && unicode.Is(hidden, r):
		return number(r)
	}
	return ""
}

func number(r rune) string { return fmt.Sprintf("‹U+%04X›", r) }

// cleaner appends foreign text to a Text and makes it harmless.
type cleaner struct {
	text *Text
	all  bool // everything must be shown: no rune may be dropped or invisible
	last rune // the previous rune, 0 at the start
	glue int  // number of runes joined to the current character
	ties int  // number of joiners in the current character
}

// put appends foreign bytes, which must not end inside a rune. Newlines and tabs are kept.
func (c *cleaner) put(p []byte, st Style) {
	for len(p) > 0 {
		if n := harmless(p); n > 0 {
			c.text.add(p[:n], st)
			c.last, _ = utf8.DecodeLastRune(p[:n])
			c.glue, c.ties = 0, 0
			p = p[n:]
			continue
		}
		r, size := utf8.DecodeRune(p)
		c.putRune(r, st)
		p = p[size:]
	}
}

// harmless returns how many bytes at the start of p are safe in any context.
func harmless(p []byte) int {
	i := 0
	for i < len(p) {
		b := p[i]
		if b < 0x7f && (b >= ' ' || b == '\n' || b == '\t') {
			i++
			continue
		}
		n, width := lone(p[i:])
		if width == 0 {
			return i
		}
		i += n
	}
	return i
}

func (c *cleaner) putRune(r rune, st Style) {
	shown := Visible(r)
	switch {
	case shown != "":
	case c.unseen(r):
		shown = number(r)
	case r == zwj:
		if c.ties++; c.ties > maxGlue {
			return
		}
	case glues(r):
		if c.glue++; c.glue > maxGlue {
			return
		}
	default:
		c.glue = 0
		if c.last != zwj {
			c.ties = 0
		}
	}
	c.last = r
	if r == utf8.RuneError {
		st = Style{Role: themes.Control}
	}
	if shown == "" {
		c.text.Bytes = utf8.AppendRune(c.text.Bytes, r)
		c.text.extend(st)
		return
	}
	c.last, c.glue, c.ties = 0, 0, 0
	c.text.addString(shown, Style{Role: themes.Control})
}

// unseen reports whether a rune is invisible: a mark or joiner without a character to join. If everything must show, it
// includes joiners that change no shape, and marks beyond the limit of one character.
func (c *cleaner) unseen(r rune) bool {
	switch joiner := r == zwj || r == zwnj; {
	case joiner && c.last < 0x80, c.last < ' ' && glues(r) && uniseg.StringWidth(string(r)) == 0:
		return true
	case !c.all:
		return false
	case r == zwj:
		return c.ties == maxGlue
	case unicode.Is(unicode.Variation_Selector, r):
		return c.last < 0x80 || r < 0xfe0e || r > 0xfe0f // these two select the text or the emoji form
	default:
		return r == zwnj || c.glue == maxGlue && glues(r)
	}
}

// Line returns one line of foreign text in which everything is visible, for decisions such as approvals: controls,
// newlines and invisible runes become symbols or numbers in the control role, a tab becomes spaces.
func Line(s string, st Style) *Text {
	t := &Text{}
	c := cleaner{text: t, all: true}
	for i, line := range strings.Split(strings.ReplaceAll(s, "\t", "    "), "\n") {
		if i > 0 {
			t.addString("\u240a", Style{Role: themes.Control})
			c.last = 0
		}
		c.put([]byte(line), st)
	}
	return t
}

// Inline is Line for text of one style. A tab becomes one space, and CRLF one symbol.
func Inline(s string) string {
	if harmless([]byte(s)) == len(s) && !strings.ContainsAny(s, "\n\t") {
		return s
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\t", " ")
	return string(Line(s, Style{}).Bytes)
}

// Plain makes untrusted text safe for terminals, and for pipes and files that may be shown on a terminal later.
// Everything is visible, as in Line; line ends and tabs are kept.
func Plain(s string) string { return safe(s, true) }

// Answer is Plain, except that it keeps invisible joiners between letters and emoji. It is for text that no decision is
// based on.
func Answer(s string) string { return safe(s, false) }

func safe(s string, all bool) string {
	if harmless([]byte(s)) == len(s) {
		return s
	}
	t := &Text{}
	for line := range strings.Lines(strings.ReplaceAll(s, "\r\n", "\n")) {
		for i, part := range strings.Split(line, "\t") {
			if i > 0 {
				t.addString("\t", Style{})
			}
			c := cleaner{text: t, all: all}
			c.put([]byte(part), Style{})
		}
	}
	return string(t.Bytes)
}

// Character returns one character of foreign text as Line shows it, its width, and whether it was made visible.
func Character(p []byte) (shown string, width int, revealed bool) {
	t := Line(string(p), Style{})
	for _, run := range t.Runs {
		revealed = revealed || run.Style.Role == themes.Control
	}
	return string(t.Bytes), Width(t.Bytes), revealed
}

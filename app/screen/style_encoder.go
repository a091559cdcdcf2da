package screen

import (
	"maps"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
	"github.com/gdamore/tcell/v2/terminfo"

	"buddy/texts"
)

// styleEncoder encodes styles and texts for a terminal, with the sequences of terminfo for colours and attributes
// (ECMA-48, SGR).
type styleEncoder struct {
	info    *terminfo.Terminfo
	colors  int                         // of the terminal: 0, 8, 88, 256 or 1<<24
	links   bool                        // whether the terminal supports hyperlinks
	palette []tcell.Color               // with less than 1<<24 colours
	nearest map[tcell.Color]tcell.Color // in palette
	ascii   map[rune]string             // texts for runes that are not ASCII; nil for a UTF-8 terminal
}

// encodedStyle holds the sequences that select a style.
type encodedStyle struct {
	known bool
	sgr   string // parameters, after a reset: ";1;38;2;200;200;200"
	link  string // the sequence that starts its hyperlink, "" for none
}

// newStyleEncoder returns the encoder for a terminal with a number of colours. charset is UTF-8 or US-ASCII.
func newStyleEncoder(info *terminfo.Terminfo, colors int, charset string) *styleEncoder {
	e := &styleEncoder{
		info: info, colors: colors, nearest: map[tcell.Color]tcell.Color{},
		links: (info.XTermLike || info.Mouse != "") && !strings.Contains(info.Name, "linux"), // as tcell: other terminals swallow them
	}
	if colors == 0 { // dark on light is shown reversed
		e.palette = []tcell.Color{tcell.ColorBlack, tcell.ColorWhite}
	} else {
		for i := range min(info.Colors, 256) {
			e.palette = append(e.palette, tcell.PaletteColor(i))
		}
	}
	if charset == "US-ASCII" {
		e.ascii = asciiFallbacks(info)
	}
	return e
}

// encode returns the sequences that select a style.
func (e *styleEncoder) encode(style tcell.Style) encodedStyle {
	fg, bg, attrs := style.Decompose()
	seq := e.info.AttrOff
	if e.colors > 0 {
		seq += e.color(fg, e.info.SetFgRGB, e.info.SetFg) + e.color(bg, e.info.SetBgRGB, e.info.SetBg)
	} else if fg.Valid() && e.match(fg) == tcell.ColorBlack {
		attrs ^= tcell.AttrReverse
	}
	if style.GetUnderlineStyle() != tcell.UnderlineStyleNone {
		seq += e.info.Underline
	}
	for _, a := range []struct {
		mask tcell.AttrMask
		seq  string
	}{
		{tcell.AttrBold, e.info.Bold},
		{tcell.AttrReverse, e.info.Reverse},
		{tcell.AttrBlink, e.info.Blink},
		{tcell.AttrDim, e.info.Dim},
		{tcell.AttrItalic, e.info.Italic},
		{tcell.AttrStrikeThrough, e.info.StrikeThrough},
	} {
		if attrs&a.mask != 0 {
			seq += a.seq
		}
	}
	l := encodedStyle{known: true, sgr: parameters(seq)}
	if url := styleURL(style); url != "" && e.links {
		l.link = "\x1b]8;;" + url + "\x1b\\"
	}
	return l
}

// color returns the sequence for a colour. rgb and indexed are the terminfo sequences for any colour and for one of the
// palette.
func (e *styleEncoder) color(c tcell.Color, rgb, indexed string) string {
	switch {
	case !c.Valid():
		return ""
	case c.IsRGB() && e.colors > 256 && rgb != "":
		r, g, b := c.RGB()
		return e.info.TParm(rgb, int(r), int(g), int(b))
	}
	return e.info.TParm(indexed, int(e.match(c)&0xff))
}

var setsGraphics = texts.Regexp(`\x1b\[([0-9;:]*)m`)

// parameters joins the parameters of all SGR sequences in seq, without the reset at their start: ";1;32".
func parameters(seq string) string {
	all := ""
	for _, m := range setsGraphics().FindAllStringSubmatch(seq, -1) {
		if m[1] != "" {
			all += ";" + m[1]
		}
	}
	return strings.TrimPrefix(all, ";0")
}

// match returns the nearest colour of the palette.
func (e *styleEncoder) match(c tcell.Color) tcell.Color {
	if !c.IsRGB() && int(c&0xff) < len(e.palette) && e.colors > 0 {
		return c
	}
	best, ok := e.nearest[c]
	if !ok {
		best = tcell.FindColor(c, e.palette)
		e.nearest[c] = best
	}
	return best
}

// text returns the encoding of a clean text that is width cells wide.
func (e *styleEncoder) text(s string, width int) string {
	if e.ascii == nil || s[0] < utf8.RuneSelf && len(s) == 1 {
		return s
	}
	r, _ := utf8.DecodeRuneInString(s)
	if sub, ok := e.ascii[r]; ok {
		return sub
	}
	if r < utf8.RuneSelf {
		return ascii[r] // without its accents
	}
	return "? "[:width]
}

// styleURL returns the link of a style, by reflection because tcell has no accessor. tcell removes control characters
// when the link is set.
func styleURL(style tcell.Style) string {
	if style == style.Url("") {
		return ""
	}
	return reflect.ValueOf(style).FieldByName("url").String()
}

// asciiFallbacks returns the texts that stand for runes on a terminal that accepts only ASCII: characters of its
// alternate character set (terminfo: acs_chars) for lines, similar characters for others.
func asciiFallbacks(info *terminfo.Terminfo) map[rune]string {
	texts := maps.Clone(tcell.RuneFallbacks)
	if info.EnterAcs == "" {
		return texts
	}
	enter, exit := unpadded(info, info.EnterAcs), unpadded(info, info.ExitAcs)
	for set := info.AltChars; len(set) >= 2; set = set[2:] { // pairs of a VT100 character and this terminal's equivalent
		if r, ok := acsRunes[set[0]]; ok {
			texts[r] = enter + set[1:2] + exit
		}
	}
	return texts
}

// unpadded returns a terminfo sequence without its padding, such as "$<2>".
func unpadded(info *terminfo.Terminfo, seq string) string {
	var b strings.Builder
	info.TPuts(&b, seq)
	return b.String()
}

// acsRunes maps VT100 characters to runes, as listed in terminfo(5) under "Line Graphics".
var acsRunes = map[byte]rune{
	'+': '→', ',': '←', '-': '↑', '.': '↓', '0': '█', '`': '◆', 'a': '▒', 'f': '°', 'g': '±', 'h': '░', 'i': '§',
	'j': '┘', 'k': '┐', 'l': '┌', 'm': '└', 'n': '┼', 'o': '⎺', 'p': '⎻', 'q': '─', 'r': '⎼', 's': '⎽', 't': '├', 'u': '┤',
	'v': '┴', 'w': '┬', 'x': '│', 'y': '≤', 'z': '≥', '{': 'π', '|': '≠', '}': '£', '~': '·',
}

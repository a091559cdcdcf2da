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

// pen knows how a terminal is told of styles and texts: with sequences of terminfo, as far as they set colours and
// attributes (ECMA-48, SGR).
type pen struct {
	info    *terminfo.Terminfo
	colors  int                         // that the terminal has: 0, 8, 88, 256 or 1<<24
	links   bool                        // it knows hyperlinks
	palette []tcell.Color               // where it has less than 1<<24 colours
	nearest map[tcell.Color]tcell.Color // of palette
	ascii   map[rune]string             // texts for runes that are not ASCII; nil where it takes UTF-8
}

// look is how a style is written.
type look struct {
	known bool
	sgr   string // parameters, after a reset: ";1;38;2;200;200;200"
	link  string // the sequence that begins its hyperlink, "" for none
}

// newPen returns the pen for a terminal with so many colours. charset is one of those that tcell knows by itself:
// UTF-8 or US-ASCII.
func newPen(info *terminfo.Terminfo, colors int, charset string) *pen {
	p := &pen{
		info: info, colors: colors, nearest: map[tcell.Color]tcell.Color{},
		links: (info.XTermLike || info.Mouse != "") && !strings.Contains(info.Name, "linux"), // as tcell: others swallow them
	}
	if colors == 0 { // what is dark on light is shown reversed
		p.palette = []tcell.Color{tcell.ColorBlack, tcell.ColorWhite}
	} else {
		for i := range min(info.Colors, 256) {
			p.palette = append(p.palette, tcell.PaletteColor(i))
		}
	}
	if charset == "US-ASCII" {
		p.ascii = lineLetters(info)
	}
	return p
}

// look returns how a style is written.
func (p *pen) look(style tcell.Style) look {
	fg, bg, attrs := style.Decompose()
	seq := p.info.AttrOff
	if p.colors > 0 {
		seq += p.color(fg, p.info.SetFgRGB, p.info.SetFg) + p.color(bg, p.info.SetBgRGB, p.info.SetBg)
	} else if fg.Valid() && p.match(fg) == tcell.ColorBlack {
		attrs ^= tcell.AttrReverse
	}
	if style.GetUnderlineStyle() != tcell.UnderlineStyleNone {
		seq += p.info.Underline
	}
	for _, a := range []struct {
		mask tcell.AttrMask
		seq  string
	}{
		{tcell.AttrBold, p.info.Bold},
		{tcell.AttrReverse, p.info.Reverse},
		{tcell.AttrBlink, p.info.Blink},
		{tcell.AttrDim, p.info.Dim},
		{tcell.AttrItalic, p.info.Italic},
		{tcell.AttrStrikeThrough, p.info.StrikeThrough},
	} {
		if attrs&a.mask != 0 {
			seq += a.seq
		}
	}
	l := look{known: true, sgr: parameters(seq)}
	if url := address(style); url != "" && p.links {
		l.link = "\x1b]8;;" + url + "\x1b\\"
	}
	return l
}

// color returns the sequence for a colour, given those of terminfo for any and for one of the palette.
func (p *pen) color(c tcell.Color, rgb, indexed string) string {
	switch {
	case !c.Valid():
		return ""
	case c.IsRGB() && p.colors > 256 && rgb != "":
		r, g, b := c.RGB()
		return p.info.TParm(rgb, int(r), int(g), int(b))
	}
	return p.info.TParm(indexed, int(p.match(c)&0xff))
}

var setsGraphics = texts.Regexp(`\x1b\[([0-9;:]*)m`)

// parameters joins those of all SGR sequences in seq, of which the first is a reset: ";1;32".
func parameters(seq string) string {
	all := ""
	for _, m := range setsGraphics().FindAllStringSubmatch(seq, -1) {
		if m[1] != "" {
			all += ";" + m[1]
		}
	}
	return strings.TrimPrefix(all, ";0")
}

// match returns the colour of the palette that comes closest.
func (p *pen) match(c tcell.Color) tcell.Color {
	if !c.IsRGB() && int(c&0xff) < len(p.palette) && p.colors > 0 {
		return c
	}
	got, ok := p.nearest[c]
	if !ok {
		got = tcell.FindColor(c, p.palette)
		p.nearest[c] = got
	}
	return got
}

// text returns what is written for a clean text that is width cells wide.
func (p *pen) text(s string, width int) string {
	if p.ascii == nil || s[0] < utf8.RuneSelf && len(s) == 1 {
		return s
	}
	r, _ := utf8.DecodeRuneInString(s)
	if sub, ok := p.ascii[r]; ok {
		return sub
	}
	if r < utf8.RuneSelf {
		return ascii[r] // without its accents
	}
	return "? "[:width]
}

// address returns where a style links to, which holds no control characters: tcell takes them out when it is set, and
// has no other way to ask for it.
func address(style tcell.Style) string {
	if style == style.Url("") {
		return ""
	}
	return reflect.ValueOf(style).FieldByName("url").String()
}

// lineLetters returns what is written for runes where the terminal takes ASCII only: lines are drawn with letters of
// its alternate character set (terminfo: acs_chars), for others there are similar characters.
func lineLetters(info *terminfo.Terminfo) map[rune]string {
	texts := maps.Clone(tcell.RuneFallbacks)
	if info.EnterAcs == "" {
		return texts
	}
	enter, exit := unpadded(info, info.EnterAcs), unpadded(info, info.ExitAcs)
	for set := info.AltChars; len(set) >= 2; set = set[2:] { // pairs of a letter of the VT100 and what this terminal has for it
		if r, ok := vt100Letters[set[0]]; ok {
			texts[r] = enter + set[1:2] + exit
		}
	}
	return texts
}

// unpadded returns a sequence of terminfo without the pauses in it: "$<2>".
func unpadded(info *terminfo.Terminfo, seq string) string {
	var b strings.Builder
	info.TPuts(&b, seq)
	return b.String()
}

// vt100Letters says what the letters show that terminfo(5) lists under "Line Graphics".
var vt100Letters = map[byte]rune{
	'+': '→', ',': '←', '-': '↑', '.': '↓', '0': '█', '`': '◆', 'a': '▒', 'f': '°', 'g': '±', 'h': '░', 'i': '§',
	'j': '┘', 'k': '┐', 'l': '┌', 'm': '└', 'n': '┼', 'o': '⎺', 'p': '⎻', 'q': '─', 'r': '⎼', 's': '⎽', 't': '├', 'u': '┤',
	'v': '┴', 'w': '┬', 'x': '│', 'y': '≤', 'z': '≥', '{': 'π', '|': '≠', '}': '£', '~': '·',
}

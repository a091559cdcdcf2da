// Package markup turns untrusted text into styled text that is safe to draw.
//
// What a model, a tool or a file says may hold escape sequences, bidirectional
// controls, invalid UTF-8 or ten thousand combining marks. [Inline] makes a
// harmless line of it, [Writer] reads a stream of it (tool output with its colours),
// [Markdown] renders an answer while it grows. All give a [Text]: bytes that hold no
// control but newline and tab, with runs of style beside them. A [Layout] wraps a Text
// at a width; views draw its rows cell by cell.
//
//	var w markup.Writer
//	from := w.Write([]byte("\x1b[31mFAIL\x1b[0m TestTax\n"))
//	layout.Wrap(&w.Text, 80, from) // only what follows from is wrapped anew
//
// Nothing here knows the terminal; nothing here is safe for concurrent use.
package markup

import (
	"bytes"
	"regexp"
	"sort"
	"strings"

	"buddy/themes"
)

// Attr is a set of attributes that a style adds to those of its role.
type Attr uint8

// The attributes.
const (
	Bold Attr = 1 << iota
	Dim
	Italic
	Underline
	Reverse
	Strike
)

// Color is a colour that tool output chose: the zero value leaves the role's own.
type Color uint32

const (
	paletteColor Color = 1 << 24
	trueColor    Color = 2 << 24
	roleColor    Color = 3 << 24
)

// Background is the background of a role, and what sets that off where there are no colours.
func Background(r themes.Role) Color { return roleColor | Color(r) }

// Role returns the role that c is the background of, if it is one's.
func (c Color) Role() (r themes.Role, ok bool) {
	return themes.Role(c & 0xff), c&^0xffffff == roleColor
}

// Palette returns the colour n of the terminal's 256, if c is one of them.
func (c Color) Palette() (n int, ok bool) { return int(c & 0xff), c&^0xffffff == paletteColor }

// RGB returns the 24-bit colour, if c is one.
func (c Color) RGB() (rgb int32, ok bool) { return int32(c & 0xffffff), c&^0xffffff == trueColor }

// Style tells how a run of text looks: a role of the theme, and what the text adds to it.
type Style struct {
	Role   themes.Role
	Attr   Attr
	Link   uint16 // number of a link in Text.Links, from 1; 0 for none
	FG, BG Color
}

// Run gives the text from the end of the run before it up to End a style.
type Run struct {
	End   int32
	Style Style
}

// Wrap says how lines that are too long are broken.
type Wrap uint8

// The ways to break lines.
const (
	Hard  Wrap = iota // at the last column; every character is shown
	Words             // before a word; blanks at the break are not shown
)

// Para says how a stretch of lines wraps. It begins where the one before it ended.
type Para struct {
	End   int32
	Wrap  Wrap
	Band  themes.Role // whose background its rows have over the whole width; Text for none
	First string      // what the first row of a line begins with, beside what is in the text
	Rest  string      // what the second and later rows of each line begin with
}

// Text is styled text that is safe to draw: valid UTF-8 whose only controls are
// newline and tab, at most 2 GiB of it. The zero value is empty. Producers own it;
// others only read it.
type Text struct {
	Bytes []byte
	Runs  []Run  // by End, without gaps
	Paras []Para // by End; if there are none, all lines wrap by Wrap
	Links []string
	Wrap  Wrap
}

// maxLinks bounds the links of one Text; further ones are plain text.
const maxLinks = 1 << 12

// add appends bytes that are known to be safe.
func (t *Text) add(p []byte, st Style) {
	if len(p) > 0 {
		t.Bytes = append(t.Bytes, p...)
		t.extend(st)
	}
}

func (t *Text) addString(s string, st Style) {
	if s != "" {
		t.Bytes = append(t.Bytes, s...)
		t.extend(st)
	}
}

// extend gives what was appended last a style.
func (t *Text) extend(st Style) {
	end := int32(len(t.Bytes))
	if n := len(t.Paras); n > 0 {
		t.Paras[n-1].End = end
	}
	t.run(end, st)
}

// run gives what follows the last run, up to end, a style.
func (t *Text) run(end int32, st Style) {
	if n := len(t.Runs); n > 0 && t.Runs[n-1].Style == st {
		t.Runs[n-1].End = end
		return
	}
	t.Runs = append(t.Runs, Run{end, st})
}

// Line begins a new line that wraps as given; rest begins its second and later rows.
// A Text in which one line was begun so is written in this way only.
func (t *Text) Line(wrap Wrap, rest string) {
	if len(t.Bytes) > 0 {
		t.addString("\n", Style{})
	}
	t.Paras = append(t.Paras, Para{End: int32(len(t.Bytes)), Wrap: wrap, Rest: rest})
}

// Put appends foreign text, made safe. Its newlines stay.
func (t *Text) Put(s string, st Style) {
	c := cleaner{text: t}
	c.put([]byte(s), st)
}

// Plain returns the bytes from..to without what lines of code are indented by on the
// screen: what a person copies is the code.
func (t *Text) Plain(from, to int) string {
	var b strings.Builder
	for from < to {
		line := t.Bytes[from:to]
		if n := bytes.IndexByte(line, '\n'); n >= 0 {
			line = line[:n+1]
		}
		next := from + len(line)
		if from == 0 || t.Bytes[from-1] == '\n' {
			if p := t.paraAt(from); p.Wrap == Hard && p.First == "" && strings.Trim(p.Rest, " ") == "" {
				line = bytes.TrimPrefix(line, []byte(p.Rest))
			}
		}
		b.Write(t.withTabs(next-len(line), line))
		from = next
	}
	return b.String()
}

// tabsShown matches what shows in the place of a tab.
var tabsShown = regexp.MustCompile(tabShown + "|" + tabBlank)

// withTabs returns bytes of the text from an offset on with tabs where signs of them show.
func (t *Text) withTabs(from int, p []byte) []byte {
	if !tabsShown.Match(p) {
		return p
	}
	var out []byte
	for i, end := t.RunAt(from), from+len(p); from < end; i++ {
		to := min(int(t.Runs[i].End), end)
		part := t.Bytes[from:to]
		if t.Runs[i].Style.Role == tabRole {
			part = tabsShown.ReplaceAll(part, []byte("\t"))
		}
		out, from = append(out, part...), to
	}
	return out
}

// addText appends the bytes from..to of another Text that shares its links.
func (t *Text) addText(o *Text, from, to int) {
	for i := o.RunAt(from); from < to; i++ {
		end := min(to, int(o.Runs[i].End))
		t.add(o.Bytes[from:end], o.Runs[i].Style)
		from = end
	}
}

// truncate drops what follows the first n bytes.
func (t *Text) truncate(n int) {
	if n >= len(t.Bytes) {
		return
	}
	t.Bytes = t.Bytes[:n]
	if n == 0 {
		t.Runs, t.Paras = t.Runs[:0], t.Paras[:0]
		return
	}
	i := t.RunAt(n - 1)
	t.Runs = t.Runs[:i+1]
	t.Runs[i].End = int32(n)
	p := sort.Search(len(t.Paras), func(i int) bool { return int(t.Paras[i].End) >= n })
	if p < len(t.Paras) {
		t.Paras[p].End = int32(n)
		t.Paras = t.Paras[:p+1]
	}
}

// RunAt returns the index of the run that holds the byte at an offset.
func (t *Text) RunAt(off int) int {
	return sort.Search(len(t.Runs), func(i int) bool { return int(t.Runs[i].End) > off })
}

// paraAt returns how the line that holds the byte at an offset wraps.
func (t *Text) paraAt(off int) Para {
	i := sort.Search(len(t.Paras), func(i int) bool { return int(t.Paras[i].End) > off })
	if i < len(t.Paras) {
		return t.Paras[i]
	}
	return Para{End: int32(len(t.Bytes)), Wrap: t.Wrap}
}

// Rest returns what a row that starts at an offset is preceded by, and the role of its band.
func (t *Text) Rest(off int) (rest string, band themes.Role) {
	p := t.paraAt(off)
	if off == 0 || t.Bytes[off-1] == '\n' {
		return p.First, p.Band
	}
	return p.Rest, p.Band
}

// cut drops the first n bytes.
func (t *Text) cut(n int) {
	i := t.RunAt(n)
	t.Runs = append(t.Runs[:0], t.Runs[i:]...)
	for i := range t.Runs {
		t.Runs[i].End -= int32(n)
	}
	t.Bytes = append(t.Bytes[:0], t.Bytes[n:]...)
}

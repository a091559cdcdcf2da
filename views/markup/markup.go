// Package markup converts untrusted text to styled text that is safe to draw.
//
// Output of models, tools and files may contain escape sequences, bidirectional controls, invalid UTF-8 or thousands
// of combining marks. [Inline] converts such text to one safe line, [Writer] converts output with colours as it
// arrives, and [Markdown] converts an answer as it grows. The result is a [Text]: bytes with styles, and without
// control characters except newline and tab. A [Layout] wraps it at a width; views draw its rows.
//
//	var w markup.Writer
//	var layout markup.Layout
//	from := w.Write([]byte("\x1b[31mFAIL\x1b[0m TestTax\n"))
//	layout.Wrap(&w.Text, 80, from) // wraps again only the bytes after the offset from
//
// The package does not depend on a terminal, and is not safe for concurrent use.
package markup

import (
	"bytes"
	"regexp"
	"sort"
	"strings"

	"buddy/themes"
)

// Attr is a set of attributes that a style adds to its role.
type Attr uint8

// Attributes of a style.
const (
	Bold Attr = 1 << iota
	Dim
	Italic
	Underline
	Reverse
	Strike
)

// Color is a colour in tool output; the zero value keeps the role's colour.
type Color uint32

const (
	paletteColor Color = 1 << 24
	trueColor    Color = 2 << 24
	roleColor    Color = 3 << 24
)

// Background returns the background of a role, or its substitute where there are no colours.
func Background(r themes.Role) Color { return roleColor | Color(r) }

// Role returns the role if c is the background of a role.
func (c Color) Role() (r themes.Role, ok bool) {
	return themes.Role(c & 0xff), c&^0xffffff == roleColor
}

// Palette returns the number of the colour if c is one of the terminal's 256 colours.
func (c Color) Palette() (n int, ok bool) { return int(c & 0xff), c&^0xffffff == paletteColor }

// RGB returns 0xRRGGBB if c is a 24-bit colour.
func (c Color) RGB() (rgb int32, ok bool) { return int32(c & 0xffffff), c&^0xffffff == trueColor }

// Style is the style of a run of text: a role of the theme with additions.
type Style struct {
	Role   themes.Role
	Attr   Attr
	Link   uint16 // index+1 in Text.Links; 0: none
	FG, BG Color
}

// Run is the style of the text from the end of the previous run up to End.
type Run struct {
	End   int32
	Style Style
}

// Wrap is a way to break long lines.
type Wrap uint8

// Ways to break long lines.
const (
	Hard  Wrap = iota // at the last column; every character is shown
	Words             // before a word; spaces at the break are not shown
)

// Para is the wrapping of consecutive lines. It starts where the previous one ended.
type Para struct {
	End   int32
	Wrap  Wrap
	Band  themes.Role // background of its rows over the whole width; Text for none
	First string      // prefix of the first row of each line, not part of the text
	Rest  string      // prefix of the other rows of each line
}

// Text is styled text that is safe to draw: valid UTF-8 of at most 2 GiB without controls except newline and tab. The
// zero value is empty. Only its producer may change it.
type Text struct {
	Bytes []byte
	Runs  []Run  // by End, without gaps
	Paras []Para // by End; if empty, all lines wrap by Wrap
	Links []string
	Wrap  Wrap
}

// maxLinks limits the links of a Text; further links are plain text.
const maxLinks = 1 << 12

// add appends bytes, which must be safe.
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

// extend styles the bytes appended last.
func (t *Text) extend(st Style) {
	end := int32(len(t.Bytes))
	if n := len(t.Paras); n > 0 {
		t.Paras[n-1].End = end
	}
	t.run(end, st)
}

// run styles the bytes after the last run up to end.
func (t *Text) run(end int32, st Style) {
	if n := len(t.Runs); n > 0 && t.Runs[n-1].Style == st {
		t.Runs[n-1].End = end
		return
	}
	t.Runs = append(t.Runs, Run{end, st})
}

// Line starts a line with its own wrapping; rest is the prefix of its second and later rows. A Text must use Line for
// all of its lines or for none.
func (t *Text) Line(wrap Wrap, rest string) {
	if len(t.Bytes) > 0 {
		t.addString("\n", Style{})
	}
	t.Paras = append(t.Paras, Para{End: int32(len(t.Bytes)), Wrap: wrap, Rest: rest})
}

// Put appends foreign text, made safe. Newlines are kept.
func (t *Text) Put(s string, st Style) {
	c := cleaner{text: t}
	c.put([]byte(s), st)
}

// Plain returns the bytes from..to without the displayed indentation of code, for copying.
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

// tabsShown matches the visible signs of a tab.
var tabsShown = regexp.MustCompile(tabShown + "|" + tabBlank)

// withTabs returns bytes of the text, which start at an offset, with tabs instead of their visible signs.
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

// addText appends the bytes from..to of another Text with the same links.
func (t *Text) addText(o *Text, from, to int) {
	for i := o.RunAt(from); from < to; i++ {
		end := min(to, int(o.Runs[i].End))
		t.add(o.Bytes[from:end], o.Runs[i].Style)
		from = end
	}
}

// truncate keeps the first n bytes.
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

// RunAt returns the index of the run with the byte at an offset.
func (t *Text) RunAt(off int) int {
	return sort.Search(len(t.Runs), func(i int) bool { return int(t.Runs[i].End) > off })
}

// paraAt returns the Para of the line with the byte at an offset.
func (t *Text) paraAt(off int) Para {
	i := sort.Search(len(t.Paras), func(i int) bool { return int(t.Paras[i].End) > off })
	if i < len(t.Paras) {
		return t.Paras[i]
	}
	return Para{End: int32(len(t.Bytes)), Wrap: t.Wrap}
}

// Rest returns the prefix and the band of a row that starts at an offset.
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

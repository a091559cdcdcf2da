package edit

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"buddy/views/markup"
)

// chips holds the contents of chips by number. A chip represents a long paste or, if its content is one line, a
// picture. In a text, a chip is chipMark, which never occurs in UTF-8, and its number in three bytes.
type chips []string

const (
	chipMark = 0xff
	chipSize = 4
	maxChips = 1 << 18
)

func chip(n int) []byte {
	return []byte{chipMark, 0x80 | byte(n>>12&0x3f), 0x80 | byte(n>>6&0x3f), 0x80 | byte(n&0x3f)}
}

// number returns the number of the chip at the start of raw.
func (c chips) number(raw []byte) int {
	return int(raw[1]&0x3f)<<12 | int(raw[2]&0x3f)<<6 | int(raw[3]&0x3f)
}

// pasted returns the content of the chip at the start of raw.
func (c chips) pasted(raw []byte) string { return c[c.number(raw)] }

// label returns the displayed text of the chip at the start of raw.
func (c chips) label(raw []byte) string {
	if !strings.Contains(c.pasted(raw), "\n") {
		n := 0
		for _, text := range c[:c.number(raw)+1] {
			if !strings.Contains(text, "\n") {
				n++
			}
		}
		return fmt.Sprintf("[image %d]", n)
	}
	return fmt.Sprintf("[pasted %d lines]", pasteLines([]byte(c.pasted(raw))))
}

// expand writes raw with expanded chips.
func (c chips) expand(b *strings.Builder, raw []byte) {
	for {
		i := bytes.IndexByte(raw, chipMark)
		if i < 0 {
			b.Write(raw)
			return
		}
		b.Write(raw[:i])
		b.WriteString(c.pasted(raw[i:]))
		raw = raw[i+chipSize:]
	}
}

// rowEnd returns the end of the row that starts at start: after the last space that fits, or inside a word that is
// wider than the row. A space after a full row stays in that row.
func (c chips) rowEnd(text []byte, start, width int) int {
	col, brk := 0, start
	for i := start; i < len(text); {
		end, w := i+1, 1
		if !simple(text, i) {
			end, w = c.measure(text, i, col)
		}
		space := text[i] == ' ' || text[i] == '\t'
		if col += w; col > width && i > start {
			switch {
			case space:
				return end
			case brk > start:
				return brk
			}
			return i
		}
		if i = end; space {
			brk = end
		}
	}
	return len(text)
}

const tabWidth = 4

// measure returns the end of the cluster at i and its width in column col.
func (c chips) measure(text []byte, i, col int) (end, width int) {
	if simple(text, i) {
		return i + 1, 1
	}
	if n, w := lone(text, i); w > 0 {
		return i + n, w
	}
	g := c.glyph(text, i, col)
	return g.end, g.width
}

// lone is markup.Lone for a text that may contain chips.
func lone(text []byte, i int) (n, width int) {
	if k := bytes.IndexByte(text[i:min(len(text), i+2*utf8.UTFMax)], chipMark); k > 0 {
		return markup.Lone(text[i : i+k])
	}
	return markup.Lone(text[i:])
}

// glyph is the displayed form of a cluster.
type glyph struct {
	text       string
	end, width int
	hostile    bool // a control character made visible
	chip       bool
}

// glyph returns the displayed form of the cluster at i in column col.
func (c chips) glyph(text []byte, i, col int) glyph {
	if simple(text, i) {
		return glyph{text: string(text[i : i+1]), end: i + 1, width: 1}
	}
	switch text[i] {
	case chipMark:
		label := c.label(text[i:])
		return glyph{text: label, end: i + chipSize, width: len(label), chip: true}
	case '\t':
		w := tabWidth - col%tabWidth
		return glyph{text: "    "[:w], end: i + 1, width: w}
	}
	end := clusterEnd(text, i)
	shown, width, revealed := markup.Character(text[i:end])
	return glyph{text: shown, end: end, width: width, hostile: revealed}
}

// column counts the cells of a row up to a byte.
func (c chips) column(text []byte, start, to int) int {
	col := 0
	for i := start; i < to; {
		end, w := c.measure(text, i, col)
		i, col = end, col+w
	}
	return col
}

package markup

import (
	"bytes"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"buddy/themes"
)

// tabStop is the distance of tab stops, in columns.
const tabStop = 8

// Cluster returns the length in bytes of the first character of p, which must not be empty, and its width in columns.
// Characters of width 0 are not drawn.
func Cluster(p []byte) (n, width int) {
	if n, width = Lone(p); width > 0 {
		return n, width
	}
	if p[0] < ' ' {
		return 1, 0
	}
	cluster, _, width, _ := uniseg.FirstGraphemeCluster(p, -1)
	return len(cluster), width
}

// Lone is a fast Cluster for most characters that consist of one rune. For all other characters the width is 0; then
// call Cluster.
func Lone(p []byte) (n, width int) {
	if n, width = lone(p); width > 0 && n < len(p) && p[n] >= 0x80 {
		if _, next := lone(p[n:]); next == 0 {
			return n, 0
		}
	}
	return n, width
}

// lone returns the length and width of the first rune of p if the rune is in ranges whose runes never join each other.
// For all other runes the width is 0.
func lone(p []byte) (n, width int) {
	if p[0] >= ' ' && p[0] < 0x7f {
		return 1, 1
	}
	r, n := utf8.DecodeRune(p)
	switch {
	case r < 0xc0:
		return n, 0
	case r <= 0x24f, r >= 0x391 && r <= 0x3a1, r >= 0x3a3 && r <= 0x3c9, r >= 0x400 && r <= 0x481, // Latin, Greek, Cyrillic
		r >= 0x2010 && r <= 0x2027, r >= 0x2500 && r <= 0x259f: // punctuation, boxes
		return n, 1
	case r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fa, r >= 0x4e00 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3: // kana, Han, Hangul
		return n, 2
	}
	return n, 0
}

// Cell is Cluster for a character at a column, counted from 0. The width of a tab depends on the column.
func Cell(p []byte, col int) (n, width int) {
	if p[0] == '\t' {
		return 1, tabStop - col%tabStop
	}
	return Cluster(p)
}

// Width returns the columns of one line of safe text.
func Width(p []byte) int {
	col := 0
	for len(p) > 0 {
		n, width := Cell(p, col)
		col += width
		p = p[n:]
	}
	return col
}

// Row is the byte range of a Text in one row of the screen.
type Row struct{ From, To int32 }

// Layout is a Text wrapped at a width. The zero value is empty.
type Layout struct {
	Rows  []Row
	width int
}

// lookBack is the distance in bytes before a change within which row ends may change, because new runes may join the
// last character.
const lookBack = 64

// Wrap updates the rows after a change of t; the bytes before from must be the same as at the last call. The cost
// depends on the part after from.
func (l *Layout) Wrap(t *Text, width, from int) {
	width = max(width, 1)
	if width != l.width {
		l.width, l.Rows = width, l.Rows[:0]
	}
	start := 0
	for popped := 0; len(l.Rows) > 0; popped++ {
		last := l.Rows[len(l.Rows)-1]
		if popped >= 2 && int(last.To)+lookBack <= from {
			break
		}
		start = int(last.From)
		l.Rows = l.Rows[:len(l.Rows)-1]
	}
	l.wrapFrom(t, min(start, len(t.Bytes)))
}

func (l *Layout) wrapFrom(t *Text, pos int) {
	para := Para{End: -1}
	var first, rest int // columns of the prefixes of first and continued rows
	for pos < len(t.Bytes) {
		if pos >= int(para.End) {
			para = t.paraAt(pos)
			first, rest = Width([]byte(l.prefix(para.First))), Width([]byte(l.prefix(para.Rest)))
		}
		end := len(t.Bytes)
		if n := bytes.IndexByte(t.Bytes[pos:], '\n'); n >= 0 {
			end = pos + n
		}
		avail := l.width - first
		if pos > 0 && t.Bytes[pos-1] != '\n' {
			avail = l.width - rest
		}
		for {
			to, next := wrapRow(t.Bytes[:end], pos, avail, para.Wrap)
			l.Rows = append(l.Rows, Row{int32(pos), int32(to)})
			pos = next
			if pos >= end {
				break
			}
			avail = l.width - rest
		}
		pos = end + 1
	}
}

// prefix shortens the prefix of rows if it is wider than half of a row: to its last two characters, which include the
// sign of a diff's line, or to "" if these are too wide, too.
func (l *Layout) prefix(text string) string {
	if text == "" || Width([]byte(text)) <= l.width/2 {
		return text
	}
	_, n := utf8.DecodeLastRuneInString(text)
	_, m := utf8.DecodeLastRuneInString(text[:len(text)-n])
	if text = text[len(text)-n-m:]; Width([]byte(text)) > l.width/2 {
		return ""
	}
	return text
}

// Rest returns the prefix of row i, its width, and the band of the row.
func (l *Layout) Rest(t *Text, i int) (rest string, width int, band themes.Role) {
	rest, band = t.Rest(int(l.Rows[i].From))
	rest = l.prefix(rest)
	return rest, Width([]byte(rest)), band
}

// wrapRow returns the end of the row that starts at from, and the start of the next one.
func wrapRow(line []byte, from, avail int, wrap Wrap) (to, next int) {
	col := 0
	brk := breaks{to: -1}
	for i := from; i < len(line); {
		n, width := Cell(line[i:], col)
		if wrap == Words {
			brk.before(i, width, line[i] == ' ')
		}
		if col+width > avail && col > 0 {
			switch {
			case brk.to < 0:
				return i, i
			case line[i] == ' ':
				return brk.to, skipBlanks(line, i)
			}
			return brk.to, brk.next
		}
		col += width
		i += n
	}
	return len(line), len(line)
}

// breaks tracks the places where a row of words can be broken.
type breaks struct {
	to, next int // the last place: end of the row and start of the next
	seen     bool
	blank    bool // the previous character is a space
	wide     bool // the previous character is wide, and such text has no spaces
}

// before processes the character at i.
func (b *breaks) before(i, width int, blank bool) {
	switch {
	case blank && b.seen && !b.blank:
		b.to, b.next = i, i+1
	case blank && b.seen:
		b.next = i + 1
	case !blank && !b.blank && b.seen && (b.wide || width == 2):
		b.to, b.next = i, i
	}
	b.seen = b.seen || !blank
	b.blank, b.wide = blank, width == 2
}

func skipBlanks(line []byte, i int) int {
	for i < len(line) && line[i] == ' ' {
		i++
	}
	return i
}

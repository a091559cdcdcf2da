package edit

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"
)

// buffer holds the lines of a text, wrapped at a width.
type buffer struct {
	lines []*line // at least one
	width int     // of a row in cells
	chips chips
}

// Place is a position in the text: a line and a byte in it.
type Place struct{ line, col int }

func (p Place) less(q Place) bool { return p.line < q.line || p.line == q.line && p.col < q.col }

// end returns the place after the last character.
func (b *buffer) end() Place {
	last := len(b.lines) - 1
	return Place{last, len(b.lines[last].text)}
}

// raw returns a copy of the text between two places, with chips unexpanded.
func (b *buffer) raw(from, to Place) []byte {
	if from.line == to.line {
		return bytes.Clone(b.lines[from.line].text[from.col:to.col])
	}
	raw := bytes.Clone(b.lines[from.line].text[from.col:])
	for _, l := range b.lines[from.line+1 : to.line] {
		raw = append(append(raw, '\n'), l.text...)
	}
	return append(append(raw, '\n'), b.lines[to.line].text[:to.col]...)
}

// splice replaces the text between two places by raw, and returns the end of the new text.
func (b *buffer) splice(from, to Place, raw []byte) Place {
	if from.line == to.line && bytes.IndexByte(raw, '\n') < 0 {
		b.lines[from.line].splice(from.col, to.col, raw, b.chips)
		return Place{from.line, from.col + len(raw)}
	}
	parts := bytes.Split(raw, []byte("\n"))
	fresh := make([]*line, len(parts))
	for i, p := range parts {
		fresh[i] = &line{text: bytes.Clone(p)}
	}
	last := fresh[len(fresh)-1]
	end := Place{from.line + len(parts) - 1, len(last.text)}
	if len(parts) == 1 {
		end.col += from.col
	}
	last.text = append(last.text, b.lines[to.line].text[to.col:]...)
	fresh[0].text = append(bytes.Clone(b.lines[from.line].text[:from.col]), fresh[0].text...)
	b.lines = slices.Replace(b.lines, from.line, to.line+1, fresh...)
	return end
}

// endOf returns the place at which raw ends if it starts at the given place.
func endOf(at Place, raw []byte) Place {
	n := bytes.Count(raw, []byte("\n"))
	if n == 0 {
		return Place{at.line, at.col + len(raw)}
	}
	return Place{at.line + n, len(raw) - bytes.LastIndexByte(raw, '\n') - 1}
}

// left returns the place one cluster to the left, or p at the start.
func (b *buffer) left(p Place) Place {
	if p.col > 0 {
		return Place{p.line, ClusterBefore(b.lines[p.line].text, p.col)}
	}
	if p.line > 0 {
		return Place{p.line - 1, len(b.lines[p.line-1].text)}
	}
	return p
}

// right returns the place one cluster to the right, or p at the end.
func (b *buffer) right(p Place) Place {
	if text := b.lines[p.line].text; p.col < len(text) {
		return Place{p.line, clusterEnd(text, p.col)}
	}
	if p.line < len(b.lines)-1 {
		return Place{p.line + 1, 0}
	}
	return p
}

// snap moves a place to the end of its cluster if an edit has left it inside one.
func (b *buffer) snap(p Place) Place {
	text := b.lines[p.line].text
	for i := safeStart(text, p.col); ; i = clusterEnd(text, i) {
		if i >= p.col {
			return Place{p.line, i}
		}
	}
}

// inWord reports whether the cluster at p belongs to a word. Chips do, line ends do not.
func (b *buffer) inWord(p Place) bool {
	text := b.lines[p.line].text
	if p.col >= len(text) {
		return false
	}
	r, _ := utf8.DecodeRune(text[p.col:])
	return text[p.col] == chipMark || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

func (b *buffer) wordRight(p Place) Place {
	end := b.end()
	for p != end && !b.inWord(p) {
		p = b.right(p)
	}
	for p != end && b.inWord(p) {
		p = b.right(p)
	}
	return p
}

func (b *buffer) wordLeft(p Place) Place {
	for p != (Place{}) && !b.inWord(b.left(p)) {
		p = b.left(p)
	}
	for p.col > 0 && b.inWord(b.left(p)) {
		p = b.left(p)
	}
	return p
}

// spaceLeft moves left over spaces and then to the start of the text between spaces, within the line. From the start of
// a line it moves to the end of the previous line.
func (b *buffer) spaceLeft(p Place) Place {
	if p.col == 0 {
		return b.left(p)
	}
	text := b.lines[p.line].text
	i := len(bytes.TrimRight(text[:p.col], " \t"))
	return Place{p.line, 1 + bytes.LastIndexAny(text[:i], " \t")}
}

// indent returns the offset of the first nonblank character of a line.
func (b *buffer) indent(line int) int {
	text := b.lines[line].text
	return len(text) - len(bytes.TrimLeft(text, " \t"))
}

// wrapped returns line i with at least the given number of rows computed, or all its rows if it has fewer.
func (b *buffer) wrapped(i, rows int) *line {
	l := b.lines[i]
	if l.width != b.width {
		l.width, l.rows, l.whole = b.width, append(l.rows[:0], 0), false
	}
	for !l.whole && len(l.rows) < rows {
		l.extend(b.chips)
	}
	return l
}

// wrappedTo returns a line with the row of a byte computed.
func (b *buffer) wrappedTo(p Place) (*line, int) {
	l := b.wrapped(p.line, 1)
	for !l.whole && l.rows[len(l.rows)-1] <= p.col {
		l.extend(b.chips)
	}
	return l, l.row(p.col)
}

// rowsBack returns the row n rows above r, or the first one.
func (b *buffer) rowsBack(r Row, n int) Row {
	for r.n < n {
		if r.line == 0 {
			return Row{}
		}
		n -= r.n + 1
		r.line--
		r.n = len(b.wrapped(r.line, allRows).rows) - 1
	}
	r.n -= n
	return r
}

// rowsOn returns the row n rows below r, or the last one.
func (b *buffer) rowsOn(r Row, n int) Row {
	for {
		below := len(b.wrapped(r.line, r.n+n+1).rows) - 1 - r.n
		if n <= below {
			r.n += n
			return r
		}
		if r.line == len(b.lines)-1 {
			r.n += below
			return r
		}
		n -= below + 1
		r = Row{r.line + 1, 0}
	}
}

// placeAt returns the place in a row nearest to a column.
func (b *buffer) placeAt(r Row, want int) Place {
	l := b.wrapped(r.line, r.n+2)
	i, col := l.rows[r.n], 0
	end, more := len(l.text), r.n+1 < len(l.rows)
	if more {
		end = l.rows[r.n+1]
	}
	for i < end {
		next, w := b.chips.measure(l.text, i, col)
		if col+w > want || more && next >= end { // the end of a row is the start of the next
			break
		}
		i, col = next, col+w
	}
	return Place{r.line, i}
}

// cell returns the glyph of the cluster at p for [Editor.Strip], which shows a line end as ␊.
func (b *buffer) cell(p Place) glyph {
	text := b.lines[p.line].text
	if p.col >= len(text) {
		return glyph{text: "␊", width: 1}
	}
	return b.chips.glyph(text, p.col, 0)
}

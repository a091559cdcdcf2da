package edit

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"buddy/views/markup"
)

// line is one line with the places where its rows begin at one width. Rows are computed
// as far as somebody looks. An edit wraps anew from two rows before it until the rows
// fall in step with the old ones; if that takes long, the rest waits until it is needed.
type line struct {
	text  []byte
	rows  []int // where rows begin, as far as they are known; rows[0] is 0
	whole bool  // no more rows follow
	width int   // for which rows holds; 0 = none
}

const (
	allRows = 1 << 30
	inStep  = 32 // rows after which an edit stops to look for the old ones
)

// splice puts raw in place of text[from:to]. raw has no line end.
func (l *line) splice(from, to int, raw []byte, e *Editor) {
	delta := len(raw) - (to - from)
	l.text = slices.Replace(l.text, from, to, raw...)
	if l.width == 0 {
		return
	}
	// Where a row breaks depends on what follows up to the first cluster that no longer
	// fits. That is in the next row or, if the cluster is wide, starts the one after.
	first := max(0, l.row(from)-2)
	old := first + 1
	var fresh []int
	for start := l.rows[first]; ; {
		start = e.rowEnd(l.text, start, l.width)
		if start >= len(l.text) {
			l.rows, l.whole = append(l.rows[:first+1], fresh...), true
			return
		}
		for old < len(l.rows) && (l.rows[old] < to || l.rows[old]+delta < start) {
			old++
		}
		if old < len(l.rows) && l.rows[old]+delta == start {
			break
		}
		if fresh = append(fresh, start); len(fresh) == inStep {
			l.rows, l.whole = append(l.rows[:first+1], fresh...), false
			return
		}
	}
	for i := old; i < len(l.rows); i++ {
		l.rows[i] += delta
	}
	l.rows = slices.Replace(l.rows, first+1, old, fresh...)
}

// row returns the row that holds a byte, among the known ones; the end of a row belongs
// to the next one.
func (l *line) row(col int) int {
	i, found := slices.BinarySearch(l.rows, col)
	if found {
		return i
	}
	return i - 1
}

// wrapped returns a line of which at least so many rows are known, or all.
func (e *Editor) wrapped(i, rows int) *line {
	l := e.lines[i]
	if l.width != e.width {
		l.width, l.rows, l.whole = e.width, append(l.rows[:0], 0), false
	}
	for !l.whole && len(l.rows) < rows {
		e.extend(l)
	}
	return l
}

// wrappedTo returns a line of which the row that holds a byte is known.
func (e *Editor) wrappedTo(p Place) (*line, int) {
	l := e.wrapped(p.line, 1)
	for !l.whole && l.rows[len(l.rows)-1] <= p.col {
		e.extend(l)
	}
	return l, l.row(p.col)
}

func (e *Editor) extend(l *line) {
	start := e.rowEnd(l.text, l.rows[len(l.rows)-1], l.width)
	if l.whole = start >= len(l.text); !l.whole {
		l.rows = append(l.rows, start)
	}
}

// rowEnd returns where the row ends that begins at start: after the last space that
// fits, or within a word that is wider than the row. One space may hang over the edge.
func (e *Editor) rowEnd(text []byte, start, width int) int {
	col, brk := 0, start
	for i := start; i < len(text); {
		end, w := i+1, 1
		if !simple(text, i) {
			end, w = e.measure(text, i, col)
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

// simple reports whether the character at i is a cluster of one byte and one cell.
func simple(text []byte, i int) bool {
	c := text[i]
	return c >= ' ' && c < 0x7f && (i+1 == len(text) || text[i+1] < 0x80 || text[i+1] == chipMark)
}

const tabWidth = 4

// measure returns where the cluster at i ends and how many cells it takes in column col.
func (e *Editor) measure(text []byte, i, col int) (end, width int) {
	if simple(text, i) {
		return i + 1, 1
	}
	if n, w := lone(text, i); w > 0 {
		return i + n, w
	}
	g := e.glyph(text, i, col)
	return g.end, g.width
}

// lone is markup.Lone for a text that may hold chips.
func lone(text []byte, i int) (n, width int) {
	if k := bytes.IndexByte(text[i:min(len(text), i+2*utf8.UTFMax)], chipMark); k > 0 {
		return markup.Lone(text[i : i+k])
	}
	return markup.Lone(text[i:])
}

// glyph is how one cluster shows.
type glyph struct {
	text       string
	end, width int
	hostile    bool // a control character made visible
	chip       bool
}

func (e *Editor) glyph(text []byte, i, col int) glyph {
	if simple(text, i) {
		return glyph{text: string(text[i : i+1]), end: i + 1, width: 1}
	}
	switch text[i] {
	case chipMark:
		label := e.label(text[i:])
		return glyph{text: label, end: i + chipSize, width: len(label), chip: true}
	case '\t':
		w := tabWidth - col%tabWidth
		return glyph{text: "    "[:w], end: i + 1, width: w}
	}
	end := clusterEnd(text, i)
	shown, width, revealed := markup.Character(text[i:end])
	return glyph{text: shown, end: end, width: width, hostile: revealed}
}

// SetWidth sets the cells of a row, at least 1; a space may hang over by one cell.
func (e *Editor) SetWidth(width int) { e.width = max(1, width) }

// Rows counts rows, but not beyond limit.
func (e *Editor) Rows(limit int) int {
	n := 0
	for i := range e.lines {
		if n += len(e.wrapped(i, limit-n).rows); n >= limit {
			return limit
		}
	}
	return n
}

// Row is one row on the screen: a line and the number of the row in it.
type Row struct{ line, n int }

func (r Row) less(s Row) bool { return r.line < s.line || r.line == s.line && r.n < s.n }

// CursorRow returns the row of the cursor and its column in cells.
func (e *Editor) CursorRow() (Row, int) {
	l, n := e.wrappedTo(e.cur)
	return Row{e.cur.line, n}, e.column(l.text, l.rows[n], e.cur.col)
}

// column counts the cells of a row up to a byte.
func (e *Editor) column(text []byte, start, to int) int {
	col := 0
	for i := start; i < to; {
		end, w := e.measure(text, i, col)
		i, col = end, col+w
	}
	return col
}

// rowsBack returns the row n rows above r, or the first one.
func (e *Editor) rowsBack(r Row, n int) Row {
	for r.n < n {
		if r.line == 0 {
			return Row{}
		}
		n -= r.n + 1
		r.line--
		r.n = len(e.wrapped(r.line, allRows).rows) - 1
	}
	r.n -= n
	return r
}

// RowsOn returns the row n rows below r, or the last one.
func (e *Editor) RowsOn(r Row, n int) Row {
	for {
		below := len(e.wrapped(r.line, r.n+n+1).rows) - 1 - r.n
		if n <= below {
			r.n += n
			return r
		}
		if r.line == len(e.lines)-1 {
			r.n += below
			return r
		}
		n -= below + 1
		r = Row{r.line + 1, 0}
	}
}

// Up moves the cursor up a row and says whether there was one.
func (e *Editor) Up() bool { return e.climb(-1) }

// Down moves the cursor down a row and says whether there was one.
func (e *Editor) Down() bool { return e.climb(1) }

func (e *Editor) climb(by int) bool {
	e.before, e.last = e.last, climbing
	from, col := e.CursorRow()
	if e.before != climbing {
		e.goal = col
	}
	to := e.RowsOn(from, 1)
	if by < 0 {
		to = e.rowsBack(from, 1)
	}
	if to == from {
		return false
	}
	e.cur = e.placeAt(to, e.goal)
	return true
}

// placeAt returns the place in a row that is nearest to a column.
func (e *Editor) placeAt(r Row, want int) Place {
	l := e.wrapped(r.line, r.n+2)
	i, col := l.rows[r.n], 0
	end, more := len(l.text), r.n+1 < len(l.rows)
	if more {
		end = l.rows[r.n+1]
	}
	for i < end {
		next, w := e.measure(l.text, i, col)
		if col+w > want || more && next >= end { // the end of a row is the start of the next
			break
		}
		i, col = next, col+w
	}
	return Place{r.line, i}
}

const (
	maxCluster = 256  // bytes; longer ones are cut
	maxLook    = 1024 // bytes that are searched backwards for a sure boundary
)

// clusterEnd returns where the cluster ends that begins at i.
func clusterEnd(text []byte, i int) int {
	if text[i] == chipMark {
		return i + chipSize
	}
	if simple(text, i) {
		return i + 1
	}
	end := min(len(text), i+maxCluster)
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	window := text[i:end]
	if k := bytes.IndexByte(window, chipMark); k > 0 {
		window = window[:k]
	}
	n, _ := markup.Cluster(window)
	return i + n
}

// ClusterBefore returns where the cluster begins that ends at i > 0.
func ClusterBefore(text []byte, i int) int {
	start := i
	for j := safeStart(text, i-1); j < i; j = clusterEnd(text, j) {
		start = j
	}
	return start
}

// DropLast returns a text without its last cluster.
func DropLast(text string) string {
	b := []byte(text)
	if len(b) == 0 {
		return ""
	}
	return string(b[:ClusterBefore(b, len(b))])
}

// safeStart returns a place at or before i where a cluster is known to begin without
// reading the line from its start.
func safeStart(text []byte, i int) int {
	if i >= len(text) {
		if len(text) == 0 {
			return 0
		}
		i = len(text) - 1
	}
	i = runeStart(text, i)
	after := plain(text, i)
	for limit := i - maxLook; i > 0 && i > limit; {
		if text[i] == chipMark {
			return i
		}
		before := runeStart(text, i-1)
		if text[before] == chipMark {
			return i
		}
		beforePlain := plain(text, before)
		if after && beforePlain {
			return i
		}
		i, after = before, beforePlain
	}
	return i
}

// runeStart returns the start of the rune, or chip, that holds byte i.
func runeStart(text []byte, i int) int {
	for i > 0 && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// plain reports whether the rune at i never joins a neighbour that is plain as well.
func plain(text []byte, i int) bool {
	_, width := markup.Lone(text[i:runeEnd(text, i)])
	return width > 0
}

func runeEnd(text []byte, i int) int {
	_, n := utf8.DecodeRune(text[i:])
	return i + n
}

// VisibleFrom returns the first of h rows to show so that the cursor is among them, no
// row is wasted behind the end, and the view moves as little as possible.
func (e *Editor) VisibleFrom(top, cursor Row, h int) Row {
	if top.line >= len(e.lines) || top.n >= len(e.wrapped(top.line, top.n+1).rows) {
		top = cursor
	}
	if cursor.less(top) {
		top = cursor
	}
	if first := e.rowsBack(cursor, h-1); top.less(first) {
		top = first
	}
	if last := e.RowsOn(top, h-1); last == e.RowsOn(last, 1) { // it is the last row
		top = e.rowsBack(last, h-1)
	}
	return top
}

// Click puts the cursor at a column of a row.
func (e *Editor) Click(r Row, col int) {
	e.before, e.last = e.last, nothing
	e.cur = e.placeAt(r, max(0, col))
}

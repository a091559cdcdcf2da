package edit

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"buddy/views/markup"
)

// line holds a line with the starts of its rows at one width, which are computed on demand. An edit rewraps the line
// from two rows before the change until the rows match the old ones; after inStep rows it leaves the rest for later.
type line struct {
	text  []byte
	rows  []int // known starts of rows; rows[0] is 0
	whole bool  // all rows are known
	width int   // of rows; 0: none
}

const (
	allRows = 1 << 30
	inStep  = 32 // rows after which an edit stops looking for old ones
)

// splice replaces text[from:to] by raw, which has no line end.
func (l *line) splice(from, to int, raw []byte, chips chips) {
	delta := len(raw) - (to - from)
	l.text = slices.Replace(l.text, from, to, raw...)
	if l.width == 0 {
		return
	}
	// The break of a row depends on the text up to the first cluster that no longer fits. That cluster is in the next
	// row or, if it is wide, at the start of the row after that.
	first := max(0, l.row(from)-2)
	old := first + 1
	var fresh []int
	for start := l.rows[first]; ; {
		start = chips.rowEnd(l.text, start, l.width)
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

// row returns the computed row that contains a byte; the end of a row belongs to the next row.
func (l *line) row(col int) int {
	i, found := slices.BinarySearch(l.rows, col)
	if found {
		return i
	}
	return i - 1
}

// extend computes the next row.
func (l *line) extend(chips chips) {
	start := chips.rowEnd(l.text, l.rows[len(l.rows)-1], l.width)
	if l.whole = start >= len(l.text); !l.whole {
		l.rows = append(l.rows, start)
	}
}

// simple reports whether the character at i is a cluster of one byte and one cell.
func simple(text []byte, i int) bool {
	c := text[i]
	return c >= ' ' && c < 0x7f && (i+1 == len(text) || text[i+1] < 0x80 || text[i+1] == chipMark)
}

// SetWidth sets the cells of a row, at least 1. A space at the end of a row may need one cell more.
func (e *Editor) SetWidth(width int) { e.buf.width = max(1, width) }

// Rows counts rows up to limit.
func (e *Editor) Rows(limit int) int {
	n := 0
	for i := range e.buf.lines {
		if n += len(e.buf.wrapped(i, limit-n).rows); n >= limit {
			return limit
		}
	}
	return n
}

// Row is a row on the screen: a line and the index of the row in it.
type Row struct{ line, n int }

func (r Row) less(s Row) bool { return r.line < s.line || r.line == s.line && r.n < s.n }

// CursorRow returns the row of the cursor and its column in cells.
func (e *Editor) CursorRow() (Row, int) {
	l, n := e.buf.wrappedTo(e.cur)
	return Row{e.cur.line, n}, e.buf.chips.column(l.text, l.rows[n], e.cur.col)
}

// RowsOn returns the row n rows below r, or the last one.
func (e *Editor) RowsOn(r Row, n int) Row { return e.buf.rowsOn(r, n) }

// Up moves the cursor up a row and reports whether there was one.
func (e *Editor) Up() bool { return e.climb(-1) }

// Down moves the cursor down a row and reports whether there was one.
func (e *Editor) Down() bool { return e.climb(1) }

func (e *Editor) climb(by int) bool {
	e.before, e.last = e.last, climbing
	from, col := e.CursorRow()
	if e.before != climbing {
		e.goal = col
	}
	to := e.buf.rowsOn(from, 1)
	if by < 0 {
		to = e.buf.rowsBack(from, 1)
	}
	if to == from {
		return false
	}
	e.cur = e.buf.placeAt(to, e.goal)
	return true
}

const (
	maxCluster = 256  // bytes; longer ones are cut
	maxLook    = 1024 // bytes searched backwards for a certain boundary
)

// clusterEnd returns the end of the cluster that starts at i.
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

// ClusterBefore returns the start of the cluster that ends at i > 0.
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

// safeStart returns an offset at or before i at which a cluster certainly starts, without reading the line from its
// start.
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

// runeStart returns the start of the rune or chip with byte i.
func runeStart(text []byte, i int) int {
	for i > 0 && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// plain reports whether the rune at i never forms a cluster with another plain rune.
func plain(text []byte, i int) bool {
	_, width := markup.Lone(text[i:runeEnd(text, i)])
	return width > 0
}

func runeEnd(text []byte, i int) int {
	_, n := utf8.DecodeRune(text[i:])
	return i + n
}

// VisibleFrom returns the first of h rows to show. The cursor is among them, no row is wasted after the end, and the
// view moves as little as possible.
func (e *Editor) VisibleFrom(top, cursor Row, h int) Row {
	if top.line >= len(e.buf.lines) || top.n >= len(e.buf.wrapped(top.line, top.n+1).rows) {
		top = cursor
	}
	if cursor.less(top) {
		top = cursor
	}
	if first := e.buf.rowsBack(cursor, h-1); top.less(first) {
		top = first
	}
	if last := e.buf.rowsOn(top, h-1); last == e.buf.rowsOn(last, 1) { // last is the last row
		top = e.buf.rowsBack(last, h-1)
	}
	return top
}

// Click moves the cursor to a column of a row.
func (e *Editor) Click(r Row, col int) {
	e.before, e.last = e.last, nothing
	e.cur = e.buf.placeAt(r, max(0, col))
}

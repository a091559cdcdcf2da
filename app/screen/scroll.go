package screen

import (
	"fmt"
	"slices"
)

// scroll is a move of whole rows inside the region of rows from top to before bottom. After the move, row y shows what
// row y+by showed before, or blanks if y+by is outside of the region.
type scroll struct{ top, bottom, by int }

// Rows are moved only if at least manyRows change and the move saves more than manyCells cells.
const (
	manyRows  = 6
	manyCells = 200
)

// scrolled returns the move that brings the most rows of the shown frame to their places in the frame being drawn. ok
// reports whether the move saves enough cells. Each row is compared with all others, so the cost grows with the square
// of the number of rows.
func (f *frame) scrolled() (best scroll, ok bool) {
	changed, first, last := 0, f.h, 0
	for y := range f.h {
		if !slices.Equal(f.row(f.back, y), f.row(f.front, y)) {
			changed, first, last = changed+1, min(first, y), y
		}
	}
	if changed < manyRows {
		return best, false
	}
	most := 0
	for by := first - last; by <= last-first; by++ {
		if by == 0 {
			continue
		}
		if m, placed := f.candidate(first, last+1, by); placed > most {
			best, most = m, placed
		}
	}
	return best, most > 0 && f.spares(best) > manyCells
}

// candidate returns the smallest region, from first to before last, in which a move by the given number of rows brings
// the most rows to their places. placed is the number of these rows; blank rows do not count.
func (f *frame) candidate(first, last, by int) (m scroll, placed int) {
	m = scroll{top: last, by: by}
	for y := max(first, first-by); y < min(last, last-by); y++ {
		row := f.row(f.back, y)
		if !slices.Equal(row, f.row(f.front, y+by)) || isBlank(row) {
			continue
		}
		placed++
		m.top, m.bottom = min(m.top, y, y+by), max(m.bottom, y+1, y+by+1)
	}
	return m, placed
}

// spares returns by how many a move reduces the cells that have to be written.
func (f *frame) spares(m scroll) int {
	n := 0
	for y := m.top; y < m.bottom; y++ {
		row, before, after := f.row(f.back, y), f.row(f.front, y), f.moved(m, y)
		for x, c := range row {
			if c != before[x] {
				n++
			}
			if after == nil && c != blankCell || after != nil && c != after[x] {
				n--
			}
		}
	}
	return n
}

// blankCell is the content of a cleared cell.
var blankCell = cell{text: ' ', width: 1}

// moved returns the content of row y after a move, or nil if the row is blank then.
func (f *frame) moved(m scroll, y int) []cell {
	if y += m.by; y < m.top || y >= m.bottom {
		return nil
	}
	return f.row(f.front, y)
}

func (f *frame) row(cells []cell, y int) []cell { return cells[y*f.w : (y+1)*f.w] }

func isBlank(row []cell) bool {
	for _, c := range row {
		if c.text != ' ' {
			return false
		}
	}
	return true
}

// scroll applies a move to front.
func (f *frame) scroll(m scroll) {
	for i := range m.bottom - m.top {
		y := m.top + i
		if m.by < 0 {
			y = m.bottom - 1 - i // the source row is still unchanged
		}
		row := f.row(f.front, y)
		if from := f.moved(m, y); from != nil {
			copy(row, from)
			continue
		}
		for x := range row {
			row[x] = blankCell
		}
	}
}

// sequence returns the escape sequence of a move; the cursor is at the top left afterwards. It resets the colours
// first, because some terminals apply them to the blank rows.
func (m scroll) sequence() string {
	n, what := m.by, 'M' // deletes rows
	if n < 0 {
		n, what = -n, 'L' // inserts rows
	}
	return fmt.Sprintf("\x1b[m\x1b[%d;%dr\x1b[%d;1H\x1b[%d%c\x1b[r", m.top+1, m.bottom, m.top+1, n, what)
}

// moveRows makes the terminal move rows that are elsewhere in the new frame, so that they need not be written again,
// and reports whether it did.
func (f *frame) moveRows(o *output) bool {
	m, ok := f.scrolled()
	if !ok {
		return false
	}
	f.scroll(m)
	o.scroll(m)
	return true
}

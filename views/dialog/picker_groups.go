package dialog

import "slices"

// headings holds the indexes of the shown rows that have a heading above them, in order. A list has a line for each
// heading and for each row.
type headings []int

// lineOf returns the line of a row, both from 0.
func (h headings) lineOf(row int) int {
	n, heading := slices.BinarySearch(h, row)
	if heading {
		n++
	}
	return row + n
}

// rowAt returns the row in a line. For a heading it returns the row below, and false; for a line below all rows, ok is
// false, too.
func (h headings) rowAt(line, rows int) (row int, ok bool) {
	row = line
	for _, head := range h {
		switch at := h.lineOf(head) - 1; {
		case line == at:
			return head, false
		case line > at:
			row--
		}
	}
	return row, row >= 0 && row < rows
}

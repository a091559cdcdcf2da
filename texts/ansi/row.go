package ansi

import (
	"strings"

	"github.com/rivo/uniseg"
)

// tabStop is the distance between tab stops in columns.
const tabStop = 8

// maxCell limits a character with its combining marks, in bytes.
const maxCell = 64

// row holds a row of a Screen: text printed from left to right, or cells once the cursor was moved within the row.
type row struct {
	text   []byte
	cells  []string // nil: the row is in text; "" continues the character in the cell before
	joined bool     // the previous row wraps into this one
}

func (r *row) clear() { r.text, r.cells, r.joined = r.text[:0], nil, false }

// erase empties the row.
func (r *row) erase() { r.text, r.cells = r.text[:0], nil }

func (r *row) blank() bool {
	for _, c := range r.cells {
		if c != " " {
			return false
		}
	}
	return r.cells != nil || len(r.text) == 0
}

// appendTo appends the text of the row. With trim, spaces at the end of cells are dropped: they are erased text, or
// fill the rest of the row up to its edge.
func (r *row) appendTo(text []byte, trim bool) []byte {
	if r.cells == nil {
		return append(text, r.text...)
	}
	n := len(r.cells)
	for trim && n > 0 && r.cells[n-1] == " " {
		n--
	}
	for _, c := range r.cells[:n] {
		text = append(text, c...)
	}
	return text
}

// toCells splits text into cells.
func (r *row) toCells() {
	if r.cells != nil {
		return
	}
	r.cells = make([]string, 0, max(len(r.text), tabStop))
	for p := r.text; len(p) > 0; {
		if p[0] == '\t' {
			r.set(len(r.cells), "\t", tabStop-len(r.cells)%tabStop)
			p = p[1:]
			continue
		}
		text, n, width := firstCell(p)
		if width == 0 {
			r.combine(len(r.cells)-1, text)
		} else {
			r.set(len(r.cells), text, width)
		}
		p = p[n:]
	}
	r.text = r.text[:0]
}

// set puts a character with a width of some columns at x.
func (r *row) set(x int, text string, width int) {
	r.pad(x)
	r.split(x)
	r.split(x + width)
	r.pad(x + width)
	r.cells[x] = text
	for i := x + 1; i < x+width; i++ {
		r.cells[i] = ""
	}
}

// combine adds a combining mark to the character at x.
func (r *row) combine(x int, mark string) {
	for x = min(x, len(r.cells)-1); x >= 0; x-- {
		if c := r.cells[x]; c != "" {
			if len(c)+len(mark) <= maxCell {
				r.cells[x] = c + mark
			}
			return
		}
	}
}

// pad extends the row to n cells.
func (r *row) pad(n int) {
	for len(r.cells) < n {
		r.cells = append(r.cells, " ")
	}
}

// split replaces a character by spaces if x is within it.
func (r *row) split(x int) {
	if x >= len(r.cells) || x < 0 || r.cells[x] != "" {
		return
	}
	from := x
	for from > 0 && r.cells[from] == "" {
		from--
	}
	for i := from; i < len(r.cells) && (i == from || r.cells[i] == ""); i++ {
		r.cells[i] = " "
	}
}

// cut drops the cells from x on.
func (r *row) cut(x int) {
	r.split(x)
	if x < len(r.cells) {
		r.cells = r.cells[:x]
	}
}

// blanks erases the cells from x up to end.
func (r *row) blanks(x, end int) {
	end = min(end, len(r.cells))
	if x >= end {
		return
	}
	r.split(x)
	r.split(end)
	for i := x; i < end; i++ {
		r.cells[i] = " "
	}
}

// shift inserts n cells at x, or removes -n. Moved tabs become spaces, because their width would change.
func (r *row) shift(x, n int) {
	if x >= len(r.cells) {
		return
	}
	r.split(x)
	for i := x; i < len(r.cells); i++ {
		if r.cells[i] == "\t" {
			for r.cells[i] = " "; i+1 < len(r.cells) && r.cells[i+1] == ""; i++ {
				r.cells[i+1] = " "
			}
		}
	}
	if n < 0 {
		end := min(x-n, len(r.cells))
		r.split(end)
		r.cells = append(r.cells[:x], r.cells[end:]...)
		return
	}
	rest := append([]string(nil), r.cells[x:]...)
	r.cells = r.cells[:x]
	r.pad(x + min(n, screenColumns-x))
	r.cells = append(r.cells, rest...)
	r.cut(screenColumns)
}

// ascii holds the cells of characters without marks.
const ascii = " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"

// firstCell returns the first character of p, its length and its width in columns. A combining mark without its
// character has the width 0.
func firstCell(p []byte) (text string, n, width int) {
	if b := p[0]; b >= ' ' && b < 0x7f && (len(p) == 1 || p[1] < 0x80) {
		return ascii[b-' ' : b-' '+1], 1, 1
	}
	cluster, _, width, _ := uniseg.FirstGraphemeCluster(p, -1)
	n = len(cluster)
	if len(cluster) > maxCell {
		cluster = cluster[:maxCell]
	}
	return strings.ToValidUTF8(string(cluster), "\uFFFD"), n, min(width, 2)
}

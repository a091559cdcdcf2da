package markup

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"buddy/themes"
)

const (
	columnGap   = " │ "
	leastColumn = 5 // minimum width of a column
)

// tableCell is the text of a cell, wrapped at the width of its column.
type tableCell struct {
	text   Text
	layout Layout
}

// table renders a table in columns, or as "header: cell" lines if columns do not fit.
func (r *renderer) table(n *east.Table) {
	var rows [][]*tableCell
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		rows = append(rows, r.cells(row, len(rows) == 0))
	}
	columns := len(n.Alignments)
	avail := r.width - Width([]byte(r.rest)) - (columns-1)*len([]rune(columnGap))
	widths := columnWidths(rows, columns, avail)
	if widths == nil {
		r.records(rows)
		return
	}
	for i, row := range rows {
		r.tableRow(row, widths, n.Alignments)
		if i == 0 {
			r.line(Hard, "")
			parts := make([]string, columns)
			for c, w := range widths {
				parts[c] = strings.Repeat("─", w)
			}
			r.put([]byte(strings.Join(parts, "─┼─")), Style{Role: themes.Muted})
		}
	}
}

// cells renders the cells of a row separately. They share the links of the whole text.
func (r *renderer) cells(row ast.Node, header bool) []*tableCell {
	var cells []*tableCell
	for n := row.FirstChild(); n != nil; n = n.NextSibling() {
		c := &tableCell{text: Text{Links: r.text.Links}}
		sub := renderer{text: &c.text, clean: cleaner{text: &c.text}, src: r.src, width: r.width, files: r.files}
		var st Style
		if header {
			st.Role = themes.Strong
		}
		sub.rawLine("", "", Words)
		sub.inlines(n, st)
		r.text.Links = c.text.Links
		cells = append(cells, c)
	}
	return cells
}

// columnWidths distributes avail cells among the columns; nil if there are too few. Wide columns get the cells that
// narrow columns do not need.
func columnWidths(rows [][]*tableCell, columns, avail int) []int {
	if columns == 0 || avail < columns*leastColumn {
		return nil
	}
	widths := make([]int, columns)
	total := 0
	for _, row := range rows {
		for c, cell := range row[:min(len(row), columns)] {
			widths[c] = max(widths[c], min(Width(cell.text.Bytes), avail))
		}
	}
	for _, w := range widths {
		total += w
	}
	for total > avail {
		widest := 0
		for c, w := range widths {
			if w > widths[widest] {
				widest = c
			}
		}
		widths[widest]--
		total--
	}
	return widths
}

func (r *renderer) tableRow(row []*tableCell, widths []int, align []east.Alignment) {
	height := 1
	for c, cell := range row {
		cell.layout.Wrap(&cell.text, widths[c], 0)
		height = max(height, len(cell.layout.Rows))
	}
	for i := range height {
		r.line(Hard, "")
		for c, w := range widths {
			if c > 0 {
				r.put([]byte(columnGap), Style{Role: themes.Muted})
			}
			var from, to int
			if c < len(row) && i < len(row[c].layout.Rows) {
				from, to = int(row[c].layout.Rows[i].From), int(row[c].layout.Rows[i].To)
			}
			used := 0
			if to > from {
				used = Width(row[c].text.Bytes[from:to])
			}
			before := 0
			switch align[c] {
			case east.AlignRight:
				before = w - used
			case east.AlignCenter:
				before = (w - used) / 2
			}
			r.pad(before)
			if to > from {
				r.text.addText(&row[c].text, from, to)
			}
			if c < len(widths)-1 {
				r.pad(w - used - before)
			}
		}
	}
}

func (r *renderer) pad(n int) { r.text.addString(strings.Repeat(" ", max(n, 0)), Style{}) }

// records renders a table that is too wide, one line for each cell.
func (r *renderer) records(rows [][]*tableCell) {
	head := rows[0]
	if len(rows) == 1 {
		rows = append(rows, nil)
	}
	for i, row := range rows[1:] {
		if i > 0 {
			r.gap()
		}
		for c, h := range head {
			r.line(Words, "")
			r.text.addText(&h.text, 0, len(h.text.Bytes))
			r.put([]byte(": "), Style{Role: themes.Muted})
			if c < len(row) {
				r.text.addText(&row[c].text, 0, len(row[c].text.Bytes))
			}
		}
	}
}

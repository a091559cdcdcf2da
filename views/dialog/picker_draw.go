package dialog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"

	"buddy/app/keymap"
	"buddy/app/show"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/edit"
	"buddy/views/markup"
)

const (
	pickerWidth  = 84  // columns of a list without a preview
	widestPicker = 110 // columns if its rows need them
	previewFrom  = 90  // inner columns from which a preview is shown
	pickerMost   = 180 // columns of a list with a preview
	maxColumn    = 28  // cells of a column other than the first
	leastTitle   = 24  // cells that the first column keeps if it needs them; other columns are omitted instead
	columnGap    = 2
	rowsOfNaming = 8  // inner rows from which column names are shown
	leastColumn  = 10 // minimal cells of a column that is cut
	rowsOfNotice = 3  // rows of a notice that is longer than a row
)

// Size returns the size of the list, border included.
func (p *Picker) Size(maxW, maxH int) (w, h int) {
	if p.o.Preview != nil {
		return min(maxW, pickerMost), maxH
	}
	w = pickerWidth
	if n := len(p.o.Columns); n > 0 {
		need := 0
		for _, c := range p.cells.widths[min(1, len(p.cells.widths)):] {
			need += c + columnGap
		}
		w = max(w, min(need+max(leastTitle, p.cells.longest)+8, widestPicker))
	}
	rows := max(len(p.rows), 1) + len(p.heads) + 4 // with the border, the filter and the keys
	if len(p.o.Columns) > 0 {
		rows++
	}
	return min(maxW, w), min(maxH, rows)
}

// measure computes the widths of the columns.
func (p *Picker) measure() {
	p.cells.widths, p.cells.longest = p.cells.widths[:0], 0
	for _, name := range p.o.Columns {
		p.cells.widths = append(p.cells.widths, draw.TextWidth(name))
	}
	for _, r := range p.rows {
		if len(r.Cells) > 0 && len(r.Cells[0]) > p.cells.longest && p.cells.longest < widestPicker {
			p.cells.longest = max(p.cells.longest, draw.Width(draw.Untrusted(themes.Text, markup.Shorten(r.Cells[0], widestPicker))))
		}
		for i, cell := range r.Cells {
			if i == len(p.cells.widths) {
				p.cells.widths = append(p.cells.widths, 0)
			}
			if len(cell) > p.cells.widths[i] { // a text has at most as many cells as bytes
				p.cells.widths[i] = max(p.cells.widths[i], min(draw.Width(draw.Untrusted(themes.Text, cell)), maxColumn))
			}
		}
	}
}

// Draw draws the list with the selected row in view, and the preview.
func (p *Picker) Draw(screen tcell.Screen) {
	title := draw.Untrusted(themes.Strong, p.o.Title)
	if n := p.counted(); n != nil {
		title = append(append(title, draw.Text(themes.Muted, " · ")), n...)
	}
	all := p.Bordered(screen, draw.Titles{Left: title}).Cleared()
	in := all.Inset()
	if in.W <= 0 || in.H <= 0 {
		return
	}
	if p.place.preview = p.o.Preview != nil && all.W >= previewFrom; p.place.preview {
		left := all.W * 54 / 100
		p.o.Preview.SetRect(all.X+left+1, all.Y, all.W-left-1, all.H)
		p.o.Preview.Draw(screen)
		for y := range all.H {
			all.Down(y).Put(left, '│', p.edge())
		}
		if draw.Width(title)+2*draw.Padding < left { // otherwise the title is there
			all.Down(-1).Put(left, '┬', p.edge())
		}
		all.Down(all.H).Put(left, '┴', p.edge())
		in.Canvas = all.Cols(draw.Padding, left-draw.Padding)
	}
	p.drawFilter(in.Canvas)
	last := 1
	if in.H > 1 {
		last = p.drawLast(in)
	}
	rows := draw.Area{Canvas: in.Down(1), H: max(0, in.H-1-last)}
	if len(p.o.Columns) > 0 && (in.H >= rowsOfNaming || in.H > len(p.rows)+len(p.heads)+2) {
		p.drawCells(rows.Down(0), show.Row{Cells: p.o.Columns}, themes.Muted)
		rows = rows.Below(1)
	}
	p.drawRows(rows)
}

// edge returns the role of the border.
func (p *Picker) edge() themes.Role {
	if p.HasFocus() {
		return themes.Focus
	}
	return themes.Border
}

// counted returns the note, or the number of rows.
func (p *Picker) counted() []draw.Span {
	switch {
	case p.note != "":
		return draw.Untrusted(themes.Muted, p.note)
	case len(p.shown) < len(p.rows):
		return []draw.Span{draw.Text(themes.Muted, fmt.Sprintf("%d of %d", len(p.shown), len(p.rows)))}
	case len(p.rows) > 0:
		return []draw.Span{draw.Text(themes.Muted, fmt.Sprint(len(p.rows)))}
	}
	return nil
}

func (p *Picker) drawFilter(c draw.Canvas) {
	mark := themes.Accent
	if p.onKeys {
		mark = themes.Muted
	}
	col := c.Say(0, "> ", mark)
	typed := draw.Untrusted(themes.Text, p.query)
	if room := c.W - col - 1; draw.Width(typed) > room {
		typed = lastOf(p.query, room)
	}
	end := c.Spans(col, typed...)
	if p.query == "" {
		c.Spans(col, draw.Clip([]draw.Span{draw.Text(themes.Muted, p.o.Hint)}, c.W-col)...)
	}
	if p.HasFocus() && !p.onKeys && p.ask == nil {
		c.Screen.ShowCursor(c.X+min(end, c.W-1), c.Y)
	}
}

// lastOf returns the longest end of a text that fits into room cells.
func lastOf(text string, room int) []draw.Span {
	for raw := []rune(text); len(raw) > 0; raw = raw[1:] {
		if s := draw.Untrusted(themes.Text, string(raw)); draw.Width(s) <= room {
			return s
		}
	}
	return nil
}

func (p *Picker) drawRows(in draw.Area) {
	p.place.x, p.place.y, p.place.w, p.place.h = in.X, in.Y, in.W, in.H
	if in.H == 0 {
		return
	}
	line := p.heads.lineOf(p.at)
	above := line
	if _, ok := slices.BinarySearch(p.heads, p.at); ok {
		above-- // its heading
	}
	p.window.Top = max(min(p.window.Top, above), line-in.H+1)
	from, to := p.window.Show(len(p.shown)+len(p.heads), in.H)
	if from == to {
		text := p.o.Empty
		if len(p.rows) > 0 {
			text = "No match"
		}
		in.Spans(2, draw.Clip([]draw.Span{draw.Text(themes.Muted, text)}, in.W-2)...)
	}
	for i := from; i < to; i++ {
		row, role := in.Down(i-from), themes.Text
		at, ok := p.heads.rowAt(i, len(p.shown))
		if !ok {
			row.Spans(0, draw.Untrusted(themes.Accent, p.rows[p.shown[at]].Group)...)
			continue
		}
		if at == p.at {
			role = themes.Selection
			row.Fill(0, row.W, p.Palette[role])
			row.Say(0, "▸", role)
		}
		p.drawCells(row, p.rows[p.shown[at]], role)
	}
}

// drawCells draws the columns of a row: the first on the left, and as many others as fit on the right.
func (p *Picker) drawCells(c draw.Canvas, r show.Row, role themes.Role) {
	side := themes.Muted
	if role == themes.Selection {
		side = role
	}
	if r.Mark {
		c.Say(1, "*", role)
	}
	if len(r.Cells) == 0 {
		return
	}
	room, widths := p.columns(c.W - 2)
	if strings.Join(r.Cells[1:], "") == "" {
		room = c.W - 2 // the row has no other cells
	}
	c.Spans(2, draw.Clip(draw.Untrusted(role, r.Cells[0]), room)...)
	col := 2 + room
	for i, w := range widths {
		if col += columnGap; i+1 < len(r.Cells) {
			c.Spans(col, draw.Clip(draw.Untrusted(side, r.Cells[i+1]), w)...)
		}
		col += w
	}
}

// columns returns the width of the first column in w cells, and the widths of the other columns that fit. The last
// column may be narrower than its texts.
func (p *Picker) columns(w int) (first int, others []int) {
	if len(p.cells.widths) == 0 {
		return w, nil
	}
	for _, n := range p.cells.widths[1:] {
		if w-n-columnGap < min(p.cells.widths[0], leastTitle) {
			n = w - p.cells.widths[0] - columnGap
			if n < leastColumn {
				break
			}
		}
		w -= n + columnGap
		others = append(others, n)
	}
	return w, others
}

// drawLast draws the end of the dialog, a notice or question and the keys, and returns its number of rows.
func (p *Picker) drawLast(in draw.Area) int {
	most := max(1, min(rowsOfNotice, in.H-3)) // the filter and two rows stay
	switch {
	case p.notice != "":
		notice := draw.AtMost(draw.WrapSentence(draw.Untrusted(themes.Warning, p.notice), in.W), most, in.W)
		return in.Below(in.H - len(notice)).Rows(notice)
	case p.ask != nil && p.ask.typed != nil:
		return p.drawNaming(in, most)
	case p.ask != nil:
		keys := draw.HintRow(draw.HintsOf(p.Keys, keymap.Confirm), in.W)
		asked := draw.WrapSentence(draw.Untrusted(themes.Warning, p.ask.text), in.W)
		if last := asked[len(asked)-1]; len(asked) == 1 && draw.Width(last)+draw.HintGap+draw.Width(keys) <= in.W {
			asked = [][]draw.Span{append(append(last, draw.Text(themes.Text, "  ")), keys...)}
		} else {
			asked = append(draw.AtMost(asked, max(1, most-1), in.W), keys)
		}
		return in.Below(in.H - len(asked)).Rows(asked)
	}
	return in.Below(in.H - 1).Rows([][]draw.Span{draw.HintRow(p.hints(in.W), in.W)})
}

// drawNaming draws the text being asked for, in as many rows as necessary, and the keys.
func (p *Picker) drawNaming(in draw.Area, most int) int {
	label := []draw.Span{draw.Text(themes.Accent, p.ask.text+" ")}
	e := p.ask.typed
	e.SetWidth(edit.Room(in.W, label))
	rows := e.Rows(max(1, most-1))
	n := min(rows+1, most)
	in = in.Below(in.H - n)
	text := draw.Area{Canvas: in.At(in.Spans(0, label...)), H: rows}
	if used := edit.Draw(text, e, p.HasFocus()); used < n {
		in.Below(used).Rows([][]draw.Span{draw.HintRow(draw.HintsOf(p.Keys, keymap.Naming), in.W)})
	}
	return n
}

// hints returns the active keys. While keys go to the filter, the last hint is the key that activates the keys for the
// selected row, with as many of their labels as fit into w cells.
func (p *Picker) hints(w int) []draw.Hint {
	all := draw.HintsOf(p.Keys, p.Scope())
	keys := p.Keys.Keys(keymap.PickKeys)
	if p.o.Keys == "" || p.onKeys || len(keys) == 0 {
		return all
	}
	var labels []string
	for e := range p.Keys.In(p.o.Keys) {
		switch {
		case e.Label == "" || len(e.Scopes) != 1 || len(e.Keys) == 0:
		case e.Action == keymap.SessionDelete: // hard to guess
			labels = slices.Insert(labels, 0, e.Label)
		default:
			labels = append(labels, e.Label)
		}
	}
	more := draw.Hint{Key: keys[0]}
	for n := range labels {
		next := draw.Hint{Key: keys[0], Label: "more: " + strings.Join(labels[:n+1], ", ")}
		if len(draw.FitHints(append(slices.Clip(all), next), w, draw.HintGap)) == len(all) {
			break
		}
		more = next
	}
	if more.Label == "" {
		return all
	}
	return append(all, more)
}

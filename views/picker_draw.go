package views

import (
	"fmt"

	"github.com/gdamore/tcell/v2"

	"buddy/app/keymap"
	"buddy/themes"
)

const (
	pickerWidth  = 84  // columns of a list without a preview
	previewFrom  = 90  // columns inside the border from which on a preview shows
	pickerMost   = 180 // columns of a list with one
	maxColumn    = 28  // cells of a column other than the first
	leastTitle   = 24  // cells of the first column, if it has as many, before others are left out
	columnGap    = 2
	rowsOfNaming = 8  // rows inside the border from which on columns are named
	leastColumn  = 10 // cells of a column that is cut to the room there is
	rowsOfSaying = 3  // of a line that is said, where it is longer than a row
)

// Size returns the cells that the list wants on a screen, border included.
func (p *Picker) Size(maxW, maxH int) (w, h int) {
	if p.o.Preview != nil {
		return min(maxW, pickerMost), maxH
	}
	w = pickerWidth
	if n := len(p.o.Columns); n > 0 {
		need := 0
		for _, c := range p.widths[min(1, len(p.widths)):] {
			need += c + columnGap
		}
		w = max(w, min(need+leastTitle+8, 110))
	}
	rows := max(len(p.rows), 1) + 4 // with the border, the filter and the keys
	if len(p.o.Columns) > 0 {
		rows++
	}
	return min(maxW, w), min(maxH, rows)
}

// measure finds out how wide the columns are.
func (p *Picker) measure() {
	p.widths = p.widths[:0]
	for _, name := range p.o.Columns {
		p.widths = append(p.widths, textWidth(name))
	}
	for _, r := range p.rows {
		for i, cell := range r.Cells {
			if i == len(p.widths) {
				p.widths = append(p.widths, 0)
			}
			if len(cell) > p.widths[i] { // a cell takes a byte at least
				p.widths[i] = max(p.widths[i], min(spansWidth(foreign(themes.Text, cell)), maxColumn))
			}
		}
	}
}

// Draw draws the list with the selection in view, and the preview.
func (p *Picker) Draw(screen tcell.Screen) {
	title := []span{own(themes.Strong, p.o.Title)}
	if n := p.counted(); n != nil {
		title = append(append(title, own(themes.Muted, " · ")), n...)
	}
	all := p.bordered(screen, titles{left: title}).cleared()
	in := all.inset()
	if in.w <= 0 || in.h <= 0 {
		return
	}
	if p.place.preview = p.o.Preview != nil && all.w >= previewFrom; p.place.preview {
		left := all.w * 54 / 100
		p.o.Preview.SetRect(all.x+left, all.y-1, all.w-left+1, all.h+2) // their borders are one
		p.o.Preview.Draw(screen)
		all.down(-1).put(left, '┬', p.edge())
		all.down(all.h).put(left, '┴', p.edge())
		in.canvas = all.cols(padding, left-padding)
	}
	p.drawFilter(in.canvas)
	last := 1
	if in.h > 1 {
		last = p.drawLast(in)
	}
	rows := area{in.down(1), max(0, in.h-1-last)}
	if len(p.o.Columns) > 0 && (in.h >= rowsOfNaming || in.h > len(p.rows)+2) {
		p.drawCells(rows.down(0), PickerRow{Cells: p.o.Columns}, themes.Muted)
		rows = rows.below(1)
	}
	p.drawRows(rows)
}

// edge is the role of the border.
func (p *Picker) edge() themes.Role {
	if p.HasFocus() {
		return themes.Focus
	}
	return themes.Border
}

// counted is the note, or how many rows there are.
func (p *Picker) counted() []span {
	switch {
	case p.note != "":
		return foreign(themes.Muted, p.note)
	case len(p.shown) < len(p.rows):
		return []span{own(themes.Muted, fmt.Sprintf("%d of %d", len(p.shown), len(p.rows)))}
	case len(p.rows) > 0:
		return []span{own(themes.Muted, fmt.Sprint(len(p.rows)))}
	}
	return nil
}

func (p *Picker) drawFilter(c canvas) {
	mark := themes.Accent
	if p.onKeys {
		mark = themes.Muted
	}
	col := c.say(0, "> ", mark)
	typed := foreign(themes.Text, p.query)
	if room := c.w - col - 1; spansWidth(typed) > room {
		typed = lastOf(p.query, room)
	}
	end := c.spans(col, typed...)
	if p.query == "" {
		c.spans(col, clip([]span{own(themes.Muted, p.o.Hint)}, c.w-col)...)
	}
	if p.HasFocus() && !p.onKeys && p.ask == nil {
		c.screen.ShowCursor(c.x+min(end, c.w-1), c.y)
	}
}

// lastOf is the end of a text, as much as fits.
func lastOf(text string, room int) []span {
	for raw := []rune(text); len(raw) > 0; raw = raw[1:] {
		if s := foreign(themes.Text, string(raw)); spansWidth(s) <= room {
			return s
		}
	}
	return nil
}

func (p *Picker) drawRows(in area) {
	p.place.x, p.place.y, p.place.w, p.place.h = in.x, in.y, in.w, in.h
	if in.h == 0 {
		return
	}
	if p.at < p.window.top {
		p.window.top = p.at
	}
	p.window.top = max(p.window.top, p.at-in.h+1)
	from, to := p.window.show(len(p.shown), in.h)
	if from == to {
		text := p.o.Empty
		if len(p.rows) > 0 {
			text = "nothing fits"
		}
		in.spans(2, clip([]span{own(themes.Muted, text)}, in.w-2)...)
	}
	for i := from; i < to; i++ {
		row, role := in.down(i-from), themes.Text
		if i == p.at {
			role = themes.Selection
			row.fill(0, row.w, p.palette[role])
			row.say(0, "▸", role)
		}
		p.drawCells(row, p.rows[p.shown[i]], role)
	}
}

// drawCells draws the columns of a row: the first at the left, the others at the right, as
// many as leave it some room.
func (p *Picker) drawCells(c canvas, r PickerRow, role themes.Role) {
	side := themes.Muted
	if role == themes.Selection {
		side = role
	}
	if r.Mark {
		c.say(1, "*", role)
	}
	if len(r.Cells) == 0 {
		return
	}
	room, widths := p.columns(c.w - 2)
	c.spans(2, clip(foreign(role, r.Cells[0]), room)...)
	col := 2 + room
	for i, w := range widths {
		if col += columnGap; i+1 < len(r.Cells) {
			c.spans(col, clip(foreign(side, r.Cells[i+1]), w)...)
		}
		col += w
	}
}

// columns returns how much of w cells the first column has, and how wide those beside it are
// for which there is room. The last of them may be cut, if the first loses nothing by that.
func (p *Picker) columns(w int) (first int, others []int) {
	if len(p.widths) == 0 {
		return w, nil
	}
	for _, n := range p.widths[1:] {
		if w-n-columnGap < min(p.widths[0], leastTitle) {
			n = w - p.widths[0] - columnGap
			if n < leastColumn {
				break
			}
		}
		w -= n + columnGap
		others = append(others, n)
	}
	return w, others
}

// drawLast draws the end of the dialog, what was said or asked and the keys, and returns how
// many rows that takes.
func (p *Picker) drawLast(in area) int {
	most := max(1, min(rowsOfSaying, in.h-3)) // the filter and two rows stay
	switch {
	case p.said != "":
		said := atMost(wrapSentence(foreign(themes.Warning, p.said), in.w), most, in.w)
		return in.below(in.h - len(said)).rows(said)
	case p.ask != nil && p.ask.typed != nil:
		return p.drawNaming(in, most)
	case p.ask != nil:
		keys := hintRow(hintsOf(p.keys, keymap.Confirm), in.w)
		asked := wrapSentence(foreign(themes.Warning, p.ask.text), in.w)
		if last := asked[len(asked)-1]; len(asked) == 1 && spansWidth(last)+hintGap+spansWidth(keys) <= in.w {
			asked = [][]span{append(append(last, own(themes.Text, "  ")), keys...)}
		} else {
			asked = append(atMost(asked, max(1, most-1), in.w), keys)
		}
		return in.below(in.h - len(asked)).rows(asked)
	}
	return in.below(in.h - 1).rows([][]span{hintRow(p.hints(), in.w)})
}

// drawNaming draws the text that is asked for, in as many rows as it needs, and the keys.
func (p *Picker) drawNaming(in area, most int) int {
	label := []span{own(themes.Accent, p.ask.text+" ")}
	e := p.ask.typed
	e.SetWidth(textRoom(in.w, label))
	rows := e.Rows(max(1, most-1))
	n := min(rows+1, most)
	in = in.below(in.h - n)
	text := area{in.at(in.spans(0, label...)), rows}
	if used := drawEditor(text, e, p.HasFocus()); used < n {
		in.below(used).rows([][]span{hintRow(hintsOf(p.keys, keymap.Naming), in.w)})
	}
	return n
}

// hints are the keys that apply.
func (p *Picker) hints() []hint {
	all := hintsOf(p.keys, p.Scope())
	if keys := p.keys.Keys(keymap.PickKeys); p.o.Keys != "" && !p.onKeys && len(keys) > 0 {
		sign := ""
		for _, e := range p.keys.In(p.o.Keys) { // as many of their names as fit
			if e.Label != "" && len(e.Scopes) == 1 {
				all = append(all, hint{key: keys[0], label: e.Label, sign: sign})
				sign = "·"
			}
		}
	}
	return all
}

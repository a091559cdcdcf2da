// Package dialog implements the views that open over the rest of the screen: approvals, questions, lists, the pager
// and the help. A dialog reports its outcome through a callback. Package ui decides which dialog is on top.
//
//	c := dialog.NewConfirm(theme, keys)
//	c.Ask(dialog.Question{Title: "Quit?", Scope: keymap.Leaving, Answer: answered})
package dialog

import (
	"bytes"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
)

// body is the text of a dialog, in rows for one width. It scrolls, and the mouse selects text, which is copied when the
// button is released.
type body struct {
	draw.Viewport
	rows   []bodyRow
	width  int                 // width of the rows; 0: not laid out
	code   *markup.Highlighter // colours the code of diffs; nil: plain code
	mark   marking
	x, y   int // position of the rows on the screen at the last draw
	w, h   int
	onCopy func(text string) // may be nil

	clicked bodyPlace // the place of the last click, on the screen
}

type bodyRow struct {
	spans []draw.Span
	lead  int    // columns at the start that are not part of the text
	joint string // separator between the previous row and this one; "\n" if this row starts a line

	laid *laidText // replaces spans; at is the index of the row in it
	at   int
}

// laidText is an indented diff or Markdown, laid out in rows.
type laidText struct {
	text   *markup.Text
	show   func(from, to int) // requests colours for the code in a byte range
	layout markup.Layout
	indent int
}

// text returns the content of a row, and the length of its prefix.
func (r *bodyRow) text() (all []byte, lead int) {
	if r.laid == nil {
		return draw.Bytes(r.spans), 0
	}
	prefix, _, _ := r.laid.layout.Rest(r.laid.text, r.at)
	all = append([]byte(strings.Repeat(" ", r.laid.indent)), prefix...)
	row := r.laid.layout.Rows[r.at]
	return append(all, r.laid.text.Bytes[row.From:row.To]...), len(all)
}

func (r *bodyRow) draw(c draw.Canvas) {
	if r.laid == nil {
		c.Spans(0, r.spans...)
		return
	}
	_, _, band := r.laid.layout.Rest(r.laid.text, r.at)
	c.Fill(0, min(r.laid.indent, c.W), c.Palette[band])
	c.At(r.laid.indent).Row(r.laid.text, &r.laid.layout, r.at)
}

// plain returns bytes of the row for copying, without the indentation that only the display adds.
func (r *bodyRow) plain(from, to int) string {
	all, lead := r.text()
	if r.laid == nil || from < lead {
		return string(all[from:to])
	}
	at := int(r.laid.layout.Rows[r.at].From) - lead
	return r.laid.text.Plain(at+from, at+to)
}

// marking is the selection of the mouse.
type marking struct {
	down, on     bool
	anchor, head bodyPlace
}

// bodyPlace is a row and a column of a text or of the screen.
type bodyPlace struct{ row, col int }

func (p bodyPlace) before(q bodyPlace) bool { return p.row < q.row || p.row == q.row && p.col < q.col }

// relay drops the rows and the selection, and sets the width of the rows to be added.
func (b *body) relay(w int) { b.rows, b.mark, b.width = nil, marking{}, w }

// add appends a line after a gutter, wrapped.
func (b *body) add(indent int, gutter, line []draw.Span, w int) {
	margin := draw.Text(themes.Text, strings.Repeat(" ", indent))
	n := draw.Width(gutter)
	for i, r := range draw.WrapSpans(line, w-indent-n) {
		row := []draw.Span{margin}
		if i == 0 {
			row = append(row, gutter...)
		} else if n > 0 {
			row = append(row, draw.Text(themes.Text, strings.Repeat(" ", n)))
		}
		b.rows = append(b.rows, bodyRow{spans: append(row, r...), lead: indent + n, joint: joint(i, false)})
	}
}

// addDiff appends an indented diff.
func (b *body) addDiff(indent int, d *markup.Diff, w int) {
	d.Highlighter = b.code
	b.addLaid(&laidText{text: &d.Text, show: d.Show, indent: indent}, w)
}

func (b *body) addMarkdown(src string, w int) {
	m := markup.NewMarkdown(w)
	m.Highlighter = b.code
	m.Finish([]byte(src))
	b.addLaid(&laidText{text: &m.Text, show: m.Show}, w)
}

// addLaid appends the rows of a text for a width.
func (b *body) addLaid(laid *laidText, w int) {
	laid.layout.Wrap(laid.text, w-laid.indent, 0)
	for i, row := range laid.layout.Rows {
		_, n, _ := laid.layout.Rest(laid.text, i)
		wrapped := row.From > 0 && laid.text.Bytes[row.From-1] != '\n'
		r := bodyRow{laid: laid, at: i, lead: laid.indent + n, joint: "\n"}
		if wrapped {
			r.joint = ""
		}
		b.rows = append(b.rows, r)
	}
}

// showCode requests colours for the code in some rows.
func (b *body) showCode(from, to int) {
	for i := from; i < to; i++ {
		r := &b.rows[i]
		if r.laid == nil {
			continue
		}
		first := r.laid.layout.Rows[r.at].From
		for i+1 < to && b.rows[i+1].laid == r.laid {
			i++
		}
		r.laid.show(int(first), int(r.laid.layout.Rows[b.rows[i].at].To))
	}
}

// joint returns the text that joins row i of a wrapped line to the row before it in a copy. blank reports whether the
// wrapping dropped a space there.
func joint(i int, blank bool) string {
	switch {
	case i == 0:
		return "\n"
	case blank:
		return " "
	}
	return ""
}

// addWords appends an indented line, wrapped between words if possible.
func (b *body) addWords(indent int, line []draw.Span, w int) {
	whole := draw.Bytes(line)
	margin := draw.Text(themes.Text, strings.Repeat(" ", indent))
	for i, r := range draw.WrapSentence(line, w-indent) {
		rest := bytes.TrimLeft(whole, " ") // rows lack the spaces at breaks
		b.rows = append(b.rows, bodyRow{spans: append([]draw.Span{margin}, r...), lead: indent, joint: joint(i, len(rest) < len(whole))})
		whole = rest[min(len(rest), len(draw.Bytes(r))):]
	}
}

// asLines converts rows, each of which is a line.
func asLines(rows [][]draw.Span) []bodyRow {
	all := make([]bodyRow, len(rows))
	for i, r := range rows {
		all[i] = bodyRow{spans: r, joint: "\n"}
	}
	return all
}

// draw draws the visible rows and returns their range.
func (b *body) draw(in draw.Area) (from, to int) {
	b.x, b.y, b.w, b.h = in.X, in.Y, in.W, in.H
	from, to = b.Show(len(b.rows), in.H)
	b.showCode(from, to)
	for i := from; i < to; i++ {
		row := in.Down(i - from)
		b.rows[i].draw(row)
		if b.mark.on {
			text, _ := b.rows[i].text()
			a, z := b.marked(i, text)
			row.Restyle(text, 0, a, z, in.Palette[themes.Selection])
		}
	}
	return from, to
}

// mouse scrolls or selects, and reports whether it did.
func (b *body) mouse(action tview.MouseAction, ev *tcell.EventMouse) bool {
	x, y := ev.Position()
	m := &b.mark
	switch action {
	case tview.MouseScrollUp:
		b.Top -= draw.WheelRows
	case tview.MouseScrollDown:
		b.Top += draw.WheelRows
	case tview.MouseLeftDown:
		*m = marking{down: b.shows(x, y)}
		if m.down {
			m.anchor = b.at(x, y)
		}
	case tview.MouseMove:
		if m.down {
			b.drag(x, y)
		}
		return m.down
	case tview.MouseLeftUp:
		return b.release()
	case tview.MouseLeftClick:
		b.clicked = bodyPlace{y, x}
	case tview.MouseLeftDoubleClick:
		if b.clicked == (bodyPlace{y, x}) { // otherwise the clicks were at two places
			b.word(x, y)
		}
	default:
		return false
	}
	return true
}

// shows reports whether there is a row at x, y.
func (b *body) shows(x, y int) bool {
	i := b.Top + y - b.y // the top may be out of bounds until the next draw
	return x >= b.x && x < b.x+b.w && y >= b.y && y < b.y+b.h && i >= 0 && i < len(b.rows)
}

// at returns the place at x, y, or the nearest one.
func (b *body) at(x, y int) bodyPlace {
	row := max(0, min(b.Top+y-b.y, len(b.rows)-1))
	return bodyPlace{row, max(0, min(x-b.x, b.w-1))}
}

// drag extends the selection to x, y, and scrolls if that point is outside of the rows.
func (b *body) drag(x, y int) {
	switch {
	case y < b.y:
		b.Top = max(0, b.Top-1)
	case y >= b.y+b.h:
		b.Top = max(0, min(b.Top+1, len(b.rows)-b.h))
	}
	m := &b.mark
	m.head = b.at(x, max(b.y, min(y, b.y+b.h-1)))
	m.on = m.on || m.head != m.anchor
}

func (b *body) release() bool {
	if !b.mark.down {
		return false
	}
	b.mark.down = false
	b.copy()
	return true
}

// copy passes the selected text to onCopy and reports whether there is any.
func (b *body) copy() bool {
	if !b.mark.on {
		return false
	}
	if text := b.selected(); text != "" && b.onCopy != nil {
		b.onCopy(text)
	}
	return true
}

// CopySelection copies the selected text, drops the selection and reports whether there was one.
func (b *body) CopySelection() bool {
	was := b.copy()
	b.mark = marking{}
	return was
}

// word selects and copies the word at x, y.
func (b *body) word(x, y int) {
	b.mark = marking{}
	if !b.shows(x, y) {
		return
	}
	i := b.Top + y - b.y
	text, _ := b.rows[i].text()
	off := len(draw.Cut(string(text), x-b.x))
	if off >= len(text) {
		return
	}
	from, to := markup.WordAround(text, off)
	b.mark.anchor = bodyPlace{i, markup.Width(text[:from])}
	b.mark.head = bodyPlace{i, markup.Width(text[:to]) - 1}
	b.mark.on = true
	b.copy()
}

// marked returns the selected bytes of a row's text.
func (b *body) marked(row int, text []byte) (from, to int) {
	lo, hi := b.mark.anchor, b.mark.head
	if hi.before(lo) {
		lo, hi = hi, lo
	}
	if row < lo.row || row > hi.row {
		return 0, 0
	}
	first, last := b.rows[row].lead, 1<<30
	if row == lo.row {
		first = max(first, lo.col)
	}
	if row == hi.row {
		last = hi.col
	}
	from = len(text)
	for off, col := 0, 0; off < len(text); {
		n, width := markup.Cell(text[off:], col)
		if col+width > first && col <= last {
			from, to = min(from, off), off+n
		}
		off, col = off+n, col+width
	}
	return min(from, to), to
}

// selected returns the selected text; wrapped rows are joined to lines.
func (b *body) selected() string {
	var out strings.Builder
	lo, hi := b.mark.anchor.row, b.mark.head.row
	for i := min(lo, hi); i <= max(lo, hi) && i < len(b.rows); i++ {
		if i > min(lo, hi) {
			out.WriteString(b.rows[i].joint)
		}
		text, _ := b.rows[i].text()
		from, to := b.marked(i, text)
		out.WriteString(b.rows[i].plain(from, to))
	}
	return out.String()
}

// mouseIn lets a person scroll and select text of a dialog. A drag that started inside continues outside; other actions
// outside do nothing.
func mouseIn(f *draw.Frame, b *body, action tview.MouseAction, ev *tcell.EventMouse) bool {
	return (b.mark.down || f.InRect(ev.Position())) && b.mouse(action, ev)
}

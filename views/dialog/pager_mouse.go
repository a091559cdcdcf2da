package dialog

import (
	"bytes"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/views/draw"
	"buddy/views/markup"
)

// pagerDrag is the selection of the mouse.
type pagerDrag struct {
	down, on     bool
	anchor, head docChar
}

// docChar is a character: the bytes at..to in the text of a line.
type docChar struct {
	docPlace
	to int
}

// bounds returns the ends of the selection, in order.
func (d *pagerDrag) bounds() (from, to docChar) {
	if d.head.before(d.anchor.docPlace) {
		return d.head, d.anchor
	}
	return d.anchor, d.head
}

// in returns the selected bytes of a line.
func (d *pagerDrag) in(l *textLine) (from, to int) {
	lo, hi := d.bounds()
	if !d.on || l.off < lo.off || l.off > hi.off {
		return 0, 0
	}
	to = len(l.text.Bytes)
	if l.off == hi.off {
		to = min(hi.to, to)
	}
	if l.off == lo.off {
		from = min(lo.at, to)
	}
	return from, to
}

// MouseHandler scrolls with the wheel. Dragging selects text, and a double click selects a word. The selection is
// copied when the button is released.
func (p *Pager) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return p.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, setFocus func(tview.Primitive)) (bool, tview.Primitive) {
		x, y := ev.Position()
		d := &p.drag
		switch {
		case action == tview.MouseLeftDown && p.InRect(x, y):
			p.press(x, y)
		case action == tview.MouseMove && d.down:
			p.dragTo(x, y)
		case action == tview.MouseLeftUp && d.down:
			d.down = false
			p.copyDrag()
		case action == tview.MouseLeftClick:
			p.clicked = bodyPlace{y, x}
		case action == tview.MouseLeftDoubleClick && p.InRect(x, y) && p.clicked == (bodyPlace{y, x}): // otherwise the clicks were at two places
			p.word(x, y)
		default:
			return draw.Wheel(p, action, ev, setFocus), nil
		}
		return true, nil
	})
}

// press prepares a selection.
func (p *Pager) press(x, y int) {
	_, top, _, _ := p.GetRect()
	p.drag, p.mark = pagerDrag{}, -1
	if y > top && y <= top+p.h && p.doc.Size > 0 {
		p.drag.down = true
		p.drag.anchor = p.at(x, y)
	}
}

// dragTo extends the selection to x, y, and scrolls if that is outside of the text.
func (p *Pager) dragTo(x, y int) {
	_, top, _, _ := p.GetRect()
	switch {
	case y <= top:
		p.Scroll(-1)
	case y > top+p.h:
		p.Scroll(1)
	}
	p.drag.head = p.at(x, y)
	p.drag.on = p.drag.on || p.drag.head != p.drag.anchor
}

// rowAt returns the row at y, or the nearest one.
func (p *Pager) rowAt(y int) docPlace {
	_, top, _, _ := p.GetRect()
	at := p.top
	for range max(0, min(y-top-1, p.h-1)) {
		at = p.doc.after(at)
	}
	return at
}

// at returns the character at x, y, or the nearest one. After the end of a row, the character is empty.
func (p *Pager) at(x, y int) docChar {
	left, _, _, _ := p.GetRect()
	row := p.rowAt(y)
	l := p.doc.lineAt(row.off)
	if row.at >= len(l.layout.Rows) {
		return docChar{docPlace{off: row.off}, 0}
	}
	r := l.layout.Rows[row.at]
	off, end := int(r.From), int(r.To)
	for col := 0; off < end; {
		n, width := markup.Cell(l.text.Bytes[off:], col)
		if col+width > x-left-1-draw.Padding {
			return docChar{docPlace{row.off, off}, off + n}
		}
		off, col = off+n, col+width
	}
	return docChar{docPlace{row.off, end}, end}
}

// word selects and copies the word at x, y.
func (p *Pager) word(x, y int) {
	p.press(x, y)
	d := &p.drag
	if !d.down {
		return
	}
	d.down = false
	if text := p.doc.lineAt(d.anchor.off).text.Bytes; d.anchor.at < d.anchor.to {
		d.anchor.at, d.anchor.to = markup.WordAround(text, d.anchor.at)
		d.head, d.on = d.anchor, true
		p.copyDrag()
	}
}

// copyDrag copies the text selected by the mouse, which stays selected.
func (p *Pager) copyDrag() {
	if !p.drag.on || p.OnCopy == nil {
		return
	}
	if text := p.dragged(); text != "" {
		p.OnCopy(text)
	}
}

// dragged returns the text selected by the mouse, in lines of the document.
func (p *Pager) dragged() string {
	var b strings.Builder
	_, hi := p.drag.bounds()
	for off, _ := p.drag.bounds(); off.off <= hi.off && off.off < p.doc.Size && b.Len() < maxPagerCopy; {
		l := p.doc.lineAt(off.off)
		from, to := p.drag.in(l)
		b.Write(l.text.Bytes[from:to])
		off.off = l.next
		if off.off <= hi.off && bytes.Equal(p.doc.read(off.off-1, 1), []byte("\n")) {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

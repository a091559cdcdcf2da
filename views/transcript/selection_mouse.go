package transcript

import (
	"buddy/views/draw"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

// MouseHandler scrolls with the wheel. A click focuses a block, and on its head it folds
// or unfolds it; dragging selects, two clicks select a word and three a line.
func (c *Conversation) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return c.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, setFocus func(tview.Primitive)) (bool, tview.Primitive) {
		x, y := ev.Position()
		d := &c.sel.mouse
		switch {
		case action == tview.MouseLeftDown && c.InRect(x, y):
			setFocus(c)
			c.press(x, y)
			return true, c
		case action == tview.MouseMove && d.down:
			c.drag(x, y)
			return true, c
		case action == tview.MouseLeftUp && d.down:
			c.release()
			return true, nil
		case (action == tview.MouseLeftClick || action == tview.MouseLeftDoubleClick) && c.InRect(x, y) && d.clicks < 2:
			c.click(y)
			if c.OnClick != nil {
				c.OnClick()
			}
			return true, nil
		case d.down: // the wheel, or another button
			draw.Wheel(c, action, ev, setFocus)
			c.drag(d.x, d.y)
			return true, c
		}
		return draw.Wheel(c, action, ev, setFocus), nil
	})
}

// rowAt returns which row of the conversation is at row y of the screen, and which of its
// columns at x. Above and below the view it is the first or the last one that shows.
func (c *Conversation) rowAt(x, y int) (a anchor, col int) {
	left, top, _, _ := c.GetRect()
	y = max(0, min(y-top-1, c.size.h-1))
	return c.ahead(c.top, y), max(0, min(x-left-1-draw.Padding, c.size.w))
}

func (c *Conversation) click(y int) {
	_, top, _, h := c.GetRect()
	if len(c.blocks) == 0 || c.size.h == 0 || y <= top || y >= top+h-1 {
		return
	}
	at := c.ahead(c.top, y-top-1)
	if at.block >= len(c.blocks) {
		return
	}
	c.focus, c.coded = at.block, -1
	v := c.blocks[at.block]
	if v.foldable() && at.row == v.gap {
		c.Fold()
	}
}

// press begins what may become a selection: at once with the second click at a place,
// else when the pointer moves.
func (c *Conversation) press(x, y int) {
	s := &c.sel
	now := c.shared.now()
	clicks := 1
	if d := s.mouse; d.x == x && d.y == y && now.Sub(d.at) < clickTime {
		clicks = d.clicks%3 + 1
	}
	c.EndSelection()
	if len(c.blocks) == 0 || c.size.h == 0 {
		return
	}
	s.mouse = drag{down: true, x: x, y: y, clicks: clicks, at: now}
	s.unit, s.goal = unit(clicks-1), -1
	a, col := c.rowAt(x, y)
	s.anchor = c.stretchAt(a, col, s.unit)
	s.head = s.anchor
	s.on = clicks > 1
}

// drag moves the head of the selection to where the pointer is, and scrolls while that is
// at an edge.
func (c *Conversation) drag(x, y int) {
	s := &c.sel
	if x != s.mouse.x || y != s.mouse.y {
		s.on = true
	}
	s.mouse.x, s.mouse.y = x, y
	if !s.on || len(c.blocks) == 0 {
		return
	}
	c.hold()
	a, col := c.rowAt(x, y)
	if a.block >= len(c.blocks) { // below the text
		last := len(c.blocks) - 1
		a, col = anchor{last, c.height(last) - 1}, c.size.w
	}
	s.head = c.stretchAt(a, col, s.unit)
	if c.edge() != 0 && s.after != nil && !s.mouse.scrolling {
		s.mouse.scrolling = true
		s.after(scrollTime, c.scrollOn)
	}
}

// edge tells which way to scroll for the pointer: it is at the upper border or above it,
// or at the lower one or below.
func (c *Conversation) edge() int {
	_, top, _, h := c.GetRect()
	switch y := c.sel.mouse.y; {
	case y <= top:
		return -1
	case y >= top+h-1:
		return 1
	}
	return 0
}

// scrollOn goes on scrolling while the button is held at an edge.
func (c *Conversation) scrollOn() {
	s := &c.sel
	s.mouse.scrolling = false
	by := c.edge()
	if !s.mouse.down || !s.on || by == 0 {
		return
	}
	before := c.top
	c.Scroll(by)
	if c.top == before { // the end, or the beginning
		return
	}
	c.drag(s.mouse.x, s.mouse.y)
}

// release ends a drag: what is selected is copied and stays selected.
func (c *Conversation) release() {
	c.sel.mouse.down = false
	if !c.sel.on || c.OnCopy == nil {
		return
	}
	if text := c.selected(); text != "" {
		c.OnCopy(text)
	}
}

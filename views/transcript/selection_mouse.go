package transcript

import (
	"buddy/views/draw"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

// MouseHandler scrolls with the wheel. A click focuses a block, and a click on the head also folds or unfolds the
// block. Dragging selects text, a double click selects a word, and a triple click selects a line.
func (c *Conversation) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return c.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, setFocus func(tview.Primitive)) (bool, tview.Primitive) {
		x, y := ev.Position()
		d := &c.mouse
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

// rowAt returns the row and column of the conversation at a place of the screen. Outside of the view it returns the
// first or the last visible row.
func (c *Conversation) rowAt(x, y int) (a anchor, col int) {
	left, top, _, _ := c.GetRect()
	y = max(0, min(y-top-c.head, c.view.size.h-1))
	return c.view.ahead(c.view.top, y), max(0, min(x-left-draw.Padding, c.view.size.w))
}

func (c *Conversation) click(y int) {
	_, top, _, _ := c.GetRect()
	row := y - top - c.head
	if !c.view.drawn() || row < 0 || row >= c.view.size.h {
		return
	}
	at := c.view.ahead(c.view.top, row)
	if at.block >= len(c.view.blocks) {
		return
	}
	c.view.focus, c.coded = at.block, -1
	v := c.view.blocks[at.block]
	if v.foldable() && at.row == v.gap {
		c.view.toggleFold()
	}
}

// press prepares a selection: it starts with the second click at a place, or when the pointer moves.
func (c *Conversation) press(x, y int) {
	s := &c.sel
	now := c.shared.now()
	clicks := 1
	if d := c.mouse; d.x == x && d.y == y && now.Sub(d.at) < clickTime {
		clicks = d.clicks%3 + 1
	}
	c.sel = selection{}
	if !c.view.drawn() {
		return
	}
	c.mouse = drag{after: c.mouse.after, down: true, x: x, y: y, clicks: clicks, at: now}
	s.unit, s.goal = unit(clicks-1), -1
	a, col := c.rowAt(x, y)
	s.anchor = c.view.stretchAt(a, col, s.unit)
	s.head = s.anchor
	s.on = clicks > 1
}

// drag moves the head of the selection to the pointer, and scrolls while the pointer is at an edge.
func (c *Conversation) drag(x, y int) {
	s, d := &c.sel, &c.mouse
	if x != d.x || y != d.y {
		s.on = true
	}
	d.x, d.y = x, y
	if !s.on || len(c.view.blocks) == 0 {
		return
	}
	c.view.hold()
	a, col := c.rowAt(x, y)
	if a.block >= len(c.view.blocks) { // below the text
		a, col = c.view.lastRow(), c.view.size.w
	}
	s.head = c.view.stretchAt(a, col, s.unit)
	if c.edge() != 0 && d.after != nil && !d.scrolling {
		d.scrolling = true
		d.after(scrollTime, c.scrollOn)
	}
}

// edge returns the direction of scrolling: up if the pointer is above the text or on the first row of the screen, down
// if it is below the text.
func (c *Conversation) edge() int {
	_, top, _, _ := c.GetRect()
	switch y := c.mouse.y; {
	case y < top+c.head, y == 0:
		return -1
	case y >= top+c.head+c.view.size.h:
		return 1
	}
	return 0
}

// scrollOn scrolls while the button is held at an edge.
func (c *Conversation) scrollOn() {
	c.mouse.scrolling = false
	by := c.edge()
	if !c.mouse.down || !c.sel.on || by == 0 {
		return
	}
	before := c.view.top
	c.view.Scroll(by)
	if c.view.top == before { // at the end or the beginning
		return
	}
	c.drag(c.mouse.x, c.mouse.y)
}

// release ends a drag: the selected text is copied and stays selected.
func (c *Conversation) release() {
	c.mouse.down = false
	if !c.sel.on || c.OnCopy == nil {
		return
	}
	if text := c.sel.text(&c.view); text != "" {
		c.OnCopy(text)
	}
}

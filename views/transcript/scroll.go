package transcript

import (
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/views/draw"
)

func (c *Conversation) height(block int) int {
	c.extent.from, c.extent.to = min(c.extent.from, block), max(c.extent.to, block+1)
	return c.blocks[block].height(c.size.w)
}

// resize notes the size. When the width changes, the text at the top stays there.
func (c *Conversation) resize(w, h int) {
	c.size.h = h
	if w == c.size.w {
		return
	}
	old := c.size.w
	c.size.w = w
	if old == 0 || c.top.block >= len(c.blocks) {
		return
	}
	rewrapTop := c.rewrap(c.top)
	if u := &c.unread; !c.follow && u.block < len(c.blocks) {
		first := c.rewrap(anchor{u.block, u.rows}) // may be the same block: look before it changes
		u.rows = first()
	}
	c.top.row = rewrapTop()
}

// rewrap looks at what a row shows and returns a function that tells, at the new width,
// which row of the block shows it.
func (c *Conversation) rewrap(a anchor) func() (row int) {
	v := c.blocks[a.block]
	part, off := v.rowOffset(a.row)
	end := part < 0 && a.row >= v.above() // after its last row
	return func() int {
		if end {
			return c.height(a.block)
		}
		return v.rowOf(part, off, a.row, c.size.w)
	}
}

// back returns the row n rows above a, or the first one.
func (c *Conversation) back(a anchor, n int) anchor {
	for n > a.row {
		if a.block == 0 {
			return anchor{}
		}
		n -= a.row
		a.block--
		a.row = c.height(a.block)
	}
	a.row -= n
	return a
}

// ahead returns the row n rows below a, at most the one after the last.
func (c *Conversation) ahead(a anchor, n int) anchor {
	for a.block < len(c.blocks) {
		left := c.height(a.block) - a.row
		if n < left {
			a.row += n
			return a
		}
		n -= left
		a = anchor{a.block + 1, 0}
	}
	return a
}

// end is the top row when the last row is at the bottom.
func (c *Conversation) end() anchor { return c.back(anchor{len(c.blocks), 0}, c.size.h) }

// place finds the top row. While text is followed as it arrives, the view moves by a
// third of its height when its last row is full: moving at each line would send the
// whole screen each time (DECISIONS 32).
func (c *Conversation) place() {
	end := c.end()
	if !c.top.before(end) && !c.sel.holds() {
		c.follow = true
	}
	if !c.follow {
		return
	}
	lowest := end
	if c.stream && end != (anchor{}) {
		lowest = c.ahead(end, c.size.h/3)
	}
	if !c.stream || c.top.before(end) || lowest.before(c.top) {
		c.top = lowest
	}
}

// hold stops following, unless everything fits.
func (c *Conversation) hold() {
	if c.follow && c.size.h > 0 && c.end() != (anchor{}) {
		c.follow = false
		c.holdUnread()
	}
}

// Scroll moves the view by rows, down if they are positive. At the end it follows again.
func (c *Conversation) Scroll(rows int) {
	if len(c.blocks) == 0 || c.size.h == 0 {
		return
	}
	if rows > 0 {
		c.top = c.ahead(c.top, rows)
	} else {
		c.hold()
		c.top = c.back(c.top, -rows)
	}
	if !c.top.before(c.end()) {
		c.follow = true
	}
}

// Up moves to the block above; a block longer than the screen goes by row by row.
func (c *Conversation) Up() { c.move(-1) }

// Down moves to the block below, like Up.
func (c *Conversation) Down() { c.move(1) }

func (c *Conversation) move(by int) {
	if len(c.blocks) == 0 || c.size.h == 0 {
		return
	}
	first, last := c.rowsOf(c.focus)
	next := c.focus + by
	switch {
	case by < 0 && first < 0, by > 0 && last >= c.size.h, next < 0, next >= len(c.blocks):
		c.Scroll(by)
		return
	}
	c.focus = next
	if first, last = c.rowsOf(next); by < 0 && last < 0 {
		c.Scroll(last)
	} else if by < 0 && first < 0 {
		c.Scroll(-1)
	} else if first >= c.size.h {
		c.Scroll(first - c.size.h + 1)
	}
}

// rowsOf returns where on the screen the text of a block near it begins and ends.
func (c *Conversation) rowsOf(block int) (first, last int) {
	at := -c.top.row
	for i := c.top.block; i < block; i++ {
		at += c.height(i)
	}
	for i := c.top.block - 1; i >= block; i-- {
		at -= c.height(i)
	}
	return at + c.blocks[block].gap, at + c.height(block) - 1
}

// clampFocus keeps the focused block on the screen.
func (c *Conversation) clampFocus(h int) {
	last := c.top
	if end := c.ahead(c.top, h-1); end.block < len(c.blocks) {
		last = end
	} else {
		last = anchor{len(c.blocks) - 1, 0}
	}
	c.focus = max(min(c.focus, last.block), c.top.block)
}

// Page scrolls by screens, down if they are positive.
func (c *Conversation) Page(screens int) { c.Scroll(screens * max(c.size.h-1, 1)) }

// Top goes to the beginning.
func (c *Conversation) Top() {
	c.hold()
	c.top, c.focus = anchor{}, 0
}

// Bottom goes to the end, which is followed again.
func (c *Conversation) Bottom() {
	c.follow = true
	c.focus = max(len(c.blocks)-1, 0)
}

// Jump goes to the next prompt of the person, or to the one before if by is -1.
func (c *Conversation) Jump(by int) {
	for i := c.focus + by; i >= 0 && i < len(c.blocks); i += by {
		if c.blocks[i].block.Kind == state.UserBlock {
			c.hold()
			c.focus = i
			c.top = anchor{i, c.blocks[i].gap}
			return
		}
	}
}

// InputHandler scrolls, folds, copies, selects and finds.
func (c *Conversation) InputHandler() func(*tcell.EventKey, func(tview.Primitive)) {
	return c.WrapInputHandler(func(ev *tcell.EventKey, _ func(tview.Primitive)) {
		if c.find.typing {
			c.findKey(ev)
			return
		}
		a := c.Keys.Lookup(ev, c.Scope()).Action
		if a != keymap.CopyCode {
			c.coded = -1
		}
		switch act := c.actions()[a]; {
		case c.sel.on:
			c.selectKey(a)
		case act != nil:
			act()
		default:
			draw.Page(c, a)
		}
	})
}

// actions are what keys do, other than scrolling by pages and selecting.
func (c *Conversation) actions() map[keymap.Action]func() {
	return map[keymap.Action]func(){
		keymap.Find:           c.openFind,
		keymap.FindNext:       func() { c.FindNext(1) },
		keymap.FindPrevious:   func() { c.FindNext(-1) },
		keymap.ScrollUp:       c.Up,
		keymap.ScrollDown:     c.Down,
		keymap.PromptPrevious: func() { c.Jump(-1) },
		keymap.PromptNext:     func() { c.Jump(1) },
		keymap.Fold:           c.Fold,
		keymap.CopyBlock:      c.Copy,
		keymap.CopyCode:       c.CopyCode,
		keymap.EditBlock:      c.edit,
		keymap.OpenOutput:     c.openOutput,
		keymap.Select:         c.startSelection,
	}
}

// PasteHandler adds to the text of a search.
func (c *Conversation) PasteHandler() func(string, func(tview.Primitive)) {
	return c.WrapPasteHandler(func(text string, _ func(tview.Primitive)) {
		if c.find.typing {
			c.findText(c.find.Text + strings.Join(strings.Fields(text), " "))
		}
	})
}

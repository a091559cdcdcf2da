package transcript

import (
	"buddy/app/state"
	"buddy/texts"
)

// height lays out a block and returns its number of rows.
func (vp *viewport) height(block int) int {
	vp.extent.from, vp.extent.to = min(vp.extent.from, block), max(vp.extent.to, block+1)
	return vp.blocks[block].height(vp.size.w)
}

// resize sets the size. If the width changes, the text at the top stays there.
func (vp *viewport) resize(w, h int) {
	vp.size.h = h
	if w == vp.size.w {
		return
	}
	old := vp.size.w
	if u := &vp.unread; old > 0 && !vp.follow && u.block < len(vp.blocks) {
		vp.height(u.block) // lay out the new rows at the old width, so that they can be found at the new one
	}
	vp.size.w = w
	if old == 0 || vp.top.block >= len(vp.blocks) {
		return
	}
	rewrapTop := vp.rewrap(vp.top)
	if u := &vp.unread; !vp.follow && u.block < len(vp.blocks) {
		first := vp.rewrap(anchor{u.block, u.rows}) // before rewrapTop lays out the block, which may be the same
		u.rows = first()
	}
	vp.top.row = rewrapTop()
}

// rewrap remembers the text of a row and returns a function that finds its row at the new width.
func (vp *viewport) rewrap(a anchor) func() (row int) {
	v := vp.blocks[a.block]
	part, off := v.rowOffset(a.row)
	end := part < 0 && a.row >= v.above() // a is after the last row of the block
	return func() int {
		if end {
			return vp.height(a.block)
		}
		return v.rowOf(part, off, a.row, vp.size.w)
	}
}

// back returns the row n rows above a, or the first row.
func (vp *viewport) back(a anchor, n int) anchor {
	for n > a.row {
		if a.block == 0 {
			return anchor{}
		}
		n -= a.row
		a.block--
		a.row = vp.height(a.block)
	}
	a.row -= n
	return a
}

// ahead returns the row n rows below a, at most the one after the last.
func (vp *viewport) ahead(a anchor, n int) anchor {
	for a.block < len(vp.blocks) {
		left := vp.height(a.block) - a.row
		if n < left {
			a.row += n
			return a
		}
		n -= left
		a = anchor{a.block + 1, 0}
	}
	return a
}

// end returns the top row of a screen that ends with the last row.
func (vp *viewport) end() anchor { return vp.back(anchor{len(vp.blocks), 0}, vp.size.h) }

// place determines the top row, which stays while a person selects text. While the view follows growing text, it moves
// by a third of its height when its last row is full, because moving with each line would send the whole screen each
// time.
func (vp *viewport) place(selecting bool) {
	end := vp.end()
	if !vp.top.before(end) && !selecting {
		vp.reached(end)
	}
	if !vp.follow {
		return
	}
	lowest := end
	if vp.stream && end != (anchor{}) {
		lowest = vp.ahead(end, vp.size.h/3)
	}
	if !vp.stream || vp.top.before(end) || lowest.before(vp.top) {
		vp.top = lowest
	}
}

// hold stops following, unless everything is loaded and fits.
func (vp *viewport) hold() {
	if vp.follow && vp.size.h > 0 && (vp.rest.above || vp.rest.below || vp.end() != (anchor{})) {
		vp.follow = false
		vp.holdUnread()
	}
}

// rowsBelow describes the number of rows below the screen. It counts only blocks that stay laid out, because a session
// may have a hundred thousand blocks.
func rowsBelow(vp *viewport) string {
	const uncounted = "↓ more"
	if vp.rest.below || vp.extent.last+keepLaid < len(vp.blocks) {
		return uncounted
	}
	from := vp.ahead(vp.top, vp.size.h)
	rows := -from.row
	for i := from.block; i < len(vp.blocks); i++ {
		if len(vp.blocks[i].block.Text) > bigBlock && i > vp.extent.last {
			return uncounted
		}
		rows += vp.height(i)
	}
	if rows <= 0 {
		return uncounted
	}
	return "↓ " + texts.Plural(rows, "line") + " below"
}

// heldBack reports whether a person has scrolled up, so that the end is not followed.
func (vp *viewport) heldBack() bool { return !vp.follow && vp.drawn() }

// Scroll moves the view by rows, down if positive. At the end, the view follows the end again.
func (vp *viewport) Scroll(rows int) {
	if !vp.drawn() {
		return
	}
	if rows > 0 {
		vp.rest.wanted = false
		vp.top = vp.ahead(vp.top, rows)
	} else {
		vp.hold()
		vp.top = vp.back(vp.top, -rows)
	}
	if end := vp.end(); !vp.top.before(end) {
		vp.reached(end)
	}
}

// reached is called when the end is on the screen. The view then follows the end or, if later blocks are not loaded,
// keeps the last loaded block on the screen.
func (vp *viewport) reached(end anchor) {
	if !vp.rest.below {
		vp.follow = true
	} else if !vp.follow {
		vp.top = end
	}
}

// move moves the focus to the previous or next block. It scrolls a block longer than the screen row by row.
func (vp *viewport) move(by int) {
	if !vp.drawn() {
		return
	}
	first, last := vp.rowsOf(vp.focus)
	next := vp.focus + by
	for next > 0 && next < len(vp.blocks)-1 && vp.blocks[next].hidden() {
		next += by
	}
	switch {
	case by < 0 && first < 0, by > 0 && last >= vp.size.h, next < 0, next >= len(vp.blocks):
		vp.Scroll(by)
		return
	}
	vp.focus = next
	if first, last = vp.rowsOf(next); by < 0 && last < 0 {
		vp.Scroll(last)
	} else if by < 0 && first < 0 {
		vp.Scroll(-1)
	} else if first >= vp.size.h {
		vp.Scroll(first - vp.size.h + 1)
	}
}

// rowsOf returns the first and last screen row of a block near the screen.
func (vp *viewport) rowsOf(block int) (first, last int) {
	at := -vp.top.row
	for i := vp.top.block; i < block; i++ {
		at += vp.height(i)
	}
	for i := vp.top.block - 1; i >= block; i-- {
		at -= vp.height(i)
	}
	return at + vp.blocks[block].gap, at + vp.height(block) - 1
}

// clampFocus keeps the focused block on the screen.
func (vp *viewport) clampFocus(h int) {
	last := min(vp.ahead(vp.top, h-1).block, len(vp.blocks)-1)
	vp.focus = vp.visible(max(min(vp.focus, last), vp.top.block))
}

// Page scrolls by screens, down if positive.
func (vp *viewport) Page(screens int) { vp.Scroll(screens * max(vp.size.h-1, 1)) }

// Top goes to the beginning.
func (vp *viewport) Top() {
	vp.hold()
	vp.top, vp.focus = anchor{}, 0
	vp.rest.wanted = vp.rest.above
}

// Bottom goes to the end and follows it.
func (vp *viewport) Bottom() {
	vp.follow, vp.rest.wanted = true, false
	if vp.focus = max(len(vp.blocks)-1, 0); len(vp.blocks) > 0 {
		vp.focus = vp.visible(vp.focus)
	}
}

// jump goes to the next prompt of the person, or the previous one if by is -1. If that prompt is not loaded, jump goes
// as far as possible, and continues when blocks are loaded.
func (vp *viewport) jump(by int) {
	vp.rest.jump = 0
	for i := vp.focus + by; i >= 0 && i < len(vp.blocks); i += by {
		if vp.blocks[i].block.Kind == state.UserBlock {
			vp.hold()
			vp.focus = i
			vp.top = anchor{i, vp.blocks[i].gap}
			return
		}
	}
	switch {
	case by < 0 && vp.rest.above:
		vp.hold()
		vp.top, vp.focus, vp.rest.jump = anchor{}, 0, by
	case by > 0 && vp.rest.below && vp.drawn():
		vp.top, vp.focus, vp.rest.jump = vp.end(), len(vp.blocks)-1, by
	}
}

// jumpsOn returns the direction in which an unfinished jump continues when blocks are loaded; 0 if there is none, or if
// the person has scrolled since.
func (vp *viewport) jumpsOn() int {
	by := vp.rest.jump
	switch {
	case by < 0 && vp.top != (anchor{}), by > 0 && !vp.drawn():
		return 0
	case by > 0 && vp.top.before(vp.back(vp.end(), 1)): // one row may be covered by the row below the text
		return 0
	}
	return by
}

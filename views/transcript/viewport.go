package transcript

import (
	"math"

	"buddy/app/state"
)

// viewport holds the blocks of a conversation and which of their rows are on the screen.
// Only blocks near it are laid out. It follows the end until a person scrolls up.
type viewport struct {
	blocks []*blockView       // as in the state
	top    anchor             // the first row on the screen
	focus  int                // the block that keys act on
	size   struct{ w, h int } // of the rows, when they were drawn last
	extent struct {
		first, last int // the blocks on the screen
		from, to    int // outside of them no block is laid out
	}
	follow bool // the end stays on the screen
	rest   rest // of the blocks: before and after those that are there
	stream bool // something still arrives
	unread unread
}

// rest tells what is known of the blocks that are not there.
type rest struct {
	above, below bool // there are some before the first one that is there, and after the last one
	wanted       bool // a person went to the beginning, which is to be shown when it comes
	jump         int  // which way a person goes to a prompt that is not there yet: 1 down, -1 up; 0: nobody does
}

// noteRest notes whether there are blocks that are not there.
func (vp *viewport) noteRest(above, below bool) {
	if vp.rest.below && !below && vp.drawn() {
		vp.holdUnread() // the end has not been seen since it was left: it is not known what of it is new
	}
	vp.rest = rest{above: above, below: below, wanted: vp.rest.wanted && above}
}

// anchor names a row of the conversation: a block and a row in it.
type anchor struct{ block, row int }

func (a anchor) before(b anchor) bool {
	return a.block < b.block || a.block == b.block && a.row < b.row
}

const (
	keepLaid = 100       // blocks this far from the screen stay laid out
	bigBlock = 256 << 10 // but not those with more text than this
)

// sync makes the views match the blocks of the state, which grow at their end and, where a person goes through
// a long session, come and go at both ends. Where views got other numbers, it returns the new ones by the old ones,
// else nil.
func (vp *viewport) sync(blocks []*state.Block, cwd string, all *shared) (moved map[int]int) {
	n := len(vp.blocks)
	atLast := vp.focus >= n-1
	if n > len(blocks) || n > 0 && (vp.blocks[0].block != blocks[0] || vp.blocks[n-1].block != blocks[n-1]) {
		moved = vp.rebuild(blocks, cwd, all)
	}
	for _, b := range blocks[len(vp.blocks):] {
		v := &blockView{block: b, cwd: cwd, shared: all}
		vp.blocks = append(vp.blocks, v)
		vp.link(len(vp.blocks) - 1)
	}
	if vp.follow && atLast {
		vp.focus = len(vp.blocks) - 1
	}
	if vp.focus >= 0 && vp.focus < len(vp.blocks) {
		vp.focus = vp.stands(vp.focus)
	}
	return moved
}

// link tells a view what is above it.
func (vp *viewport) link(i int) {
	v := vp.blocks[i]
	v.n, v.gap, v.run = i, 0, nil
	if v.block.Call != nil {
		v.shared.newest = v.block.Call
	}
	if i > 0 {
		v.gap = gapBetween(vp.blocks[i-1].block.Kind, v.block.Kind)
	}
	vp.join(i)
}

// rebuild keeps the views of the blocks that are still there, and the place. It returns
// their new numbers by the old ones.
func (vp *viewport) rebuild(blocks []*state.Block, cwd string, all *shared) (moved map[int]int) {
	old := make(map[*state.Block]int, len(vp.blocks))
	first := uint64(math.MaxUint64) // of them; blocks before it need not be looked up
	for i, v := range vp.blocks {
		old[v.block] = i
		first = min(first, v.block.Seq)
	}
	views := make([]*blockView, 0, len(blocks))
	moved = make(map[int]int, len(vp.blocks))
	var fresh []blockView // many at once: they may be a hundred thousand
	for i, b := range blocks {
		var v *blockView
		if b.Seq >= first {
			if j, ok := old[b]; ok {
				v, moved[j] = vp.blocks[j], i
			}
		}
		if v == nil {
			if len(fresh) == 0 {
				fresh = make([]blockView, min(len(blocks)-i, 1024))
			}
			v, fresh = &fresh[0], fresh[1:]
			v.block, v.cwd, v.shared = b, cwd, all
		}
		views = append(views, v)
	}
	open := make(map[*blockView]bool) // the first calls of rows that are unfolded
	for _, v := range vp.blocks {
		if v.run != nil && v.run.open {
			open[v.run.calls[0]] = true
		}
	}
	vp.blocks = views
	for i, v := range views {
		if vp.link(i); open[v] {
			v.run.open = true
		}
	}
	vp.follows(moved)
	vp.extent.from, vp.extent.to = 0, len(views)
	return moved
}

// follows keeps the place where blocks have other numbers. One that is gone was left for another place.
func (vp *viewport) follows(moved map[int]int) {
	if !vp.rest.wanted || vp.top != (anchor{}) {
		top, there := moved[vp.top.block]
		if vp.top.block, vp.focus = top, moved[vp.focus]; !there {
			vp.top.row = 0
		}
	}
	vp.extent.last = max(moved[vp.extent.last], vp.top.block)
	at, there := moved[vp.unread.block]
	if vp.unread.block = at; !there && vp.drawn() {
		vp.holdUnread()
	}
}

// unread counts the rows that came after the view stopped following.
type unread struct {
	block int // the block that was last
	rows  int // rows of it that had been there
	done  int // rows of blocks before it that will not grow any more
}

// holdUnread begins to count.
func (vp *viewport) holdUnread() {
	if n := len(vp.blocks); n > 0 {
		vp.unread = unread{n - 1, vp.height(n - 1), 0}
	}
}

// unreadRows returns how many rows are new, 0 while the end is followed. Blocks that
// are complete are counted once.
func (vp *viewport) unreadRows() int {
	if vp.follow || vp.size.w == 0 || vp.rest.below {
		return 0
	}
	u := &vp.unread
	for last := len(vp.blocks) - 1; u.block < last && !vp.blocks[u.block].block.Open; {
		u.done += vp.height(u.block) - u.rows
		u.block, u.rows = u.block+1, 0
	}
	n := u.done - u.rows
	for i := u.block; i < len(vp.blocks); i++ {
		n += vp.height(i)
	}
	return max(n, 0) // rows may have become one line
}

// evict forgets the layout of blocks that are far from the screen.
func (vp *viewport) evict() {
	first, last := vp.extent.first, vp.extent.last
	from, to := max(first-keepLaid, 0), min(last+keepLaid, len(vp.blocks))
	for i := vp.extent.from; i < min(vp.extent.to, len(vp.blocks)); i++ {
		v := vp.blocks[i]
		counted := !vp.follow && i >= vp.unread.block
		if v.laid != nil && !counted && (i < from || i >= to || (i < first || i > last) && len(v.block.Text) > bigBlock) {
			v.laid = nil
		}
	}
	vp.extent.from, vp.extent.to = from, to
	if !vp.follow {
		vp.extent.to = max(to, len(vp.blocks))
	}
}

// focused returns the block that keys act on, nil if there is none.
func (vp *viewport) focused() *blockView {
	if vp.focus >= len(vp.blocks) {
		return nil
	}
	return vp.blocks[vp.focus]
}

// giveText passes the text of the focused block to a callback, if both are there.
func (vp *viewport) giveText(to func(text string)) {
	if v := vp.focused(); v != nil && to != nil {
		to(v.copyText())
	}
}

// drawn reports whether there are blocks and they were drawn once.
func (vp *viewport) drawn() bool { return len(vp.blocks) > 0 && vp.size.h > 0 }

// lastRow returns the last row of the last block.
func (vp *viewport) lastRow() anchor {
	last := vp.stands(len(vp.blocks) - 1)
	return anchor{last, vp.height(last) - 1}
}

// codeInView returns which code block of the focused block is the first one that does not
// end above the screen.
func (vp *viewport) codeInView(v *blockView, blocks []string) int {
	if vp.size.h == 0 {
		return 0
	}
	first, _ := vp.rowsOf(vp.focus)
	last, end := len(blocks)-1, 0
	for i, code := range blocks[:last] {
		if end = v.endOf(code, end); first+v.rowOf(0, end, 0, vp.size.w)-v.gap >= 0 {
			return i
		}
	}
	return last
}

// toggleFold folds or unfolds the focused block.
func (vp *viewport) toggleFold() {
	v := vp.focused()
	if v == nil {
		return
	}
	v.toggle()
	if vp.top.block == vp.focus {
		vp.top.row = min(vp.top.row, v.gap) // its head stays on the screen
	}
	vp.hold()
}

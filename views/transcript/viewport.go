package transcript

import (
	"math"

	"buddy/app/state"
)

// viewport holds the blocks of a conversation and the position of the screen. Only blocks near the screen are laid out.
// It follows the end until a person scrolls up.
type viewport struct {
	blocks []*blockView       // as in the state
	top    anchor             // the first row on the screen
	focus  int                // the block that keys act on
	size   struct{ w, h int } // of the rows, at the last draw
	extent struct {
		first, last int // the blocks on the screen
		from, to    int // all laid-out blocks are in this range
	}
	follow bool // the end stays on the screen
	rest   rest // unloaded blocks
	stream bool // text is still arriving
	unread unread
}

// rest describes the blocks that are not loaded.
type rest struct {
	above, below bool // there are some before or after the loaded ones
	wanted       bool // a person went to the beginning, which is shown once it is loaded
	jump         int  // direction to a prompt that is not loaded yet: 1 down, -1 up; 0: none
}

// noteRest sets whether blocks before and after the loaded ones exist.
func (vp *viewport) noteRest(above, below bool) {
	if vp.rest.below && !below && vp.drawn() {
		vp.holdUnread() // the end had been unloaded, so it is unknown which rows are new
	}
	vp.rest = rest{above: above, below: below, wanted: vp.rest.wanted && above}
}

// anchor is a row of the conversation: a block and a row in it.
type anchor struct{ block, row int }

func (a anchor) before(b anchor) bool {
	return a.block < b.block || a.block == b.block && a.row < b.row
}

const (
	keepLaid = 100       // blocks at this distance from the screen stay laid out
	bigBlock = 256 << 10 // blocks with more text do not, unless they are on the screen
)

// sync updates the views to the blocks of the state. New blocks are added at the end; in a long session, blocks are
// loaded and unloaded at both ends. If indexes have changed, sync returns a map from old to new ones, else nil.
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
		vp.focus = vp.visible(vp.focus)
	}
	return moved
}

// link sets the fields of a view that depend on the views above it.
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

// rebuild keeps the views of remaining blocks, and the position. It returns a map from old to new indexes.
func (vp *viewport) rebuild(blocks []*state.Block, cwd string, all *shared) (moved map[int]int) {
	old := make(map[*state.Block]int, len(vp.blocks))
	first := uint64(math.MaxUint64) // least number of the present blocks; earlier blocks are new
	for i, v := range vp.blocks {
		old[v.block] = i
		first = min(first, v.block.Seq)
	}
	views := make([]*blockView, 0, len(blocks))
	moved = make(map[int]int, len(vp.blocks))
	var fresh []blockView // allocated in batches, because there may be a hundred thousand
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
	open := make(map[*blockView]bool) // the first calls of unfolded runs
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

// follows keeps the position when indexes have changed. If the block of the first row was unloaded, the position
// becomes the first row of the conversation.
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

// unread counts the rows added since the view stopped following.
type unread struct {
	block int // rows are counted from this block on; earlier ones are complete
	rows  int // rows of that block that are not new
	done  int // new rows of earlier blocks
}

// holdUnread starts to count the rows that arrive below the present end.
func (vp *viewport) holdUnread() {
	if n := len(vp.blocks); n > 0 {
		vp.unread = unread{n - 1, vp.height(n - 1), 0}
	}
}

// unreadRows returns the number of new rows, 0 while the end is followed. It counts the rows of a complete block only
// once.
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
	return max(n, 0) // several rows may have been folded to one line
}

// evict drops the layouts of blocks far from the screen.
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

// focused returns the block that keys act on, or nil.
func (vp *viewport) focused() *blockView {
	if vp.focus >= len(vp.blocks) {
		return nil
	}
	return vp.blocks[vp.focus]
}

// giveText passes the text of the focused block to a callback. It does nothing if there is no block or no callback.
func (vp *viewport) giveText(to func(text string)) {
	if v := vp.focused(); v != nil && to != nil {
		to(v.copyText())
	}
}

// drawn reports whether there are blocks and they have been drawn at least once.
func (vp *viewport) drawn() bool { return len(vp.blocks) > 0 && vp.size.h > 0 }

// lastRow returns the last row of the last block.
func (vp *viewport) lastRow() anchor {
	last := vp.visible(len(vp.blocks) - 1)
	return anchor{last, vp.height(last) - 1}
}

// codeInView returns the index of the first code block of the focused block that does not end above the screen.
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
		vp.top.row = min(vp.top.row, v.gap) // keeps its head on the screen
	}
	vp.hold()
}

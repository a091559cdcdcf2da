package transcript

import (
	"math"

	"buddy/app/state"
	"buddy/views/pattern"
)

// beyond is the search in blocks that are not loaded.
type beyond struct {
	by           int  // direction of the search for the next match; 0: none
	edge         int  // the block from which the search starts; noBlock if it was unloaded
	above, below int  // matches before and after the loaded blocks
	all          bool // whether these counts are complete
}

// Search describes a search that reaches blocks that are not loaded.
type Search struct {
	ID    int  // generation of the text
	Adds  int  // earliest generation whose text is a prefix of the text: no match then means no match now
	By    int  // direction of the search for the next match beyond the loaded blocks; 0: none now
	Seeks bool // the next match has not been found yet
	Full  bool // the maximum number of matches was counted
}

// Sought returns the active search; ok is false without one, or if all blocks are loaded.
func Sought(c *Conversation) (s Search, ok bool) {
	f := &c.find
	if f.Text == "" || !c.view.rest.above && !c.view.rest.below && f.beyond.by == 0 {
		return Search{}, false
	}
	s = Search{ID: f.gen, Adds: f.narrow, By: f.beyond.by, Seeks: f.seek.by != 0 || f.beyond.by != 0, Full: f.tally(&c.view).total >= maxFound}
	if f.typing {
		s.By = 0 // the text may still change, so don't jump far for half a word
	}
	return s, true
}

// Counter returns a function that counts the matches in unloaded blocks in the same way as in loaded blocks, and
// subtracts the cost from a budget, about a byte for each visible byte. Another goroutine may call it.
func Counter(c *Conversation) func(blocks []*state.Block, budget *int) int {
	text, width, cwd, all := c.find.Text, c.view.size.w, c.cwd, &shared{}
	return func(blocks []*state.Block, budget *int) (n int) {
		vp := viewport{}
		vp.size.w = width
		for _, b := range blocks {
			vp.blocks = append(vp.blocks, &blockView{block: b, cwd: cwd, shared: all})
		}
		f := finder{Pattern: pattern.New(text), gen: 1, narrow: 1}
		f.prefilter = pattern.NewPrefilter(&f.Pattern)
		for i := range vp.blocks {
			n += f.count(&vp, i, budget)
		}
		return n
	}
}

// SetBeyond sets the numbers of matches before and after the loaded blocks, and whether these numbers are complete.
func SetBeyond(c *Conversation, above, below int, all bool) {
	c.find.beyond.above, c.find.beyond.below, c.find.beyond.all = above, below, all
}

// SeekIn searches loaded blocks for the next match: downwards from first, or upwards from last.
func SeekIn(c *Conversation, first, last, by int) {
	if c.find.Text == "" || last < 0 || last >= len(c.view.blocks) {
		return
	}
	c.view.hold()
	edge := first
	if by < 0 {
		edge = last
	}
	c.find.seekFrom(&c.view, by, edgeOf(edge, by))
	c.continueSearch()
}

// EndSeek records that there is no further match in the direction of the search.
func EndSeek(c *Conversation) { c.find.beyond.by = 0 }

// noBlock is an index far from the indexes of all blocks.
const noBlock = math.MinInt / 2

// moved adapts the search to new block indexes.
func (f *finder) moved(vp *viewport, moved map[int]int) {
	at, there := moved[f.at.block]
	f.at.block, f.visited = at, f.visited && there
	f.origin.block, there = moved[f.origin.block]
	f.home = f.home && (there || f.ended)
	f.lo, f.hi = min(vp.top.block, len(vp.blocks)), min(vp.top.block, len(vp.blocks)) // blocks with known counts cost nothing
	if len(vp.blocks) == 0 {
		f.end()
		return
	}
	numberOf := func(block int) int {
		if to, there := moved[block]; there {
			return to
		}
		return noBlock
	}
	f.beyond.edge = numberOf(f.beyond.edge)
	if f.seek.by == 0 {
		return
	}
	from := f.seek.from
	if from.block = numberOf(from.block); from.block == noBlock {
		f.beyond.by, f.beyond.edge, f.seek = f.seek.by, noBlock, seek{}
		return
	}
	f.seekFrom(vp, f.seek.by, from)
}

// cross continues the search in blocks that were loaded for the search.
func (f *finder) cross(vp *viewport) {
	b := &f.beyond
	if next := b.edge + b.by; b.by != 0 && next >= 0 && next < len(vp.blocks) {
		f.seekFrom(vp, b.by, edgeOf(next, b.by))
	}
}

// edgeOf returns the place at which the search of a block starts.
func edgeOf(block, by int) match {
	if by < 0 {
		return match{block: block, part: math.MaxInt}
	}
	return match{block: block, part: headPart, off: -1}
}

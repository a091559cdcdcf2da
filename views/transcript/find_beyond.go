package transcript

import (
	"math"

	"buddy/app/state"
	"buddy/views/pattern"
)

// beyond holds what is known of blocks that are not there.
type beyond struct {
	by           int  // which way they are to be looked through for the next match; 0 is not at all
	edge         int  // the block before which that begins, or after which; noBlock if it is gone
	above, below int  // matches before and after the blocks that are there
	all          bool // no others
}

// Search tells what a conversation looks for where blocks of it are not there.
type Search struct {
	ID    int  // of the text that is looked for
	Adds  int  // the first of the texts that this one only adds to: where one of them was not found, this one is not
	By    int  // which way the next match is wanted, from the blocks that are there; 0: none is, now
	Seeks bool // the next match is wanted and was not found yet
	Full  bool // more matches are not counted
}

// Sought returns what is looked for; ok is false when nothing is, or all blocks are there.
func Sought(c *Conversation) (s Search, ok bool) {
	f := &c.find
	if f.Text == "" || !c.view.rest.above && !c.view.rest.below && f.beyond.by == 0 {
		return Search{}, false
	}
	s = Search{ID: f.gen, Adds: f.narrow, By: f.beyond.by, Seeks: f.seek.by != 0 || f.beyond.by != 0, Full: f.tally(&c.view).total >= maxFound}
	if f.typing {
		s.By = 0 // the text may still change: nobody wants to be led far away by half of it
	}
	return s, true
}

// Counter returns a function that counts the matches in blocks that are not there, as the search counts those that
// are, and takes what that costs, about a byte for each that they show, off a budget. Another goroutine may call it.
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

// SetBeyond notes how many matches there are before and after the blocks that are there, and whether these are all.
func SetBeyond(c *Conversation, above, below int, all bool) {
	c.find.beyond.above, c.find.beyond.below, c.find.beyond.all = above, below, all
}

// SeekIn goes on to the next match from some of the blocks that are there: downwards from the first of them, upwards from
// the last.
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
	c.goOn()
}

// EndSeek notes that there is no match that way.
func EndSeek(c *Conversation) { c.find.beyond.by = 0 }

// noBlock is no block, and far from all of them.
const noBlock = math.MinInt / 2

// moved keeps the search when blocks have other numbers.
func (f *finder) moved(vp *viewport, moved map[int]int) {
	at, there := moved[f.at.block]
	f.at.block, f.visited = at, f.visited && there
	f.origin.block, there = moved[f.origin.block]
	f.home = f.home && (there || f.ended)
	f.lo, f.hi = min(vp.top.block, len(vp.blocks)), min(vp.top.block, len(vp.blocks)) // known counts cost nothing
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

// cross goes on in blocks that have come with what was looked for beyond those that were there.
func (f *finder) cross(vp *viewport) {
	b := &f.beyond
	if next := b.edge + b.by; b.by != 0 && next >= 0 && next < len(vp.blocks) {
		f.seekFrom(vp, b.by, edgeOf(next, b.by))
	}
}

// edgeOf returns the place from which a block is gone through.
func edgeOf(block, by int) match {
	if by < 0 {
		return match{block: block, part: math.MaxInt}
	}
	return match{block: block, part: headPart, off: -1}
}

package transcript

import (
	"math"

	"buddy/views/pattern"
)

// FindIn is Find for a text that was found elsewhere, in some blocks: it goes to the first
// match there. Where they do not show the text it goes to the first of them, ends the search
// and reports false.
func (c *Conversation) FindIn(text string, blocks []int) bool {
	c.EndFind()
	if len(blocks) == 0 || blocks[0] >= len(c.blocks) {
		return false
	}
	if f := &c.find; text != "" && len(text) <= pattern.MaxQuery {
		f.gen++
		f.narrow, f.Pattern = f.gen, pattern.New(text)
		f.lo, f.hi = blocks[0], blocks[0]
		for _, b := range blocks {
			if m, ok := c.nearest(match{block: b, part: headPart, off: math.MinInt}, 1); ok {
				c.visit(m)
				c.goOn()
				return true
			}
		}
		c.EndFind()
	}
	c.hold()
	c.focus, c.top = blocks[0], anchor{blocks[0], 0}
	if v := c.blocks[blocks[0]]; v.foldable() {
		v.fold = unfolded
	}
	return false
}

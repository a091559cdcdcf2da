package transcript

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
)

// selection is the text that a person selected with the mouse or keys. It is stored as positions in the texts of
// blocks, so that it survives scrolling, other widths and new text.
type selection struct {
	on     bool
	keys   bool // made with keys, not with the mouse
	unit   unit
	anchor stretch // its start
	head   stretch // its moving end
	goal   int     // column for vertical moves; -1: the column of the head
}

// drag is the state of the left mouse button.
type drag struct {
	after     func(time.Duration, func()) // see SetAfter; may be nil
	down      bool
	x, y      int
	clicks    int // consecutive clicks at one place, up to 3
	at        time.Time
	scrolling bool // a step is scheduled
}

// unit is the unit by which a selection grows.
type unit uint8

const (
	byChar unit = iota
	byWord
	byLine
)

// position is a byte in a part of a block; part is headPart for the head of a call.
type position struct{ block, part, off int }

func (s position) before(t position) bool {
	if s.block != t.block {
		return s.block < t.block
	}
	return s.part < t.part || s.part == t.part && s.off < t.off
}

// stretch is the text from a position to another one in the same part.
type stretch struct {
	position
	end int
}

func (s stretch) last() position { return position{s.block, s.part, s.end} }

const (
	clickTime  = 400 * time.Millisecond // between the clicks of a double click
	scrollTime = 50 * time.Millisecond  // between steps while the pointer is at an edge
)

// SetAfter sets the function that runs another one later, on the UI goroutine, and then draws. Without it a selection
// does not scroll when the pointer is held at an edge.
func (c *Conversation) SetAfter(after func(time.Duration, func())) { c.mouse.after = after }

// EndSelection drops the selection and reports whether there was one.
func (c *Conversation) EndSelection() bool {
	on := c.sel.on
	c.sel = selection{}
	return on
}

// CopySelection passes the selected text to OnCopy, drops the selection and reports whether there was one.
func (c *Conversation) CopySelection() bool {
	if !c.sel.on {
		return false
	}
	text := c.sel.text(&c.view)
	c.sel = selection{}
	if c.OnCopy != nil {
		c.OnCopy(text)
	}
	return true
}

// bounds returns the ends of the selection, in order.
func (s *selection) bounds() (from, to position) {
	from, to = s.anchor.position, s.anchor.last()
	if s.head.before(from) {
		from = s.head.position
	}
	if to.before(s.head.last()) {
		to = s.head.last()
	}
	return from, to
}

// text returns the selected text; wrapped rows are joined to lines.
func (s *selection) text(vp *viewport) string {
	var b strings.Builder
	from, to := s.bounds()
	for i := from.block; i <= to.block && i < len(vp.blocks); i++ {
		v := vp.blocks[i]
		if vp.height(i) == 0 { // height lays out the block
			continue
		}
		first := b.Len() == 0
		if !first && v.gap > 0 {
			b.WriteByte('\n')
		}
		for part, text := range v.visibleTexts() {
			lo, hi, ok := s.within(i, part, 0, len(text.Bytes))
			if !ok {
				continue
			}
			if !first {
				b.WriteByte('\n')
			}
			first = false
			b.WriteString(text.Plain(lo, max(lo, hi)))
		}
	}
	return b.String()
}

// visibleTexts yields the unfolded texts of the block with the numbers of their parts.
func (v *blockView) visibleTexts() func(yield func(part int, text *markup.Text) bool) {
	return func(yield func(int, *markup.Text) bool) {
		if v.block.Call != nil && !yield(headPart, &markup.Text{Bytes: draw.Bytes(v.laid.head)}) {
			return
		}
		for i := range v.laid.parts {
			if !yield(i, v.laid.parts[i].text) {
				return
			}
		}
	}
}

// rowText is the text of a row: the bytes from..to, starting at a column. part is noPart for a row without text.
type rowText struct {
	text                []byte
	part, from, to, col int
}

// headCol is the column where the text of a head starts, after the sign.
const headCol = 2

// rowText returns the text of row i of the block, which is laid out.
func (v *blockView) rowText(i int) rowText {
	l := v.laid
	i -= v.gap
	if v.foldable() {
		i--
	}
	switch {
	case i == -1 && v.block.Call != nil:
		head := draw.Bytes(l.head)
		return rowText{head, headPart, 0, len(head), headCol}
	case i < 0:
		return rowText{part: noPart}
	case l.skip > 0 && i == 0:
		return rowText{part: noPart}
	case l.skip > 0:
		i += l.skip - 1
	}
	n, i := partAt(l.parts, i)
	if n < 0 {
		return rowText{part: noPart}
	}
	p := &l.parts[n]
	_, col, _ := p.layout.Rest(p.text, i)
	row := p.layout.Rows[i]
	return rowText{p.text.Bytes, n, int(row.From), int(row.To), gutter(v.block.Kind) + col}
}

// at returns the byte at a column of the row, or the end of the row's text.
func (r *rowText) at(col int) int {
	off, at := r.from, r.col
	for off < r.to {
		n, width := markup.Cell(r.text[off:], at-r.col)
		if at+width > col {
			break
		}
		off, at = off+n, at+width
	}
	return off
}

// stretchAt returns the unit of text at a column of a row, or the first unit of the text below for a row without text.
func (vp *viewport) stretchAt(a anchor, col int, u unit) stretch {
	for ; a.block < len(vp.blocks); a = vp.ahead(a, 1) {
		vp.height(a.block)
		r := vp.blocks[a.block].rowText(a.row)
		if r.part == noPart {
			col = 0
			continue
		}
		off := r.at(col)
		from, to := u.around(r.text, off, r.to)
		return stretch{position{a.block, r.part, from}, to}
	}
	last := max(len(vp.blocks)-1, 0)
	return stretch{position{block: last + 1}, 0}
}

// around returns the bounds of the character, word or line around a byte. rowEnd is the end of the row with the byte.
func (u unit) around(text []byte, off, rowEnd int) (from, to int) {
	switch {
	case u == byLine:
		from = bytes.LastIndexByte(text[:off], '\n') + 1
		if to = bytes.IndexByte(text[off:], '\n'); to < 0 {
			return from, len(text)
		}
		return from, off + to
	case off >= rowEnd:
		return off, off
	case u == byChar:
		n, _ := markup.Cell(text[off:], 0)
		return off, off + n
	}
	return markup.WordAround(text, off)
}

// moved adapts the selection to new block indexes.
func (s *selection) moved(moved map[int]int) {
	for _, at := range []*int{&s.anchor.block, &s.head.block} {
		to, ok := moved[*at]
		if s.on && !ok {
			*s = selection{}
			return
		}
		*at = to
	}
}

// drawCursor puts the cursor at the head of the selection.
func (c *Conversation) drawCursor(in draw.Area) {
	if !c.sel.on || c.mouse.down || !c.HasFocus() || c.find.typing {
		return
	}
	a, col := c.sel.cursorAt(&c.view)
	for y, at := 0, c.view.top; y < in.H; y, at = y+1, c.view.ahead(at, 1) {
		if at == a {
			in.Screen.ShowCursor(in.X+draw.Padding+min(col, c.view.size.w-1), in.Y+y)
			return
		}
	}
}

// within returns the selected bytes among lo..hi of a part.
func (s *selection) within(block, part, lo, hi int) (a, b int, ok bool) {
	from, to := s.bounds()
	at, first, last := position{block, part, 0}, position{from.block, from.part, 0}, position{to.block, to.part, 0}
	if at == first {
		lo = min(max(lo, from.off), hi)
	}
	if at == last {
		hi = min(hi, to.off)
	}
	return lo, hi, !at.before(first) && !last.before(at)
}

// paint highlights the selected text of a drawn row.
func (s *selection) paint(vp *viewport, row draw.Canvas, block, i int) {
	if !s.on {
		return
	}
	r := vp.blocks[block].rowText(i)
	a, b, ok := s.within(block, r.part, r.from, r.to)
	if r.part == noPart || !ok {
		return
	}
	row.At(r.col).Restyle(r.text, r.from, a, b, row.Palette[themes.Selection])
}

// copyText returns the original text of the block for the clipboard.
func (v *blockView) copyText() string {
	c := v.block.Call
	if c == nil {
		return string(v.block.Text)
	}
	if v.summarizes() {
		return v.run.lines(v.cwd)
	}
	call := wordsOf(c, v.cwd)
	out := string(c.Output.Buf)
	if out == "" {
		out = c.Result
	}
	what := cmp.Or(c.Action.Command, call.Line())
	return strings.TrimRight(what, "\n") + "\n" + out
}

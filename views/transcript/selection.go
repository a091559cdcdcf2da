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

// selection holds what a person has selected of a conversation, with the mouse or by keys.
// It lies between places in the texts of blocks, so that it stays on its words when the
// view scrolls, the width changes or more text comes.
type selection struct {
	on     bool
	keys   bool // made by keys, not with the mouse
	unit   unit
	anchor stretch // where it began
	head   stretch // where it goes to
	goal   int     // the column that vertical moves aim at; -1 is that of the head
}

// drag holds what the left mouse button does.
type drag struct {
	after     func(time.Duration, func()) // see SetAfter; may be nil
	down      bool
	x, y      int
	clicks    int // in a row at one place, up to 3
	at        time.Time
	scrolling bool // a step is on its way
}

// unit tells what a selection grows by.
type unit uint8

const (
	byChar unit = iota
	byWord
	byLine
)

// position names a byte of a part of a block; part is headPart for the head of a call.
type position struct{ block, part, off int }

func (s position) before(t position) bool {
	if s.block != t.block {
		return s.block < t.block
	}
	return s.part < t.part || s.part == t.part && s.off < t.off
}

// stretch names the text from one position up to another one in the same part.
type stretch struct {
	position
	end int
}

func (s stretch) last() position { return position{s.block, s.part, s.end} }

const (
	clickTime  = 400 * time.Millisecond // between the clicks of a double click
	scrollTime = 50 * time.Millisecond  // between steps while the pointer is held at an edge
)

// SetAfter sets how something is done later on the UI goroutine, with a draw. Without it a
// selection does not scroll by itself when the pointer is held at an edge.
func (c *Conversation) SetAfter(after func(time.Duration, func())) { c.mouse.after = after }

// EndSelection drops the selection and reports whether there was one.
func (c *Conversation) EndSelection() bool {
	on := c.sel.on
	c.sel = selection{}
	return on
}

// CopySelection passes what is selected to OnCopy, drops the selection and reports whether
// there was one.
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

// text returns what is selected, in whole lines where rows are only wrapped.
func (s *selection) text(vp *viewport) string {
	var b strings.Builder
	from, to := s.bounds()
	for i := from.block; i <= to.block && i < len(vp.blocks); i++ {
		v := vp.blocks[i]
		if vp.height(i) == 0 { // which lays it out if it shows
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

// visibleTexts yields the texts of the block that are not folded, by the number of their part.
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

// rowText holds what a row shows of a text: the bytes from..to of it, from a column on. part
// is noPart for a row that shows none.
type rowText struct {
	text                []byte
	part, from, to, col int
}

// headCol is the column in which the text of a head begins: behind the sign.
const headCol = 2

// rowText returns what row i of the block, which is laid out, shows.
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

// at returns the byte that a column of the row shows; beyond the text that is its end.
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

// stretchAt returns the unit of text that a column of a row shows. A row without text
// stands for the beginning of the text below it.
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

// around returns the character, the word or the line around a byte. rowEnd is where the
// row ends that shows it.
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

// moved keeps the selection when blocks came before those that there were.
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

// drawCursor puts the cursor where the selection goes to.
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

// within returns which of the bytes lo..hi of a part are selected.
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

// paint shows what is selected of a row that was drawn.
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

// copyText returns what copying the block puts on the clipboard: its text as it came.
func (v *blockView) copyText() string {
	c := v.block.Call
	if c == nil {
		return string(v.block.Text)
	}
	if v.summarizes() {
		return v.run.lines(v.cwd)
	}
	said := wordsOf(c, v.cwd)
	out := string(c.Output.Buf)
	if out == "" {
		out = c.Result
	}
	what := cmp.Or(c.Action.Command, said.Line())
	return strings.TrimRight(what, "\n") + "\n" + out
}

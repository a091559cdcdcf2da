package dialog

import (
	"fmt"
	"io"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
)

// Document is a text of any size that a Pager shows. Its texts may be anybody's.
type Document struct {
	Title string
	Text  io.ReaderAt
	Size  int64
	Close func() // nil: there is nothing to close
}

// Pager shows a whole output, however large: it reads only what is on the screen, and
// searches a slice at a time. Only the UI goroutine may use it.
type Pager struct {
	draw.Frame
	OnCopy func(text string)
	OnEdit func(Document) // it is wanted in an editor
	Later  func(func())   // runs a function soon and draws; nil searches at once

	doc  Document
	open bool
	top  pagerRow
	w, h int       // of the text, when it was drawn last
	mark int64     // where the selection begins, -1 for none
	drag pagerDrag // what the mouse selects instead

	clicked bodyPlace // of the screen
	find    pagerFind // also what is typed
	kept    pagerKept // so that moving about costs little
}

// pagerKept is what was read and laid out last.
type pagerKept struct {
	line  textLine
	from  int64 // where bytes begin
	bytes []byte
	end   pagerRow // the last top row, for the size w×h
	w, h  int
}

// pagerRow is a row of the screen: where its line begins and which row of it this is.
type pagerRow struct {
	off int64
	row int
}

// NewPager returns a pager that shows nothing.
func NewPager(theme *themes.Theme, keys *keymap.Map) *Pager {
	return &Pager{Frame: draw.NewFrame(theme, keys), mark: -1, w: 80, h: 24}
}

// Show opens a document; the pager closes it.
func (p *Pager) Show(d Document) {
	p.Close()
	p.doc, p.open = d, true
}

// Close closes what is shown.
func (p *Pager) Close() {
	if p.doc.Close != nil {
		p.doc.Close()
	}
	gen := p.find.gen + 1
	p.doc, p.open, p.top, p.mark, p.kept = Document{}, false, pagerRow{}, -1, pagerKept{}
	p.find, p.drag = pagerFind{gen: gen}, pagerDrag{}
}

// Open reports whether something is shown.
func (p *Pager) Open() bool { return p.open }

// Scope returns the scope in which keys are looked up: to the pager or to the line that takes a search.
func (p *Pager) Scope() keymap.Scope {
	if p.find.typing {
		return keymap.Finding
	}
	return keymap.Pager
}

// InputHandler scrolls, searches, selects and copies.
func (p *Pager) InputHandler() func(*tcell.EventKey, func(tview.Primitive)) {
	return p.WrapInputHandler(func(ev *tcell.EventKey, _ func(tview.Primitive)) {
		if p.find.typing {
			p.findKey(ev)
			return
		}
		switch a := p.Keys.Lookup(ev, keymap.Pager).Action; a {
		case keymap.ScrollUp:
			p.Scroll(-1)
		case keymap.ScrollDown:
			p.Scroll(1)
		case keymap.Find:
			p.find = pagerFind{typing: true, gen: p.find.gen + 1}
		case keymap.FindNext:
			p.seek(1)
		case keymap.FindPrevious:
			p.seek(-1)
		case keymap.Select:
			p.toggleMark()
		case keymap.CopyBlock:
			p.copy()
		case keymap.EditBlock:
			if p.OnEdit != nil {
				p.OnEdit(p.doc)
			}
		case keymap.PagerClose:
			p.Close()
		case keymap.Back:
			p.back()
		default:
			draw.Page(p, a)
		}
	})
}

// back ends the selection, the search or the pager, whichever comes first.
func (p *Pager) back() {
	switch {
	case p.drag.on:
		p.drag = pagerDrag{}
	case p.mark >= 0:
		p.mark = -1
	case p.find.Text != "":
		p.find = pagerFind{gen: p.find.gen + 1}
	default:
		p.Close()
	}
}

// PasteHandler adds to what is looked for.
func (p *Pager) PasteHandler() func(string, func(tview.Primitive)) {
	return p.WrapPasteHandler(func(text string, _ func(tview.Primitive)) {
		if p.find.typing {
			p.findText(p.find.Text + draw.OneLine(text))
		}
	})
}

// Scroll moves by rows, down if they are positive.
func (p *Pager) Scroll(rows int) {
	for ; rows < 0 && (p.top.off > 0 || p.top.row > 0); rows++ {
		p.top = p.before(p.top)
	}
	if rows > 0 {
		end := p.end()
		for ; rows > 0 && p.top.less(end); rows-- {
			p.top = p.after(p.top)
		}
	}
}

func (r pagerRow) less(s pagerRow) bool { return r.off < s.off || r.off == s.off && r.row < s.row }

// Page scrolls by screens, down if they are positive.
func (p *Pager) Page(screens int) { p.Scroll(screens * max(p.h-1, 1)) }

// Top goes to the beginning.
func (p *Pager) Top() { p.top = pagerRow{} }

// Bottom goes to the end.
func (p *Pager) Bottom() { p.top = p.end() }

// end is the top row when the last row of the document is at the bottom.
func (p *Pager) end() pagerRow {
	if k := &p.kept; k.w != p.w || k.h != p.h {
		k.end = pagerRow{off: p.doc.Size}
		for range p.h {
			k.end = p.before(k.end)
		}
		k.w, k.h = p.w, p.h
	}
	return p.kept.end
}

// after and before are the rows next to one; beyond the document is none.
func (p *Pager) after(r pagerRow) pagerRow {
	l := p.lineAt(r.off)
	switch {
	case r.row+1 < len(l.layout.Rows):
		r.row++
	case l.next < p.doc.Size:
		return pagerRow{off: l.next}
	}
	return r
}

func (p *Pager) before(r pagerRow) pagerRow {
	switch {
	case r.row > 0:
		r.row--
		return r
	case r.off == 0:
		return r
	}
	r.off = p.lineBefore(r.off)
	r.row = max(len(p.lineAt(r.off).layout.Rows)-1, 0)
	return r
}

// maxPagerLine is how long a line is shown in one piece, in bytes.
const maxPagerLine = 8 << 10

// textLine is a line of the document, laid out.
type textLine struct {
	off, next int64 // where it begins and where the next one does
	width     int
	text      *markup.Text
	layout    markup.Layout
}

// pagerWindow is how much is read at once, in bytes, around what is wanted.
const pagerWindow = 64 << 10

// read returns bytes of the document, which are good until the next call; what can't be
// read is not there.
func (p *Pager) read(off int64, n int) []byte {
	n = int(max(min(int64(n), p.doc.Size-off), 0))
	k := &p.kept
	if off < k.from || off+int64(n) > k.from+int64(len(k.bytes)) {
		from := max(off-pagerWindow/2, 0)
		b := make([]byte, min(max(pagerWindow, off-from+int64(n)), p.doc.Size-from))
		got, _ := p.doc.Text.ReadAt(b, from)
		k.from, k.bytes = from, b[:got]
	}
	at := min(int(off-k.from), len(k.bytes))
	return k.bytes[at:min(at+n, len(k.bytes))]
}

// lineAt lays out the line that begins at an offset, or a piece of it.
func (p *Pager) lineAt(off int64) *textLine {
	l := &p.kept.line
	if l.text != nil && l.off == off && l.width == p.w {
		return l
	}
	raw := p.read(off, maxPagerLine)
	n := lineEnd(raw)
	w := markup.Writer{Terminal: true}
	w.Write(trimEnd(raw[:n]))
	w.Close()
	*l = textLine{off: off, next: off + int64(n), width: p.w, text: &w.Text}
	if n == 0 {
		l.next = p.doc.Size // it can't be read
	}
	l.layout.Wrap(l.text, p.w, 0)
	return l
}

// lineBefore returns where the line before an offset begins.
func (p *Pager) lineBefore(off int64) int64 {
	from := max(off-maxPagerLine, 0)
	raw := p.read(from, int(off-from))
	if len(raw) == 0 {
		return 0
	}
	return from + int64(lineStart(raw[:len(raw)-1]))
}

// Draw draws the rows from the top on.
func (p *Pager) Draw(screen tcell.Screen) {
	in := p.Bordered(screen, draw.Titles{Left: draw.Untrusted(themes.Strong, p.doc.Title), Right: p.place(), Bottom: p.status()}).Cleared()
	if in.W <= 0 || in.H <= 0 || !p.open {
		return
	}
	text := in.Inset()
	p.w, p.h = max(text.W, 1), in.H
	if p.find.typing {
		p.h = max(in.H-1, 1)
	}
	if end := p.end(); end.less(p.top) {
		p.top = end
	}
	at := p.top
	for y := range p.h {
		l := p.lineAt(at.off)
		if at.row < len(l.layout.Rows) {
			p.drawRow(text.Down(y), l, at.row)
		}
		next := p.after(at)
		if next == at {
			break
		}
		at = next
	}
	if p.find.typing {
		p.drawFind(in.Inset().Down(in.H - 1))
	}
}

// drawRow draws a row with what was found in it, or as selected.
func (p *Pager) drawRow(c draw.Canvas, l *textLine, row int) {
	r := l.layout.Rows[row]
	c.Text(l.text, int(r.From), int(r.To))
	if p.selects(l.off) {
		c.Restyle(l.text.Bytes, int(r.From), int(r.From), int(r.To), p.Palette[themes.Selection])
		if r.From == r.To {
			c.Fill(0, 1, p.Palette[themes.Selection])
		}
		return
	}
	if p.find.Text != "" {
		p.drawFound(c, l, r)
	}
	if a, b := p.drag.in(l); a < b {
		c.Restyle(l.text.Bytes, int(r.From), max(a, int(r.From)), min(b, int(r.To)), p.Palette[themes.Selection])
	}
}

// drawFound marks what was found in a row.
func (p *Pager) drawFound(c draw.Canvas, l *textLine, r markup.Row) {
	for from, to := p.find.Next(l.text.Bytes, 0); from >= 0; from, to = p.find.Next(l.text.Bytes, to) {
		a, b := max(from, int(r.From)), min(to, int(r.To))
		c.Restyle(l.text.Bytes, int(r.From), a, b, p.Palette[themes.Match])
	}
}

// place says how far down this is.
func (p *Pager) place() []draw.Span {
	if p.doc.Size == 0 {
		return []draw.Span{draw.Text(themes.Muted, "empty")}
	}
	percent := int64(100)
	if p.open && p.top.less(p.end()) {
		percent = p.top.off * 100 / p.doc.Size
	}
	return []draw.Span{draw.Text(themes.Muted, fmt.Sprintf("%d%% of %s", percent, draw.ByteCount(p.doc.Size)))}
}

// status says at the lower border what is selected and how a search goes.
func (p *Pager) status() []draw.Span {
	switch f := &p.find; {
	case p.mark >= 0:
		from, to := p.selected()
		return append([]draw.Span{draw.Text(themes.Notice, draw.ByteCount(to-from)+" selected · ")}, p.Named(keymap.CopyBlock, " copies")...)
	case f.Text == "" || f.typing:
		return nil
	case f.by != 0:
		return []draw.Span{draw.Text(themes.Muted, "searching …")}
	case f.none:
		return []draw.Span{draw.Text(themes.Warning, "not found: "), draw.Text(themes.Muted, markup.Inline(f.Text))}
	}
	return append([]draw.Span{draw.Text(themes.Muted, markup.Inline(p.find.Text)+" · ")}, p.Named(keymap.FindNext, " next")...)
}

package dialog

import (
	"fmt"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
)

// Pager shows a text of any size, because it reads only the visible part and searches a slice at a time. Only the UI
// goroutine may use it.
type Pager struct {
	draw.Frame
	OnCopy func(text string)
	OnEdit func(Document) // opens the document in an editor
	Later  func(func())   // runs a function soon, then draws; nil: a search runs in one go

	doc  pagerText
	open bool
	top  docPlace  // a row
	h    int       // rows of the text at the last draw
	mark int64     // start of the selection by keys, or -1
	drag pagerDrag // selection of the mouse

	clicked bodyPlace // place of the last click on the screen
	find    pagerFind // also holds the text being typed
}

// NewPager returns an empty pager.
func NewPager(theme *themes.Theme, keys *keymap.Map) *Pager {
	return &Pager{Frame: draw.NewFrame(theme, keys), mark: -1, doc: pagerText{w: 80}, h: 24}
}

// Show opens a document; the pager closes it.
func (p *Pager) Show(d Document) {
	p.Close()
	p.doc.Document, p.open = d, true
}

// Close closes the document.
func (p *Pager) Close() {
	if p.doc.Close != nil {
		p.doc.Close()
	}
	gen := p.find.gen + 1
	p.doc, p.open, p.top, p.mark = pagerText{w: p.doc.w}, false, docPlace{}, -1
	p.find, p.drag = pagerFind{gen: gen}, pagerDrag{}
}

// Open reports whether a document is open.
func (p *Pager) Open() bool { return p.open }

// Scope returns the key scope of the pager or of the search line.
func (p *Pager) Scope() keymap.Scope {
	if p.find.typing {
		return keymap.Finding
	}
	return keymap.Pager
}

// pagerKeys maps actions to functions, except for paging and for typing a search.
var pagerKeys = map[keymap.Action]func(*Pager){
	keymap.ScrollUp:     func(p *Pager) { p.Scroll(-1) },
	keymap.ScrollDown:   func(p *Pager) { p.Scroll(1) },
	keymap.Find:         func(p *Pager) { p.find = pagerFind{typing: true, gen: p.find.gen + 1} },
	keymap.FindNext:     func(p *Pager) { p.seek(1) },
	keymap.FindPrevious: func(p *Pager) { p.seek(-1) },
	keymap.Select:       (*Pager).toggleMark,
	keymap.CopyBlock:    (*Pager).copy,
	keymap.EditBlock: func(p *Pager) {
		if p.OnEdit != nil {
			p.OnEdit(p.doc.Document)
		}
	},
	keymap.PagerClose: (*Pager).Close,
	keymap.Back:       (*Pager).back,
}

// Press scrolls, searches, selects and copies.
func (p *Pager) Press(press keymap.Press) {
	switch do := pagerKeys[press.Action]; {
	case p.find.typing:
		p.findKey(press)
	case do != nil:
		do(p)
	default:
		draw.Page(p, press.Action)
	}
}

// back ends the selection if there is one, else the search, else closes the pager.
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

// PasteHandler adds the pasted text to the search.
func (p *Pager) PasteHandler() func(string, func(tview.Primitive)) {
	return p.WrapPasteHandler(func(text string, _ func(tview.Primitive)) {
		if p.find.typing {
			p.findText(p.find.Text + texts.OneLine(text))
		}
	})
}

// Scroll moves by rows, down if positive.
func (p *Pager) Scroll(rows int) {
	for ; rows < 0 && (p.top.off > 0 || p.top.at > 0); rows++ {
		p.top = p.doc.before(p.top)
	}
	if rows > 0 {
		end := p.doc.end(p.h)
		for ; rows > 0 && p.top.before(end); rows-- {
			p.top = p.doc.after(p.top)
		}
	}
}

// Page scrolls by n screens, down if positive.
func (p *Pager) Page(screens int) { p.Scroll(screens * max(p.h-1, 1)) }

// Top goes to the beginning.
func (p *Pager) Top() { p.top = docPlace{} }

// Bottom goes to the end.
func (p *Pager) Bottom() { p.top = p.doc.end(p.h) }

// Draw draws the visible rows.
func (p *Pager) Draw(screen tcell.Screen) {
	in := p.Bordered(screen, draw.Titles{Left: draw.Untrusted(themes.Strong, p.doc.Title), Right: p.place(), Bottom: p.status()}).Cleared()
	if in.W <= 0 || in.H <= 0 || !p.open {
		return
	}
	text := in.Inset()
	p.doc.w, p.h = max(text.W, 1), in.H
	if p.find.typing {
		p.h = max(in.H-1, 1)
	}
	if end := p.doc.end(p.h); end.before(p.top) {
		p.top = end
	}
	at := p.top
	for y := range p.h {
		l := p.doc.lineAt(at.off)
		if at.at < len(l.layout.Rows) {
			p.drawRow(text.Down(y), l, at.at)
		}
		next := p.doc.after(at)
		if next == at {
			break
		}
		at = next
	}
	if p.find.typing {
		draw.SearchLine(in.Inset().Down(in.H-1), p.find.Text, nil, p.HasFocus())
	}
}

// drawRow draws a row with its matches, or as selected.
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

// drawFound highlights the matches in a row.
func (p *Pager) drawFound(c draw.Canvas, l *textLine, r markup.Row) {
	for from, to := p.find.Next(l.text.Bytes, 0); from >= 0; from, to = p.find.Next(l.text.Bytes, to) {
		a, b := max(from, int(r.From)), min(to, int(r.To))
		c.Restyle(l.text.Bytes, int(r.From), a, b, p.Palette[themes.Match])
	}
}

// place returns the position in percent.
func (p *Pager) place() []draw.Span {
	if p.doc.Size == 0 {
		return []draw.Span{draw.Text(themes.Muted, "empty")}
	}
	percent := int64(100)
	if p.open && p.top.before(p.doc.end(p.h)) {
		percent = p.top.off * 100 / p.doc.Size
	}
	return []draw.Span{draw.Text(themes.Muted, fmt.Sprintf("%d%% of %s", percent, texts.ByteCount(p.doc.Size)))}
}

// status returns the text of the lower border: the selection or the state of a search.
func (p *Pager) status() []draw.Span {
	switch f := &p.find; {
	case p.mark >= 0:
		from, to := p.selected()
		return append([]draw.Span{draw.Text(themes.Notice, texts.ByteCount(to-from)+" selected · ")}, p.Named(keymap.CopyBlock, " copies")...)
	case f.Text == "" || f.typing:
		return nil
	case f.by != 0:
		return []draw.Span{draw.Text(themes.Muted, "searching …")}
	case f.none:
		return []draw.Span{draw.Text(themes.Warning, "not found: "), draw.Text(themes.Muted, markup.Inline(f.Text))}
	}
	return append([]draw.Span{draw.Text(themes.Muted, markup.Inline(p.find.Text)+" · ")}, p.Named(keymap.FindNext, " next")...)
}

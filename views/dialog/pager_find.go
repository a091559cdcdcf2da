package dialog

import (
	"buddy/app/keymap"
	"buddy/views/edit"
	"buddy/views/markup"
	"buddy/views/pattern"
)

// pagerSlice is the number of bytes searched at once.
const pagerSlice = 1 << 20

// pagerFind is a search in a document.
type pagerFind struct {
	pattern.Pattern
	typing bool
	gen    int   // generation of the search; slices of earlier searches are ignored
	by     int   // 1 down, -1 up, 0 no search
	at     int64 // where the next slice starts or, searching up, ends
	none   bool  // there is no match in that direction
}

// findKey edits the search text.
func (p *Pager) findKey(press keymap.Press) {
	f := &p.find
	if press.Types() {
		p.findText(f.Text + press.Text)
		return
	}
	switch press.Action {
	case keymap.FindAccept:
		if f.typing = false; f.Text != "" {
			f.by, f.at = 1, p.top.off
			p.continueSearch(f.gen)
		}
	case keymap.FindClose:
		p.find = pagerFind{gen: f.gen + 1}
	case keymap.FindErase:
		if f.Text != "" {
			p.findText(edit.DropLast(f.Text))
		}
	}
}

func (p *Pager) findText(text string) {
	if len(text) <= pattern.MaxQuery {
		p.find = pagerFind{typing: true, gen: p.find.gen + 1, Pattern: pattern.New(text)}
	}
}

// seek starts a search for the next line with a match: below the top line, or above it if by is -1.
func (p *Pager) seek(by int) {
	f := &p.find
	if f.Text == "" || f.by != 0 {
		return
	}
	f.by, f.none, f.gen = by, false, f.gen+1
	f.at = p.top.off
	if by > 0 {
		f.at = p.doc.lineAt(p.top.off).next
	}
	p.continueSearch(f.gen)
}

// continueSearch searches a slice and schedules the next one if necessary.
func (p *Pager) continueSearch(gen int) {
	f := &p.find
	for p.open && f.gen == gen && f.by != 0 {
		p.searchSlice()
		if p.Later != nil && f.by != 0 {
			p.Later(func() { p.continueSearch(gen) })
			return
		}
	}
}

func (p *Pager) searchSlice() {
	f := &p.find
	overlap := int64(f.Longest())
	from, to := f.at, min(f.at+pagerSlice, p.doc.Size)
	if f.by < 0 {
		from, to = max(f.at-pagerSlice, 0), f.at
	}
	raw := make([]byte, min(to+overlap, p.doc.Size)-from)
	got, _ := p.doc.Text.ReadAt(raw, from)
	raw = raw[:got]
	found := int64(-1)
	for i, j := f.Next(raw, 0); i >= 0 && from+int64(i) < to; i, j = f.Next(raw, j) {
		if found = from + int64(i); f.by > 0 {
			break
		}
	}
	switch {
	case found >= 0:
		p.top, f.by = docPlace{off: p.doc.lineOf(found)}, 0
	case f.by > 0 && to >= p.doc.Size, f.by < 0 && from == 0:
		f.by, f.none = 0, true
	case f.by > 0:
		f.at = to
	default:
		f.at = from
	}
}

// toggleMark starts a selection of whole lines at the top line, or ends it.
func (p *Pager) toggleMark() {
	p.drag = pagerDrag{}
	if p.mark >= 0 {
		p.mark = -1
		return
	}
	p.mark = p.top.off
}

// selected returns the selected bytes: from the marked line to the top line.
func (p *Pager) selected() (from, to int64) {
	from, to = min(p.mark, p.top.off), max(p.mark, p.top.off)
	return from, p.doc.lineAt(to).next
}

func (p *Pager) selects(off int64) bool {
	return p.mark >= 0 && off >= min(p.mark, p.top.off) && off <= max(p.mark, p.top.off)
}

// maxPagerCopy limits the bytes read for a copy. It is one byte more than the limit of a copy, so that the receiver
// notices a longer text.
const maxPagerCopy = 1<<20 + 1

// CopySelection passes the selected text to OnCopy, drops the selection and reports whether there was one.
func (p *Pager) CopySelection() bool {
	if p.mark < 0 && !p.drag.on {
		return false
	}
	p.copy()
	return true
}

// copy copies the selected or visible text in readable form.
func (p *Pager) copy() {
	if p.OnCopy == nil {
		return
	}
	if p.drag.on {
		text := p.dragged()
		p.drag = pagerDrag{}
		p.OnCopy(text)
		return
	}
	from, to := p.top.off, p.top.off
	if p.mark >= 0 {
		from, to = p.selected()
	} else {
		for at, y := p.top, 0; y < p.h; y++ {
			to = p.doc.lineAt(at.off).next
			at = p.doc.after(at)
		}
	}
	w := markup.Writer{Terminal: true}
	w.Write(p.doc.read(from, int(min(to-from, maxPagerCopy))))
	w.Close()
	p.mark = -1
	p.OnCopy(string(w.Text.Bytes))
}

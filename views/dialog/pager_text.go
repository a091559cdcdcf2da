package dialog

import (
	"bytes"
	"io"

	"buddy/views/markup"
)

// Document holds a text of any size that a Pager shows. Its texts may be anybody's.
type Document struct {
	Title string
	Text  io.ReaderAt
	Size  int64
	Close func() // nil: there is nothing to close
	Prose bool   // long lines are broken between words
}

// pagerText reads a document by the window and lays out one line at a time. It keeps what
// was read and laid out last, so that moving about costs little.
type pagerText struct {
	Document
	w     int // the width of a row
	line  textLine
	from  int64 // where bytes begin
	bytes []byte
	last  docPlace // the last top row for the size of lastW×lastH
	lastW int
	lastH int
}

// docPlace names a place in a document: where its line begins, and a row or a byte of that.
type docPlace struct {
	off int64
	at  int
}

func (p docPlace) before(q docPlace) bool { return p.off < q.off || p.off == q.off && p.at < q.at }

// end returns the top row for which the last row of the document is at the bottom of h rows.
func (t *pagerText) end(h int) docPlace {
	if t.lastW != t.w || t.lastH != h {
		t.last = docPlace{off: t.Size}
		for range h {
			t.last = t.before(t.last)
		}
		t.lastW, t.lastH = t.w, h
	}
	return t.last
}

// after and before return the rows next to one; beyond the document is none.
func (t *pagerText) after(r docPlace) docPlace {
	l := t.lineAt(r.off)
	switch {
	case r.at+1 < len(l.layout.Rows):
		r.at++
	case l.next < t.Size:
		return docPlace{off: l.next}
	}
	return r
}

func (t *pagerText) before(r docPlace) docPlace {
	switch {
	case r.at > 0:
		r.at--
		return r
	case r.off == 0:
		return r
	}
	r.off = t.lineBefore(r.off)
	r.at = max(len(t.lineAt(r.off).layout.Rows)-1, 0)
	return r
}

// maxPagerLine is the most bytes of a line that are shown in one piece.
const maxPagerLine = 8 << 10

// textLine holds a line of the document, laid out.
type textLine struct {
	off, next int64 // where it begins and where the next one does
	width     int
	text      *markup.Text
	layout    markup.Layout
}

// pagerWindow is the number of bytes that are read at once around what is wanted.
const pagerWindow = 64 << 10

// read returns bytes of the document, which are good until the next call; what can't be
// read is not there.
func (t *pagerText) read(off int64, n int) []byte {
	n = int(max(min(int64(n), t.Size-off), 0))
	if off < t.from || off+int64(n) > t.from+int64(len(t.bytes)) {
		from := max(off-pagerWindow/2, 0)
		b := make([]byte, min(max(pagerWindow, off-from+int64(n)), t.Size-from))
		got, _ := t.Text.ReadAt(b, from)
		t.from, t.bytes = from, b[:got]
	}
	at := min(int(off-t.from), len(t.bytes))
	return t.bytes[at:min(at+n, len(t.bytes))]
}

// lineAt lays out the line that begins at an offset, or a piece of it.
func (t *pagerText) lineAt(off int64) *textLine {
	l := &t.line
	if l.text != nil && l.off == off && l.width == t.w {
		return l
	}
	raw := t.read(off, maxPagerLine)
	n := lineEnd(raw)
	w := markup.Writer{Terminal: true}
	if t.Prose {
		w.Text.Wrap = markup.Words
	}
	w.Write(trimEnd(raw[:n]))
	w.Close()
	*l = textLine{off: off, next: off + int64(n), width: t.w, text: &w.Text}
	if n == 0 {
		l.next = t.Size // it can't be read
	}
	l.layout.Wrap(l.text, t.w, 0)
	return l
}

// lineBefore returns where the line before an offset begins.
func (t *pagerText) lineBefore(off int64) int64 {
	from := max(off-maxPagerLine, 0)
	raw := t.read(from, int(off-from))
	if len(raw) == 0 {
		return 0
	}
	return from + int64(lineStart(raw[:len(raw)-1]))
}

// lineOf returns where the line begins in which an offset is, or the piece of it.
func (t *pagerText) lineOf(off int64) int64 {
	from := max(off-maxPagerLine, 0)
	raw := t.read(from, int(off-from))
	return from + int64(lineStart(raw))
}

// lineStart returns the offset after the last newline of raw, 0 if there is none.
func lineStart(raw []byte) int { return bytes.LastIndexByte(raw, '\n') + 1 }

// lineEnd returns the offset after the first newline of raw, or its length.
func lineEnd(raw []byte) int {
	if i := bytes.IndexByte(raw, '\n'); i >= 0 {
		return i + 1
	}
	return len(raw)
}

// trimEnd takes the line end off.
func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

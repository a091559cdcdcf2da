package dialog

import (
	"bytes"
	"io"

	"buddy/views/markup"
)

// Document is a text of any size for a Pager. It may be untrusted.
type Document struct {
	Title string
	Text  io.ReaderAt
	Size  int64
	Close func() // nil: nothing to close
	Prose bool   // long lines wrap between words
}

// pagerText reads windows of a document and lays out one line at a time. It caches the last window and line, so that
// scrolling is fast.
type pagerText struct {
	Document
	w     int // width of a row
	line  textLine
	from  int64 // offset of bytes in the document
	bytes []byte
	last  docPlace // the last top row, for the size lastW×lastH
	lastW int
	lastH int
}

// docPlace is a place in a document: the offset of a line, and a row or byte in it.
type docPlace struct {
	off int64
	at  int
}

func (p docPlace) before(q docPlace) bool { return p.off < q.off || p.off == q.off && p.at < q.at }

// end returns the top row of h rows that end with the document's last row.
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

// after and before return the next and previous row, within the document.
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

// maxPagerLine limits the bytes of a line shown in one piece.
const maxPagerLine = 8 << 10

// textLine is a line of the document, laid out.
type textLine struct {
	off, next int64 // offsets of the line and of the next one
	width     int
	text      *markup.Text
	layout    markup.Layout
}

// pagerWindow is the number of bytes read at once.
const pagerWindow = 64 << 10

// read returns bytes of the document, valid until the next call; unreadable bytes are missing.
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

// lineAt lays out the line, or the piece of a line, that starts at an offset.
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
		l.next = t.Size // unreadable
	}
	l.layout.Wrap(l.text, t.w, 0)
	return l
}

// lineBefore returns the offset of the line before an offset.
func (t *pagerText) lineBefore(off int64) int64 {
	from := max(off-maxPagerLine, 0)
	raw := t.read(from, int(off-from))
	if len(raw) == 0 {
		return 0
	}
	return from + int64(lineStart(raw[:len(raw)-1]))
}

// lineOf returns the offset of the line, or piece of a line, that contains an offset.
func (t *pagerText) lineOf(off int64) int64 {
	from := max(off-maxPagerLine, 0)
	raw := t.read(from, int(off-from))
	return from + int64(lineStart(raw))
}

// lineStart returns the offset after the last newline of raw, or 0.
func lineStart(raw []byte) int { return bytes.LastIndexByte(raw, '\n') + 1 }

// lineEnd returns the offset after the first newline of raw, or its length.
func lineEnd(raw []byte) int {
	if i := bytes.IndexByte(raw, '\n'); i >= 0 {
		return i + 1
	}
	return len(raw)
}

// trimEnd removes the line end.
func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

package markup

import (
	"bytes"
	"unicode/utf8"

	"buddy/texts"
	"buddy/texts/ansi"
	"buddy/themes"
)

// Writer converts a stream of foreign bytes to Text; runes, sequences and line ends may be split between writes. By
// default it reads text by people and models and makes all controls visible. With Terminal it reads program output:
// colours and attributes are kept, other escape sequences are removed, and text after a carriage return overwrites its
// line, as progress bars do.
type Writer struct {
	Text     Text // the text so far; read only
	Terminal bool
	Drawing  bool        // characters between SO and SI are VT100 line drawing, as captured by tmux
	Role     themes.Role // of text without its own colour

	clean cleaner
	style Style
	esc   ansi.Parser
	part  []byte // the start of an incomplete rune
	cr    bool   // the last byte was a carriage return
	drawn bool   // after SO, before SI
	line  lineState
}

// lineState is the state of a terminal's current line.
type lineState struct {
	start  int  // offset of the line in Text.Bytes
	end    int  // where writing continues; the bytes after it are older
	beyond bool // Text has bytes after end
	old    Text // the line before a carriage return
}

// maxOverwrite limits the line that a carriage return overwrites, in bytes. In a longer line, a carriage return is a
// line end.
const maxOverwrite = 4096

// Write adds p and returns the offset in Text.Bytes at which changes start.
func (w *Writer) Write(p []byte) (from int) {
	if w.clean.text == nil {
		w.clean.text = &w.Text
		w.style = w.base()
	}
	from = w.resume()
	if len(w.part) > 0 {
		p = append(w.part, p...)
		w.part = nil
	}
	p = w.keepPart(p)
	for len(p) > 0 {
		n := w.text(p, &from)
		p = p[n:]
	}
	w.pause()
	return from
}

// Close ends the stream: the bytes of an incomplete rune become U+FFFD.
func (w *Writer) Close() (from int) {
	if w.clean.text == nil {
		return 0
	}
	from = w.resume()
	if w.cr && !w.Terminal {
		w.clean.putRune('\r', w.style)
	}
	w.clean.put(w.part, w.style)
	w.part, w.cr = nil, false
	w.pause()
	return from
}

// Trim drops text from the start until about keep bytes remain, in whole lines if possible, and returns the number of
// dropped bytes.
func (w *Writer) Trim(keep int) (cut int) {
	t := &w.Text
	cut = len(t.Bytes) - keep
	if cut <= 0 {
		return 0
	}
	if n := bytes.IndexByte(t.Bytes[cut:], '\n'); n >= 0 {
		cut += n + 1
	}
	for cut < len(t.Bytes) && !utf8.RuneStart(t.Bytes[cut]) {
		cut++
	}
	t.cut(cut)
	w.line.start = max(w.line.start-cut, 0)
	w.line.end = max(w.line.end-cut, 0)
	return cut
}

func (w *Writer) base() Style { return Style{Role: w.Role} }

// keepPart keeps the start of an incomplete rune at the end of p for the next write.
func (w *Writer) keepPart(p []byte) []byte {
	whole := texts.WholeRunes(p)
	if len(whole) < len(p) {
		w.part = bytes.Clone(p[len(whole):])
	}
	return whole
}

// text handles the start of p and returns the number of bytes it consumed.
func (w *Writer) text(p []byte, from *int) int {
	if w.esc.Active() {
		return w.escape(p[0], from)
	}
	switch b := p[0]; {
	case b == '\n':
		w.cr = false
		w.newline()
		return 1
	case w.cr && !w.Terminal:
		w.cr = false
		w.clean.putRune('\r', w.style)
		return 0
	case b == '\r':
		w.cr = true
		return 1
	case b == 0x1b && w.Terminal:
		w.esc.Start()
		return 1
	case w.Drawing && (b == shiftOut || b == shiftIn):
		w.drawn = b == shiftOut
		return 1
	}
	if w.cr {
		w.cr = false
		w.goBack(from)
	}
	n := bytes.IndexAny(p, w.special())
	if n == 0 {
		n = 1
	}
	if n < 0 {
		n = len(p)
	}
	if w.drawn {
		w.clean.put(lineDrawing(p[:n]), w.style)
	} else {
		w.clean.put(p[:n], w.style)
	}
	return n
}

// special returns the bytes that are not text: line ends, carriage returns, and those that start escape sequences or
// select a character set.
func (w *Writer) special() string {
	switch {
	case w.Drawing:
		return "\n\r\x1b\x0e\x0f"
	case w.Terminal:
		return "\n\r\x1b"
	}
	return "\n\r"
}

const (
	shiftOut = 0x0e
	shiftIn  = 0x0f
)

// lineDrawing converts text in the line-drawing character set of a VT100, which replaces the characters from _ to ~.
func lineDrawing(p []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r < '_' || r > '~' {
			return r
		}
		return vt100[r-'_']
	}, p)
}

var vt100 = []rune(" ◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")

func (w *Writer) newline() {
	w.pause()
	w.Text.addString("\n", w.style)
	w.clean.last = '\n'
	w.line.start = len(w.Text.Bytes)
	w.forget()
}

// forget drops the text that a carriage return made overwritable.
func (w *Writer) forget() {
	w.line.old.truncate(0)
	w.line.beyond = false
	w.line.end = 0
}

// goBack moves the cursor to the start of the line.
func (w *Writer) goBack(from *int) {
	w.pause()
	if len(w.Text.Bytes)-w.line.start > maxOverwrite {
		w.newline()
		return
	}
	w.line.beyond = false
	w.line.old.truncate(0)
	w.line.old.addText(&w.Text, w.line.start, len(w.Text.Bytes))
	w.Text.truncate(w.line.start)
	w.clean.last = '\n'
	*from = min(*from, w.line.start)
}

// pause appends the part of the old line that is not overwritten yet, to be shown until the next write.
func (w *Writer) pause() {
	old := &w.line.old
	if w.line.beyond || len(old.Bytes) == 0 {
		return
	}
	col := Width(w.Text.Bytes[w.line.start:])
	at, skipped := 0, 0
	for at < len(old.Bytes) && skipped < col {
		n, width := Cell(old.Bytes[at:], skipped)
		at, skipped = at+n, skipped+width
	}
	w.line.end, w.line.beyond = len(w.Text.Bytes), true
	for ; skipped > col && at < len(old.Bytes); col++ {
		w.Text.addString(" ", w.base()) // the rest of a half-overwritten wide character
	}
	w.Text.addText(old, at, len(old.Bytes))
}

// resume removes the part that pause appended, and returns the offset where text continues.
func (w *Writer) resume() int {
	if w.line.beyond {
		w.Text.truncate(w.line.end)
		w.line.beyond = false
	}
	return len(w.Text.Bytes)
}

// eraseLine handles CSI K: 0 erases the rest of the line, 2 the whole line.
func (w *Writer) eraseLine(param []byte, from *int) {
	if w.cr {
		w.cr = false
		w.goBack(from)
	}
	w.forget()
	if len(param) == 1 && param[0] == '2' {
		w.Text.truncate(w.line.start)
		*from = min(*from, w.line.start)
	}
}

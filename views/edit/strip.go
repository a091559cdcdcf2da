package edit

import (
	"bytes"
	"strings"
)

// Strip returns one row of width cells around the cursor, safe for a terminal, and the column of the cursor. Line ends
// are shown as ␊; ‹ and › mark cut ends. The cost does not depend on the text.
func (e *Editor) Strip(width int) (shown string, cursor int) {
	width = max(width, 4)
	var left []glyph
	from := e.cur
	for {
		p := e.buf.left(from)
		if p == from {
			break
		}
		g := e.buf.cell(p)
		if cursor+g.width > width-2 {
			for keep := width * 3 / 4; cursor > keep && len(left) > 0; left = left[:len(left)-1] {
				cursor -= left[len(left)-1].width
			}
			left = append(left, glyph{text: "‹", width: 1})
			cursor++
			break
		}
		left = append(left, g)
		from, cursor = p, cursor+g.width
	}
	var b strings.Builder
	for i := len(left) - 1; i >= 0; i-- {
		b.WriteString(left[i].text)
	}
	at := cursor
	for to := e.cur; ; {
		p := e.buf.right(to)
		if p == to {
			return b.String(), cursor
		}
		g := e.buf.cell(to)
		if at+g.width > width-1 {
			b.WriteString("›")
			return b.String(), cursor
		}
		b.WriteString(g.text)
		to, at = p, at+g.width
	}
}

// Word returns the text between the last space before the cursor and the cursor, and the text before it.
func (e *Editor) Word() (word, before string) {
	from := e.wordStart()
	return string(e.buf.raw(from, e.cur)), string(e.buf.raw(Place{}, from))
}

func (e *Editor) wordStart() Place {
	text, col := e.here(), e.cur.col
	for col > 0 && !IsBreak(text[col-1]) {
		col--
	}
	return Place{e.cur.line, col}
}

// CompleteWord replaces the Word.
func (e *Editor) CompleteWord(text string) { e.Complete(e.wordStart(), text) }

// maxMarkedWord limits a marked word, in bytes.
const maxMarkedWord = 256

// MarkedWord returns the word that ends at the cursor if it starts with a mark such as @: the place of the mark, and
// the text after it.
func (e *Editor) MarkedWord(mark byte) (at Place, word string, ok bool) {
	text := e.here()[:e.cur.col]
	start := max(len(text)-maxMarkedWord, 0)
	i := bytes.LastIndexByte(text[start:], mark)
	if i < 0 {
		return Place{}, "", false
	}
	i += start
	after := text[i+1:]
	if bytes.ContainsAny(after, " \t") || bytes.IndexByte(after, chipMark) >= 0 {
		return Place{}, "", false
	}
	if i > 0 && !IsBreak(text[i-1]) && bytes.IndexByte([]byte("([{\"'`"), text[i-1]) < 0 {
		return Place{}, "", false // such as in ann@example.org
	}
	return Place{e.cur.line, i}, string(after), true
}

// BeforeBlank reports whether a space follows the cursor in its line.
func (e *Editor) BeforeBlank() bool {
	rest := e.here()[e.cur.col:]
	return len(rest) > 0 && isSpace(rest[0])
}

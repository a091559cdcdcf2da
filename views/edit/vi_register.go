package edit

import (
	"bytes"
	"slices"
)

// viRegister holds the text that was last deleted or yanked.
type viRegister struct {
	text  []byte
	lines bool // text is whole lines
}

// put inserts the register.
func (r *viRegister) put(e *Editor, after bool, n int) {
	if r.text == nil {
		return
	}
	n = min(n, 1+maxRepeated/(len(r.text)+1))
	if !r.lines {
		if after && e.cur.col < len(e.here()) {
			e.cur = e.buf.right(e.cur)
		}
		e.change(e.cur, e.cur, bytes.Repeat(r.text, n))
		if e.cur.col > 0 {
			e.cur = e.buf.left(e.cur)
		}
		return
	}
	text := bytes.Repeat(append(slices.Clone(r.text), '\n'), n)
	line := e.cur.line
	if after {
		line++
	}
	at := Place{line, 0}
	if line == len(e.buf.lines) {
		at = e.buf.end()
		text = append([]byte{'\n'}, text[:len(text)-1]...)
	}
	e.change(at, at, text)
	e.cur = Place{line, 0}
}

// putOver replaces the selection by the text of the register, which then holds the replaced text.
func (r *viRegister) putOver(e *Editor, from, to Place, lines bool) {
	if r.text == nil {
		return
	}
	text, whole := r.text, r.lines
	r.text, r.lines = e.buf.raw(from, to), lines
	if whole && !lines {
		text = append(append([]byte("\n"), text...), '\n')
	}
	e.change(from, to, text)
	e.cur = from
	if !whole && !lines {
		if end := endOf(from, text); from.less(end) {
			e.cur = e.buf.left(e.buf.snap(end))
		}
	}
}

package edit

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"buddy/app/keymap"
)

// viSelection is what is selected in visual mode: from the anchor to the cursor, both
// included, or the lines that these are on.
type viSelection struct {
	selects selects
	anchor  Place
}

// selects is what a selection is made of.
type selects uint8

const (
	nothingSelected selects = iota
	byChars
	byLines
)

// region is how large a selection was, to work on as much elsewhere.
type region struct {
	selects selects
	lines   int // after the first one
	chars   int // of the last line
}

func (v *Vi) startSelecting(e *Editor, a keymap.Action) {
	v.anchor, v.selects = e.cur, byChars
	if a == keymap.ViVisualLines {
		v.selects = byLines
	}
}

// endSelecting selects nothing and reports whether there was something.
func (v *Vi) endSelecting(e *Editor) bool {
	was := v.selects != nothingSelected
	if v.selects = nothingSelected; was {
		e.log.endGroup()
	}
	return was
}

// selection is the text that is selected.
func (v *Vi) selection(e *Editor) (from, to Place) {
	if v.selects == nothingSelected {
		return Place{}, Place{}
	}
	from, to = v.anchor, e.cur
	if to.less(from) {
		from, to = to, from
	}
	if v.selects == byLines {
		return Place{from.line, 0}, Place{to.line, len(e.buf.lines[to.line].text)}
	}
	return from, e.buf.right(to)
}

// onSelection takes what works on a selection, or changes of which kind it is. Anything else
// but a motion means nothing.
func (v *Vi) onSelection(e *Editor, a keymap.Action) bool {
	s, isShort := short[a]
	switch {
	case isShort:
		if a != keymap.ViDeleteChar && a != keymap.ViSubstitute {
			v.selects = byLines
		}
		v.operate(e, s.op, "")
		return true
	}
	switch a {
	case keymap.ViDelete, keymap.ViChange, keymap.ViYank,
		keymap.ViCase, keymap.ViJoin, keymap.ViUndo, keymap.ViPut, keymap.ViPutBefore:
		v.operate(e, a, "")
	case keymap.ViReplace:
		v.wait = a
	case keymap.ViOpenBelow:
		v.anchor, e.cur = e.cur, v.anchor
	case keymap.ViVisual, keymap.ViVisualLines:
		kind := byChars
		if a == keymap.ViVisualLines {
			kind = byLines
		}
		if v.selects == kind {
			kind = nothingSelected
		}
		v.selects = kind
	case keymap.ViInsertStart, keymap.ViAppendEnd, keymap.ViOpenAbove, keymap.ViOvertype, keymap.ViRedo, keymap.ViRepeatChange:
	default:
		return false
	}
	return true
}

// operate does something with what is selected, which then is so no longer.
func (v *Vi) operate(e *Editor, a keymap.Action, text string) {
	if !v.replaying {
		v.now = []viStep{{action: a, text: []byte(text), region: v.region(e)}}
	}
	from, to := v.selection(e)
	lines := v.selects == byLines
	v.selects, v.again, v.opens = nothingSelected, 1, false
	switch a {
	case keymap.ViReplace:
		v.rewrite(e, from, to, func(char []byte) []byte {
			if len(char) == 1 && char[0] == '\n' {
				return char
			}
			return []byte(text)
		})
	case keymap.ViCase:
		v.rewrite(e, from, to, otherCase)
	case keymap.ViUndo:
		v.rewrite(e, from, to, lowerCase)
	case keymap.ViJoin:
		v.join(e, from.line, max(to.line, from.line+1))
	case keymap.ViPut, keymap.ViPutBefore:
		v.putOver(e, from, to, lines)
	default:
		if v.op = a; lines {
			v.overLines(e, from.line, to.line)
		} else {
			v.overText(e, from, to)
		}
	}
}

// rewrite replaces every character between two places.
func (v *Vi) rewrite(e *Editor, from, to Place, with func(char []byte) []byte) {
	raw := e.buf.raw(from, to)
	var out []byte
	for i := 0; i < len(raw); {
		end := i + 1
		if raw[i] != '\n' {
			end = clusterEnd(raw, i)
		}
		out = append(out, with(raw[i:end])...)
		i = end
	}
	if !bytes.Equal(raw, out) {
		e.change(from, to, out)
	}
	e.cur = from
}

// putOver puts what was deleted or copied last in the place of what is selected, which then
// is what was deleted last.
func (v *Vi) putOver(e *Editor, from, to Place, lines bool) {
	if v.reg == nil {
		return
	}
	text, whole := v.reg, v.lines
	v.reg, v.lines = e.buf.raw(from, to), lines
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

// region measures what is selected.
func (v *Vi) region(e *Editor) *region {
	from, to := v.anchor, e.cur
	if to.less(from) {
		from, to = to, from
	}
	r := &region{selects: v.selects, lines: to.line - from.line}
	at := Place{to.line, 0}
	if r.lines == 0 {
		at = from
	}
	for ; at.less(to); at = e.buf.right(at) {
		r.chars++
	}
	return r
}

// selectRegion selects as much from the cursor on.
func (v *Vi) selectRegion(e *Editor, r *region) {
	v.selects, v.anchor = r.selects, e.cur
	at := e.cur
	if r.lines > 0 {
		at = Place{min(at.line+r.lines, len(e.buf.lines)-1), 0}
	}
	for i := 0; i < r.chars && at.col < len(e.buf.lines[at.line].text); i++ {
		at = e.buf.right(at)
	}
	e.cur = at
}

// otherCase makes capitals small and small letters capitals; what stands for a paste stays.
func otherCase(raw []byte) []byte {
	return mapped(raw, func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	})
}

func lowerCase(raw []byte) []byte { return mapped(raw, unicode.ToLower) }

func mapped(raw []byte, f func(rune) rune) []byte {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		n := chipSize
		if raw[i] != chipMark {
			var r rune
			r, n = utf8.DecodeRune(raw[i:])
			out = utf8.AppendRune(out, f(r))
		} else {
			out = append(out, raw[i:i+n]...)
		}
		i += n
	}
	return out
}

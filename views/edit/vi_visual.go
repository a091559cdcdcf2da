package edit

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"buddy/app/keymap"
)

// viSelection is the selection in visual mode: from the anchor to the cursor, inclusive, or all lines between them.
type viSelection struct {
	kind   selects
	anchor Place
}

// selects is the unit of a selection.
type selects uint8

const (
	nothingSelected selects = iota
	byChars
	byLines
)

// region is the extent of a selection, for repeating an action elsewhere.
type region struct {
	kind  selects
	lines int // in addition to the first line
	chars int // of the last line
}

// kindOf maps the keys that start a selection to its unit.
var kindOf = map[keymap.Action]selects{keymap.ViVisual: byChars, keymap.ViVisualLines: byLines}

// end drops the selection and reports whether there was one.
func (s *viSelection) end(e *Editor) bool {
	was := s.kind != nothingSelected
	if s.kind = nothingSelected; was {
		e.log.endGroup()
	}
	return was
}

// bounds returns the ends of the selection.
func (s *viSelection) bounds(e *Editor) (from, to Place) {
	if s.kind == nothingSelected {
		return Place{}, Place{}
	}
	from, to = s.anchor, e.cur
	if to.less(from) {
		from, to = to, from
	}
	if s.kind == byLines {
		return Place{from.line, 0}, Place{to.line, len(e.buf.lines[to.line].text)}
	}
	return from, e.buf.right(to)
}

// onSelection handles actions on a selection and changes of its unit. It ignores other actions except motions.
func (v *Vi) onSelection(e *Editor, a keymap.Action) bool {
	s, isShort := short[a]
	if isShort {
		if a != keymap.ViDeleteChar && a != keymap.ViSubstitute {
			v.sel.kind = byLines
		}
		v.operate(e, s.op, "")
		return true
	}
	switch a {
	case keymap.ViDelete, keymap.ViChange, keymap.ViYank,
		keymap.ViCase, keymap.ViJoin, keymap.ViUndo, keymap.ViPut, keymap.ViPutBefore:
		v.operate(e, a, "")
	case keymap.ViReplace:
		v.cmd.wait = a
	case keymap.ViOpenBelow:
		v.sel.anchor, e.cur = e.cur, v.sel.anchor
	case keymap.ViVisual, keymap.ViVisualLines:
		if v.sel.kind == kindOf[a] {
			v.sel.kind = nothingSelected
		} else {
			v.sel.kind = kindOf[a]
		}
	case keymap.ViInsertStart, keymap.ViAppendEnd, keymap.ViOpenAbove, keymap.ViOvertype, keymap.ViRedo, keymap.ViRepeatChange:
	default:
		return false
	}
	return true
}

// operate applies an action to the selection and drops it.
func (v *Vi) operate(e *Editor, a keymap.Action, text string) {
	if !v.rep.replaying {
		v.rep.now = []viStep{{action: a, text: []byte(text), region: v.sel.region(e)}}
	}
	from, to := v.sel.bounds(e)
	lines := v.sel.kind == byLines
	v.sel.kind, v.ins.again, v.ins.opens = nothingSelected, 1, false
	switch a {
	case keymap.ViReplace:
		rewrite(e, from, to, func(char []byte) []byte {
			if len(char) == 1 && char[0] == '\n' {
				return char
			}
			return []byte(text)
		})
	case keymap.ViCase:
		rewrite(e, from, to, otherCase)
	case keymap.ViUndo:
		rewrite(e, from, to, lowerCase)
	case keymap.ViJoin:
		join(e, from.line, max(to.line, from.line+1))
	case keymap.ViPut, keymap.ViPutBefore:
		v.reg.putOver(e, from, to, lines)
	default:
		if v.cmd.op = a; lines {
			v.overLines(e, from.line, to.line)
		} else {
			v.overText(e, from, to)
		}
	}
}

// rewrite replaces every character between two places.
func rewrite(e *Editor, from, to Place, with func(char []byte) []byte) {
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

// region measures the selection.
func (s *viSelection) region(e *Editor) *region {
	from, to := s.anchor, e.cur
	if to.less(from) {
		from, to = to, from
	}
	r := &region{kind: s.kind, lines: to.line - from.line}
	at := Place{to.line, 0}
	if r.lines == 0 {
		at = from
	}
	for ; at.less(to); at = e.buf.right(at) {
		r.chars++
	}
	return r
}

// selectRegion selects the extent of a region from the cursor on.
func (s *viSelection) selectRegion(e *Editor, r *region) {
	s.kind, s.anchor = r.kind, e.cur
	at := e.cur
	if r.lines > 0 {
		at = Place{min(at.line+r.lines, len(e.buf.lines)-1), 0}
	}
	for i := 0; i < r.chars && at.col < len(e.buf.lines[at.line].text); i++ {
		at = e.buf.right(at)
	}
	e.cur = at
}

// otherCase swaps upper and lower case, outside of chips.
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

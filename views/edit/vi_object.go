package edit

import "bytes"

// textObject is the extent of a text object: the text between two places, or their whole lines.
type textObject struct {
	from, to Place
	lines    bool
}

// applyObject applies the operator to a text object, or selects it.
func (v *Vi) applyObject(e *Editor, around bool, name string) {
	o, ok := objectAt(e.buf, e.cur, name, around, v.cmd.n())
	switch {
	case !ok:
	case v.sel.kind != nothingSelected && o.lines:
		v.sel.kind, v.sel.anchor, e.cur = byLines, o.from, o.to
	case v.sel.kind != nothingSelected:
		if o.from != o.to {
			v.sel.kind, v.sel.anchor, e.cur = byChars, o.from, e.buf.left(o.to)
		}
	case o.lines:
		v.overLines(e, o.from.line, o.to.line)
	default:
		v.ins.again = 1
		v.overText(e, o.from, o.to)
	}
}

// objectAt finds a text object by name at a place. around includes the quotes, brackets or spaces around it. n is the
// number of words, paragraphs or bracket levels.
func objectAt(b *buffer, at Place, name string, around bool, n int) (textObject, bool) {
	switch name {
	case "w":
		return wordObject(b, at, classAt, around, n), true
	case "W":
		return wordObject(b, at, bigClassAt, around, n), true
	case "p":
		return paragraph(b, at, around, n), true
	case `"`, "'", "`":
		return quoted(b, at, name[0], around)
	case "b":
		name = "("
	case "B":
		name = "{"
	}
	if len(name) == 1 && opening[name[0]] != 0 {
		name = string(opening[name[0]])
	}
	if len(name) == 1 && closing[name[0]] != 0 {
		return bracketed(b, at, name[0], around, n)
	}
	return textObject{}, false
}

// wordObject returns the word at a place, or the spaces between two words. around adds the spaces after it, or else
// before it.
func wordObject(b *buffer, at Place, of classOf, around bool, n int) textObject {
	end := len(b.lines[at.line].text)
	o := textObject{from: at, to: at}
	for o.from.col > 0 && of(b, b.left(o.from)) == of(b, at) {
		o.from = b.left(o.from)
	}
	pass := func(p Place) Place {
		for is := of(b, p); p.col < end && of(b, p) == is; {
			p = b.right(p)
		}
		return p
	}
	for range n {
		o.to = pass(o.to)
		if around {
			blanks := of(b, Place{o.to.line, max(o.to.col-1, 0)}) == blank
			if o.to.col < end && (blanks || of(b, o.to) == blank) {
				o.to = pass(o.to)
			} else if n == 1 && !blanks {
				for o.from.col > 0 && of(b, b.left(o.from)) == blank {
					o.from = b.left(o.from)
				}
			}
		}
	}
	return o
}

// paragraph returns the consecutive nonempty lines around a place or, on an empty line, the consecutive empty ones.
// around adds the empty lines after it, or else before it.
func paragraph(b *buffer, at Place, around bool, n int) textObject {
	last := len(b.lines) - 1
	empty := func(i int) bool { return len(bytes.TrimSpace(b.lines[i].text)) == 0 }
	first, end := at.line, at.line
	for first > 0 && empty(first-1) == empty(at.line) {
		first--
	}
	pass := func(i int) int {
		for i < last && empty(i+1) == empty(i) {
			i++
		}
		return i
	}
	end = pass(end)
	for i := 1; i < n && end < last; i++ {
		end = pass(end + 1)
	}
	switch {
	case !around:
	case end < last:
		end = pass(end + 1)
	default:
		for !empty(first) && first > 0 && empty(first-1) {
			first--
		}
	}
	return textObject{Place{first, 0}, Place{end, len(b.lines[end].text)}, true}
}

// quoted returns the text in quotes in the line: around the place, or the next one. around adds the spaces after it, or
// else before it.
func quoted(b *buffer, at Place, quote byte, around bool) (textObject, bool) {
	text := b.lines[at.line].text
	open := -1
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && open >= 0:
			i++
		case text[i] != quote:
		case open < 0:
			open = i
		case i < at.col:
			open = -1
		default:
			from, to := open+1, i
			if around {
				from, to = open, i+1
				rest := len(text) - len(bytes.TrimLeft(text[to:], " \t"))
				if rest == to {
					from = len(bytes.TrimRight(text[:from], " \t"))
				}
				to = rest
			}
			return textObject{from: Place{at.line, from}, to: Place{at.line, to}}, true
		}
	}
	return textObject{}, false
}

// bracketed returns the text in brackets around a place, n levels out. If the brackets are on lines of their own, the
// object consists of whole lines.
func bracketed(b *buffer, at Place, open byte, around bool, n int) (textObject, bool) {
	from := at
	if text := b.lines[at.line].text; from.col >= len(text) || text[from.col] != open {
		n++ // the place is not on the bracket
	}
	for range n - 1 {
		var ok bool
		if from, ok = partner(b, from, closing[open], open, -1); !ok {
			return textObject{}, false
		}
	}
	to, ok := partner(b, from, open, closing[open], 1)
	if !ok {
		return textObject{}, false
	}
	o := textObject{from: Place{from.line, from.col + 1}, to: to}
	switch {
	case around:
		o.from, o.to = from, Place{to.line, to.col + 1}
	case to.line > from.line+1 && o.from.col == len(b.lines[from.line].text) && b.indent(to.line) >= to.col:
		o = textObject{Place{from.line + 1, 0}, Place{to.line - 1, len(b.lines[to.line-1].text)}, true}
	}
	return o, true
}

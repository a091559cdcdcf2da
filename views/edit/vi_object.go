package edit

import "bytes"

// textObject is what the name of a text object stands for: the text between two places, or their whole lines.
type textObject struct {
	from, to Place
	lines    bool
}

// takeObject works on the text object of a name, or selects it.
func (v *Vi) takeObject(e *Editor, around bool, name string) {
	o, ok := e.object(name, around, v.n())
	switch {
	case !ok:
	case v.selects != nothingSelected && o.lines:
		v.selects, v.anchor, e.cur = byLines, o.from, o.to
	case v.selects != nothingSelected:
		if o.from != o.to {
			v.selects, v.anchor, e.cur = byChars, o.from, e.left(o.to)
		}
	case o.lines:
		v.overLines(e, o.from.line, o.to.line)
	default:
		v.again = 1
		v.overText(e, o.from, o.to)
	}
}

// object finds the text object of a name at the cursor. around takes what is around it along:
// quotes, brackets, blanks. n words or paragraphs, or the brackets n levels out.
func (e *Editor) object(name string, around bool, n int) (textObject, bool) {
	switch name {
	case "w":
		return e.wordObject((*Editor).class, around, n), true
	case "W":
		return e.wordObject((*Editor).bigClass, around, n), true
	case "p":
		return e.paragraph(around, n), true
	case `"`, "'", "`":
		return e.quoted(name[0], around)
	case "b":
		name = "("
	case "B":
		name = "{"
	}
	if len(name) == 1 && opening[name[0]] != 0 {
		name = string(opening[name[0]])
	}
	if len(name) == 1 && closing[name[0]] != 0 {
		return e.bracketed(name[0], around, n)
	}
	return textObject{}, false
}

// wordObject is the word at the cursor, or the blanks between two. Around it are the blanks
// that follow, else those before it.
func (e *Editor) wordObject(of func(*Editor, Place) class, around bool, n int) textObject {
	end := len(e.here().text)
	o := textObject{from: e.cur, to: e.cur}
	for o.from.col > 0 && of(e, e.left(o.from)) == of(e, e.cur) {
		o.from = e.left(o.from)
	}
	pass := func(p Place) Place {
		for is := of(e, p); p.col < end && of(e, p) == is; {
			p = e.right(p)
		}
		return p
	}
	for range n {
		o.to = pass(o.to)
		if around {
			blanks := of(e, Place{o.to.line, max(o.to.col-1, 0)}) == blank
			if o.to.col < end && (blanks || of(e, o.to) == blank) {
				o.to = pass(o.to)
			} else if n == 1 && !blanks {
				for o.from.col > 0 && of(e, e.left(o.from)) == blank {
					o.from = e.left(o.from)
				}
			}
		}
	}
	return o
}

// paragraph is the lines around the cursor up to an empty one, or the empty ones. Around it
// are the empty ones that follow, else those before it.
func (e *Editor) paragraph(around bool, n int) textObject {
	last := len(e.lines) - 1
	empty := func(i int) bool { return len(bytes.TrimSpace(e.lines[i].text)) == 0 }
	first, end := e.cur.line, e.cur.line
	for first > 0 && empty(first-1) == empty(e.cur.line) {
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
	return textObject{Place{first, 0}, Place{end, len(e.lines[end].text)}, true}
}

// quoted is what is between quotes in the line: those around the cursor, or the next ones.
// Around them are the blanks that follow, else those before.
func (e *Editor) quoted(quote byte, around bool) (textObject, bool) {
	text := e.here().text
	open := -1
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && open >= 0:
			i++
		case text[i] != quote:
		case open < 0:
			open = i
		case i < e.cur.col:
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
			return textObject{from: Place{e.cur.line, from}, to: Place{e.cur.line, to}}, true
		}
	}
	return textObject{}, false
}

// bracketed is what is between the brackets around the cursor, n levels out. Brackets on
// lines of their own have whole lines between them.
func (e *Editor) bracketed(open byte, around bool, n int) (textObject, bool) {
	from := e.cur
	if text := e.here().text; from.col >= len(text) || text[from.col] != open {
		n++ // it is not on the bracket
	}
	for range n - 1 {
		var ok bool
		if from, ok = e.partner(from, closing[open], open, -1); !ok {
			return textObject{}, false
		}
	}
	to, ok := e.partner(from, open, closing[open], 1)
	if !ok {
		return textObject{}, false
	}
	o := textObject{from: Place{from.line, from.col + 1}, to: to}
	switch {
	case around:
		o.from, o.to = from, Place{to.line, to.col + 1}
	case to.line > from.line+1 && o.from.col == len(e.lines[from.line].text) && e.indent(to.line) >= to.col:
		o = textObject{Place{from.line + 1, 0}, Place{to.line - 1, len(e.lines[to.line-1].text)}, true}
	}
	return o, true
}

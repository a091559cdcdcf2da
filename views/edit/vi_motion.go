package edit

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"buddy/app/keymap"
)

// motion moves the cursor to the target of a motion, or applies the operator up to there.
func (v *Vi) motion(e *Editor, a keymap.Action) {
	switch a {
	case keymap.ViFind, keymap.ViTill, keymap.ViFindBack, keymap.ViTillBack, keymap.ViTop:
		v.cmd.wait = a
		return
	case keymap.ViSeekAgain, keymap.ViSeekBack:
		if v.sought != "" {
			v.seek(e, direction(v.sought, a), true)
		}
		return
	case keymap.ViBottom:
		v.toLine(e, len(e.buf.lines)-1)
		return
	case keymap.ViUp, keymap.ViDown:
		v.vertical(e, a == keymap.ViDown)
		return
	case keymap.ViMatch:
		if to, ok := bracketMatch(e.buf, e.cur); ok {
			v.upToMatch(e, to)
		}
		return
	}
	if v.cmd.op == keymap.ViChange && classAt(e.buf, e.cur) != blank { // as vi does
		switch a {
		case keymap.ViWord:
			a = keymap.ViWordEnd
		case keymap.ViBigWord:
			a = keymap.ViBigEnd
		}
	}
	to, inclusive, ok := v.cmd.target(e, a)
	if ok {
		v.upTo(e, to, inclusive)
	}
}

// upToMatch calls upTo for the matching bracket. The operator includes both brackets, in either direction.
func (v *Vi) upToMatch(e *Editor, to Place) {
	if v.cmd.op != "" && to.less(e.cur) {
		v.overText(e, to, e.buf.right(e.cur))
		return
	}
	v.upTo(e, to, true)
}

// vertical moves by rows, or applies the operator to lines.
func (v *Vi) vertical(e *Editor, down bool) {
	by := v.cmd.n()
	if !down {
		by = -by
	}
	if v.cmd.op != "" {
		v.overLines(e, min(e.cur.line, e.cur.line+by), max(e.cur.line, e.cur.line+by))
		return
	}
	e.last = e.before // keeps the column for vertical moves
	for range v.cmd.n() {
		if down && !e.Down() || !down && !e.Up() {
			return
		}
	}
}

// toLine goes to the line whose number was typed as the count or, without a count, to the given line. An operator
// applies to the lines up to there.
func (v *Vi) toLine(e *Editor, line int) {
	if v.cmd.counted() {
		line = min(v.cmd.n(), len(e.buf.lines)) - 1
	}
	if v.cmd.op != "" {
		v.overLines(e, min(e.cur.line, line), max(e.cur.line, line))
		return
	}
	e.cur = Place{line, e.buf.indent(line)}
}

// direction returns the search that repeats the last one, in the same or the opposite direction.
func direction(sought, a keymap.Action) keymap.Action {
	if a == keymap.ViSeekAgain {
		return sought
	}
	return map[keymap.Action]keymap.Action{
		keymap.ViFind: keymap.ViFindBack, keymap.ViFindBack: keymap.ViFind,
		keymap.ViTill: keymap.ViTillBack, keymap.ViTillBack: keymap.ViTill,
	}[sought]
}

// target returns the target of a motion. An inclusive motion includes the character at the target.
func (p *viPending) target(e *Editor, a keymap.Action) (to Place, inclusive, ok bool) {
	to = e.cur
	end := len(e.here())
	switch a {
	case keymap.ViLineStart:
		to.col = 0
	case keymap.ViFirst:
		to.col = e.buf.indent(to.line)
	case keymap.ViLineEnd:
		to = Place{min(to.line+p.n(), len(e.buf.lines)) - 1, 0}
		to.col = len(e.buf.lines[to.line].text)
	default:
		step, ok := steps[a]
		if !ok {
			return to, false, false
		}
		for range p.n() {
			next := step(e.buf, to)
			if next == to {
				break
			}
			to = next
		}
		if (a == keymap.ViWord || a == keymap.ViBigWord) && p.op != "" && to.line > e.cur.line {
			to = Place{e.cur.line, end} // not beyond the end of the line
		}
	}
	return to, a == keymap.ViWordEnd || a == keymap.ViBigEnd, true
}

// steps maps the motions that a count repeats.
var steps = map[keymap.Action]func(*buffer, Place) Place{
	keymap.ViLeft: func(b *buffer, p Place) Place {
		if p.col > 0 {
			return b.left(p)
		}
		return p
	},
	keymap.ViRight: func(b *buffer, p Place) Place {
		if p.col < len(b.lines[p.line].text) {
			return b.right(p)
		}
		return p
	},
	keymap.ViWord:        func(b *buffer, p Place) Place { return nextWord(b, p, classAt) },
	keymap.ViWordBack:    func(b *buffer, p Place) Place { return wordBack(b, p, classAt) },
	keymap.ViWordEnd:     func(b *buffer, p Place) Place { return wordEnd(b, p, classAt) },
	keymap.ViBigWord:     func(b *buffer, p Place) Place { return nextWord(b, p, bigClassAt) },
	keymap.ViBigWordBack: func(b *buffer, p Place) Place { return wordBack(b, p, bigClassAt) },
	keymap.ViBigEnd:      func(b *buffer, p Place) Place { return wordEnd(b, p, bigClassAt) },
}

// seek goes to the next occurrence of a character in the line. If again is set, a till motion skips an occurrence next
// to the cursor.
func (v *Vi) seek(e *Editor, a keymap.Action, again bool) {
	back := a == keymap.ViFindBack || a == keymap.ViTillBack
	till := a == keymap.ViTill || a == keymap.ViTillBack
	text, at := e.here(), e.cur.col
	for i := range v.cmd.n() {
		skip := till && again && i == 0
		if back {
			at = lastPlace(text, []byte(v.char), at, skip)
		} else {
			at = nextPlace(text, []byte(v.char), at, skip)
		}
		if at < 0 {
			return
		}
	}
	to := Place{e.cur.line, at}
	switch {
	case till && back:
		to = e.buf.right(to)
	case till:
		to = e.buf.left(to)
	}
	v.upTo(e, to, !back)
}

// nextPlace returns the offset of the first occurrence of char after at, or -1. skip ignores one next to at.
func nextPlace(text, char []byte, at int, skip bool) int {
	from := at
	if at < len(text) {
		from = clusterEnd(text, at)
	}
	if skip && bytes.HasPrefix(text[from:], char) {
		from += len(char)
	}
	i := bytes.Index(text[from:], char)
	if i < 0 {
		return -1
	}
	return from + i
}

// lastPlace is nextPlace in the opposite direction.
func lastPlace(text, char []byte, at int, skip bool) int {
	if skip && bytes.HasSuffix(text[:at], char) {
		at -= len(char)
	}
	return bytes.LastIndex(text[:at], char)
}

// bracketMatch returns the bracket that matches the first one at or after a place in its line.
func bracketMatch(b *buffer, p Place) (Place, bool) {
	text := b.lines[p.line].text
	i := bytes.IndexAny(text[p.col:], "()[]{}")
	if i < 0 {
		return p, false
	}
	p.col += i
	switch char := text[p.col]; char {
	case '(', '[', '{':
		return partner(b, p, char, closing[char], 1)
	default:
		return partner(b, p, char, opening[char], -1)
	}
}

var (
	closing = map[byte]byte{'(': ')', '[': ']', '{': '}', '<': '>'}
	opening = map[byte]byte{')': '(', ']': '[', '}': '{', '>': '<'}
)

// partner returns the next unmatched bracket want after a place or, if step is -1, before it. Pairs of like and want in
// between are skipped, and the character at the place is ignored.
func partner(b *buffer, p Place, like, want byte, step int) (Place, bool) {
	depth := 0
	for {
		p.col += step
		for p.col < 0 || p.col >= len(b.lines[p.line].text) {
			p.line += step
			if p.line < 0 || p.line >= len(b.lines) {
				return p, false
			}
			if p.col = 0; step < 0 {
				p.col = len(b.lines[p.line].text) - 1
			}
		}
		switch b.lines[p.line].text[p.col] {
		case want:
			if depth == 0 {
				return p, true
			}
			depth--
		case like:
			depth++
		}
	}
}

// class is the kind of a character.
type class uint8

const (
	blank class = iota // or the end of a line
	ofWord
	ofSigns
)

// classOf returns the class of the character at a place: classAt or bigClassAt.
type classOf func(*buffer, Place) class

func classAt(b *buffer, p Place) class {
	text := b.lines[p.line].text
	switch {
	case p.col >= len(text):
		return blank
	case b.inWord(p):
		return ofWord
	}
	if r, _ := utf8.DecodeRune(text[p.col:]); unicode.IsSpace(r) {
		return blank
	}
	return ofSigns
}

// bigClassAt is classAt for vi's WORDs, which only spaces separate.
func bigClassAt(b *buffer, p Place) class {
	if classAt(b, p) == blank {
		return blank
	}
	return ofWord
}

// nextWord returns the start of the next word; an empty line is a word.
func nextWord(b *buffer, p Place, of classOf) Place {
	end := b.end()
	for was := of(b, p); was != blank && p != end && of(b, p) == was; {
		p = b.right(p)
	}
	for p != end && of(b, p) == blank {
		line := p.line
		if p = b.right(p); p.line != line && len(b.lines[p.line].text) == 0 {
			break
		}
	}
	return p
}

// wordBack returns the start of the present or previous word.
func wordBack(b *buffer, p Place, of classOf) Place {
	p = b.left(p)
	for p != (Place{}) && of(b, p) == blank {
		p = b.left(p)
	}
	for is := of(b, p); p.col > 0 && of(b, b.left(p)) == is; {
		p = b.left(p)
	}
	return p
}

// wordEnd returns the last character of the present or next word.
func wordEnd(b *buffer, p Place, of classOf) Place {
	end := b.end()
	p = b.right(p)
	for p != end && of(b, p) == blank {
		p = b.right(p)
	}
	is := of(b, p)
	for next := b.right(p); p != end && next.line == p.line && of(b, next) == is; next = b.right(p) {
		p = next
	}
	return p
}

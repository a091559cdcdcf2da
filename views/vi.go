package views

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"buddy/app/keymap"
)

// vi are the keys of vi over an editor: modes, operators with motions, counts. It takes
// actions of the scope Vi, so its keys are bound like all others. The zero value is off.
type vi struct {
	on     bool
	normal bool // else text is typed
	count  int  // typed before what comes next; 0 = none
	times  int  // typed before the operator; 0 = none
	op     keymap.Action
	wait   keymap.Action // waits for a character
	sought keymap.Action // of the last search in the line
	char   string        // that it was for
	reg    []byte        // what was deleted or yanked last
	lines  bool          // reg is whole lines
}

const maxCount = 9999

// mode is the name of the mode.
func (v *vi) mode() string {
	switch {
	case !v.on:
		return ""
	case v.normal:
		return "NORMAL"
	}
	return "INSERT"
}

// reset forgets what was typed of a command.
func (v *vi) reset() { v.count, v.times, v.op, v.wait = 0, 0, "", "" }

// insert goes to insert mode.
func (v *vi) insert() {
	v.reset()
	v.normal = false
}

// leave goes to normal mode, where the cursor stands on a character.
func (v *vi) leave(e *Editor) {
	v.reset()
	v.normal = true
	if e.cur.col > 0 {
		e.cur = e.left(e.cur)
	}
}

// digit takes a digit of a count and reports whether it is one: 0 alone is a motion.
func (v *vi) digit(text string) bool {
	if v.wait != "" || len(text) != 1 || text[0] < '0' || text[0] > '9' || text == "0" && v.count == 0 {
		return false
	}
	v.count = min(v.count*10+int(text[0]-'0'), maxCount)
	return true
}

// do takes an action, or the character that a command waits for.
func (v *vi) do(e *Editor, a keymap.Action, text string) {
	e.before, e.last = e.last, nothing
	switch {
	case v.wait != "":
		v.given(e, text)
	case v.operator(e, a):
		return
	case v.editing(e, a):
	default:
		v.motion(e, a)
	}
	if v.wait == "" {
		v.settle(e)
	}
}

// settle ends a command: the cursor is on a character again.
func (v *vi) settle(e *Editor) {
	v.reset()
	if v.normal && e.cur.col > 0 && e.cur.col >= len(e.here().text) {
		e.cur = e.left(e.cur)
	}
}

// n is how often what comes is done.
func (v *vi) n() int { return max(1, v.count) * max(1, v.times) }

// operator takes d, c and y. Twice they are for lines.
func (v *vi) operator(e *Editor, a keymap.Action) bool {
	switch a {
	case keymap.ViDelete, keymap.ViChange, keymap.ViYank:
	default:
		return false
	}
	switch v.op {
	case "":
		v.op, v.times, v.count = a, v.count, 0
	case a:
		v.overLines(e, e.cur.line, e.cur.line+v.n()-1)
		v.settle(e)
	default:
		v.settle(e)
	}
	return true
}

// given takes the character that a command waited for.
func (v *vi) given(e *Editor, text string) {
	a := v.wait
	v.wait = ""
	switch {
	case text == "":
	case a == keymap.ViReplace:
		v.replace(e, text)
	default:
		v.sought, v.char = a, text
		v.seek(e, a, false)
	}
}

func (v *vi) replace(e *Editor, text string) {
	end := e.cur
	for range v.n() {
		if end.col >= len(e.here().text) {
			return // there are not so many
		}
		end = e.right(end)
	}
	at := e.cur
	e.change(at, end, bytes.Repeat([]byte(text), v.n()))
	e.cur = e.left(e.cur)
}

// motion moves the cursor, or lets the operator work up to there.
func (v *vi) motion(e *Editor, a keymap.Action) {
	switch a {
	case keymap.ViFind, keymap.ViTill, keymap.ViFindBack, keymap.ViTillBack:
		v.wait = a
		return
	case keymap.ViSeekAgain, keymap.ViSeekBack:
		if v.sought != "" {
			v.seek(e, direction(v.sought, a), true)
		}
		return
	case keymap.ViUp, keymap.ViDown:
		by := v.n()
		if a == keymap.ViUp {
			by = -by
		}
		if v.op != "" {
			v.overLines(e, min(e.cur.line, e.cur.line+by), max(e.cur.line, e.cur.line+by))
		}
		return
	}
	if v.op == keymap.ViChange && a == keymap.ViWord && e.class(e.cur) != blank {
		a = keymap.ViWordEnd // as vi does it
	}
	to, inclusive, ok := v.target(e, a)
	if ok {
		v.upTo(e, to, inclusive)
	}
}

// direction is the search that repeats another one, in its direction or the other.
func direction(sought, a keymap.Action) keymap.Action {
	if a == keymap.ViSeekAgain {
		return sought
	}
	return map[keymap.Action]keymap.Action{
		keymap.ViFind: keymap.ViFindBack, keymap.ViFindBack: keymap.ViFind,
		keymap.ViTill: keymap.ViTillBack, keymap.ViTillBack: keymap.ViTill,
	}[sought]
}

// target is where a motion leads. Inclusive ones take the character there along.
func (v *vi) target(e *Editor, a keymap.Action) (to place, inclusive, ok bool) {
	to = e.cur
	end := len(e.here().text)
	switch a {
	case keymap.ViLineStart:
		to.col = 0
	case keymap.ViFirst:
		to.col = end - len(bytes.TrimLeft(e.here().text, " \t"))
	case keymap.ViLineEnd:
		to.col = end
	default:
		step, ok := steps[a]
		if !ok {
			return to, false, false
		}
		for range v.n() {
			to = step(e, to)
		}
		if a == keymap.ViWord && v.op != "" && to.line > e.cur.line {
			to = place{e.cur.line, end} // the end of a line stays
		}
	}
	return to, a == keymap.ViWordEnd, true
}

// steps are the motions that a count repeats.
var steps = map[keymap.Action]func(*Editor, place) place{
	keymap.ViLeft: func(e *Editor, p place) place {
		if p.col > 0 {
			return e.left(p)
		}
		return p
	},
	keymap.ViRight: func(e *Editor, p place) place {
		if p.col < len(e.lines[p.line].text) {
			return e.right(p)
		}
		return p
	},
	keymap.ViWord: (*Editor).viWord, keymap.ViWordBack: (*Editor).viBack, keymap.ViWordEnd: (*Editor).viEnd,
}

// seek goes to the next place of a character in the line. again leaves out the one where
// the cursor stands beside already.
func (v *vi) seek(e *Editor, a keymap.Action, again bool) {
	back := a == keymap.ViFindBack || a == keymap.ViTillBack
	till := a == keymap.ViTill || a == keymap.ViTillBack
	text, at := e.here().text, e.cur.col
	for i := range v.n() {
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
	to := place{e.cur.line, at}
	switch {
	case till && back:
		to = e.right(to)
	case till:
		to = e.left(to)
	}
	v.upTo(e, to, !back)
}

// nextPlace is where a character is after an offset, -1 if nowhere. skip leaves out the one
// that comes at once.
func nextPlace(text, char []byte, at int, skip bool) int {
	from := min(at+1, len(text))
	if skip && bytes.HasPrefix(text[from:], char) {
		from += len(char)
	}
	i := bytes.Index(text[from:], char)
	if i < 0 {
		return -1
	}
	return from + i
}

// lastPlace is where a character is before an offset, as nextPlace.
func lastPlace(text, char []byte, at int, skip bool) int {
	if skip && bytes.HasSuffix(text[:at], char) {
		at -= len(char)
	}
	return bytes.LastIndex(text[:at], char)
}

// upTo moves the cursor to a place, or works on the text up to there.
func (v *vi) upTo(e *Editor, to place, inclusive bool) {
	if v.op == "" {
		e.cur = to
		return
	}
	from := e.cur
	if to.less(from) {
		from, to = to, from
	} else if inclusive && to.col < len(e.lines[to.line].text) {
		to = e.right(to)
	}
	v.reg, v.lines = e.raw(from, to), false
	switch v.op {
	case keymap.ViYank:
		e.cur = from
	default:
		e.kills.add(slices.Clone(v.reg), false, false)
		e.change(from, to, nil)
	}
	if v.op == keymap.ViChange {
		v.insert()
	}
}

// overLines works on whole lines, those that there are.
func (v *vi) overLines(e *Editor, first, last int) {
	first, last = max(0, first), min(last, len(e.lines)-1)
	from, to := place{first, 0}, place{last, len(e.lines[last].text)}
	v.reg, v.lines = e.raw(from, to), true
	switch v.op {
	case keymap.ViYank:
		e.cur.line = first
		e.cur.col = min(e.cur.col, len(e.here().text))
		e.cur = e.snap(e.cur)
	case keymap.ViChange:
		e.kills.add(slices.Clone(v.reg), false, false)
		e.change(from, to, nil)
		v.insert()
	default:
		e.kills.add(slices.Clone(v.reg), false, false)
		if last+1 < len(e.lines) {
			to = place{last + 1, 0}
		} else if first > 0 {
			from = place{first - 1, len(e.lines[first-1].text)}
		}
		e.change(from, to, nil)
		e.cur.col = 0
	}
}

// editing takes what changes text or begins to insert.
func (v *vi) editing(e *Editor, a keymap.Action) bool {
	if v.op != "" {
		return false // an operator needs a motion
	}
	end := place{e.cur.line, len(e.here().text)}
	switch a {
	case keymap.ViInsert:
	case keymap.ViAppend:
		if e.cur != end {
			e.cur = e.right(e.cur)
		}
	case keymap.ViInsertStart:
		e.cur.col = end.col - len(bytes.TrimLeft(e.here().text, " \t"))
	case keymap.ViAppendEnd:
		e.cur = end
	case keymap.ViOpenBelow:
		e.change(end, end, []byte("\n"))
	case keymap.ViOpenAbove:
		start := place{e.cur.line, 0}
		e.change(start, start, []byte("\n"))
		e.cur = start
	default:
		return v.changing(e, a, end)
	}
	v.insert()
	return true
}

// changing takes the commands that are short for others.
func (v *vi) changing(e *Editor, a keymap.Action, end place) bool {
	switch a {
	case keymap.ViDeleteChar:
		v.op = keymap.ViDelete
		if to, _, _ := v.target(e, keymap.ViRight); to != e.cur {
			v.upTo(e, to, false)
		}
	case keymap.ViDeleteToEnd, keymap.ViChangeToEnd:
		v.op = keymap.ViDelete
		if a == keymap.ViChangeToEnd {
			v.op = keymap.ViChange
		}
		v.upTo(e, end, false)
	case keymap.ViReplace:
		v.wait = a
	case keymap.ViUndo, keymap.ViRedo:
		for range v.n() {
			if a == keymap.ViUndo {
				e.undo()
			} else {
				e.redo()
			}
		}
	case keymap.ViPut, keymap.ViPutBefore:
		v.put(e, a == keymap.ViPut)
	default:
		return false
	}
	return true
}

// put inserts what was deleted or yanked last.
func (v *vi) put(e *Editor, after bool) {
	if v.reg == nil {
		return
	}
	if !v.lines {
		if after && e.cur.col < len(e.here().text) {
			e.cur = e.right(e.cur)
		}
		e.change(e.cur, e.cur, bytes.Repeat(v.reg, v.n()))
		if e.cur.col > 0 {
			e.cur = e.left(e.cur)
		}
		return
	}
	text := bytes.Repeat(append(slices.Clone(v.reg), '\n'), v.n())
	line := e.cur.line
	if after {
		line++
	}
	at := place{line, 0}
	if line == len(e.lines) {
		at = e.end()
		text = append([]byte{'\n'}, text[:len(text)-1]...)
	}
	e.change(at, at, text)
	e.cur = place{line, 0}
}

// class is what kind of character stands at a place.
type class uint8

const (
	blank class = iota // or the end of a line
	ofWord
	ofSigns
)

func (e *Editor) class(p place) class {
	text := e.lines[p.line].text
	switch {
	case p.col >= len(text):
		return blank
	case e.inWord(p):
		return ofWord
	}
	if r, _ := utf8.DecodeRune(text[p.col:]); unicode.IsSpace(r) {
		return blank
	}
	return ofSigns
}

// viWord is the start of the next word; an empty line is one.
func (e *Editor) viWord(p place) place {
	end := e.end()
	for was := e.class(p); was != blank && p != end && e.class(p) == was; {
		p = e.right(p)
	}
	for p != end && e.class(p) == blank {
		line := p.line
		if p = e.right(p); p.line != line && len(e.lines[p.line].text) == 0 {
			break
		}
	}
	return p
}

// viBack is the start of the word, or of the one before.
func (e *Editor) viBack(p place) place {
	p = e.left(p)
	for p != (place{}) && e.class(p) == blank {
		p = e.left(p)
	}
	for is := e.class(p); p.col > 0 && e.class(e.left(p)) == is; {
		p = e.left(p)
	}
	return p
}

// viEnd is the last character of the word, or of the next one.
func (e *Editor) viEnd(p place) place {
	end := e.end()
	p = e.right(p)
	for p != end && e.class(p) == blank {
		p = e.right(p)
	}
	is := e.class(p)
	for next := e.right(p); p != end && next.line == p.line && e.class(next) == is; next = e.right(p) {
		p = next
	}
	return p
}

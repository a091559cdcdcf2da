package edit

import (
	"bytes"
	"slices"

	"buddy/app/keymap"
)

// Vi are the keys of vi over an editor: modes, operators with motions and text objects,
// counts, selecting, and the repetition of a change. It takes actions of the scope Vi, so its
// keys are bound like all others. The zero value is off.
type Vi struct {
	On     bool
	Normal bool // else text is typed
	viPending
	viSelection
	viInsertion
	viRepeat
	sought keymap.Action // of the last search in the line
	char   string        // that it was for
	reg    []byte        // what was deleted or yanked last
	lines  bool          // reg is whole lines
}

// viPending is what was typed of a command.
type viPending struct {
	count int // typed before what comes next; 0 = none
	times int // typed before the operator; 0 = none
	op    keymap.Action
	wait  keymap.Action // waits for a character
}

const maxCount = 9999

// Mode is the name of the mode.
func (v *Vi) Mode() string {
	switch {
	case !v.On:
		return ""
	case v.selects == byChars:
		return "VISUAL"
	case v.selects == byLines:
		return "V-LINE"
	case v.Normal:
		return "NORMAL"
	case v.over:
		return "REPLACE"
	}
	return "INSERT"
}

// reset forgets what was typed of a command.
func (v *Vi) reset() { v.viPending = viPending{} }

// digit takes a digit of a count and reports whether it is one: 0 alone is a motion.
func (v *Vi) digit(text string) bool {
	if v.wait != "" || len(text) != 1 || text[0] < '0' || text[0] > '9' || text == "0" && v.count == 0 {
		return false
	}
	v.count = min(v.count*10+int(text[0]-'0'), maxCount)
	return true
}

// do takes an action, or the character that a command waits for.
func (v *Vi) do(e *Editor, a keymap.Action, text string) {
	e.before, e.last = e.last, nothing
	v.note(e, a, text)
	switch {
	case v.wait != "":
		v.given(e, a, text)
	case v.object(a): // waits for which one
	case v.selects != nothingSelected:
		if !v.onSelection(e, a) {
			v.motion(e, a)
		}
	case v.operator(e, a):
		return
	case v.editing(e, a):
	default:
		v.motion(e, a)
	}
	if v.wait == "" {
		v.Settle(e)
	}
}

// Settle ends a command: the cursor is on a character again.
func (v *Vi) Settle(e *Editor) {
	v.reset()
	if at := e.snap(e.cur); at != e.cur {
		e.cur = e.left(at)
	}
	if !v.Normal {
		return
	}
	if e.cur.col > 0 && e.cur.col >= len(e.here().text) {
		e.cur = e.left(e.cur)
	}
	if v.selects == nothingSelected {
		v.noted(e)
	}
}

// n is how often what comes is done.
func (v *Vi) n() int { return max(1, v.count) * max(1, v.times) }

// counted reports whether a count was typed.
func (v *Vi) counted() bool { return v.count > 0 || v.times > 0 }

// operator takes d, c and y. Twice they are for lines.
func (v *Vi) operator(e *Editor, a keymap.Action) bool {
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
		v.Settle(e)
	default:
		v.Settle(e)
	}
	return true
}

// object takes i and a after an operator, or while something is selected: the name of a
// text object follows.
func (v *Vi) object(a keymap.Action) bool {
	if v.op == "" && v.selects == nothingSelected || a != keymap.ViInsert && a != keymap.ViAppend {
		return false
	}
	v.wait = a
	return true
}

// given takes the character that a command waited for; means is the action of its key.
func (v *Vi) given(e *Editor, means keymap.Action, text string) {
	a := v.wait
	v.wait = ""
	switch {
	case text == "":
	case a == keymap.ViReplace && v.selects != nothingSelected:
		v.operate(e, a, text)
	case a == keymap.ViReplace:
		v.replace(e, text)
	case a == keymap.ViTop:
		if means == a {
			v.toLine(e, 0)
		}
	case a == keymap.ViInsert || a == keymap.ViAppend:
		v.takeObject(e, a == keymap.ViAppend, text)
	default:
		v.sought, v.char = a, text
		v.seek(e, a, false)
	}
}

func (v *Vi) replace(e *Editor, text string) {
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

// upTo moves the cursor to a place, or works on the text up to there.
func (v *Vi) upTo(e *Editor, to Place, inclusive bool) {
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
	v.overText(e, from, to)
}

// overText works on the text between two places.
func (v *Vi) overText(e *Editor, from, to Place) {
	if from != to {
		v.reg, v.lines = e.raw(from, to), false
	}
	e.cur = from
	if v.op != keymap.ViYank {
		v.cut(e, from, to)
	}
	if v.op == keymap.ViChange {
		v.insert(e)
	}
}

// cut deletes what was put into the register.
func (v *Vi) cut(e *Editor, from, to Place) {
	if from != to {
		e.kills.add(slices.Clone(v.reg), false, false)
	}
	e.change(from, to, nil)
}

// overLines works on whole lines, those that there are.
func (v *Vi) overLines(e *Editor, first, last int) {
	first, last = max(0, first), min(last, len(e.lines)-1)
	from, to := Place{first, 0}, Place{last, len(e.lines[last].text)}
	v.reg, v.lines = e.raw(from, to), true
	switch v.op {
	case keymap.ViYank:
		e.cur.line = first
		e.cur.col = min(e.cur.col, len(e.here().text))
		e.cur = e.snap(e.cur)
	case keymap.ViChange:
		v.cut(e, from, to)
		e.cur = from
		v.insert(e)
	default:
		if last+1 < len(e.lines) {
			to = Place{last + 1, 0}
		} else if first > 0 {
			from = Place{first - 1, len(e.lines[first-1].text)}
		}
		v.cut(e, from, to)
		e.cur.col = 0
	}
}

// editing takes what changes text or begins to insert.
func (v *Vi) editing(e *Editor, a keymap.Action) bool {
	if v.op != "" {
		return false // an operator needs a motion
	}
	end := Place{e.cur.line, len(e.here().text)}
	v.again, v.opens = v.n(), false
	switch a {
	case keymap.ViInsert:
	case keymap.ViAppend:
		if e.cur != end {
			e.cur = e.right(e.cur)
		}
	case keymap.ViInsertStart:
		e.cur.col = e.indent(e.cur.line)
	case keymap.ViAppendEnd:
		e.cur = end
	case keymap.ViOpenBelow, keymap.ViOpenAbove:
		v.opens = true
		v.openLine(e, a == keymap.ViOpenBelow)
	case keymap.ViOvertype:
		v.insert(e)
		v.over = true
		return true
	default:
		return v.changing(e, a, end)
	}
	v.insert(e)
	return true
}

// openLine begins a line below or above this one.
func (v *Vi) openLine(e *Editor, below bool) {
	at := Place{e.cur.line, len(e.here().text)}
	if !below {
		at.col = 0
	}
	e.change(at, at, []byte("\n"))
	if !below {
		e.cur = at
	}
}

// short are the commands that stand for an operator up to somewhere in the line.
var short = map[keymap.Action]struct{ op, to keymap.Action }{
	keymap.ViDeleteChar:     {keymap.ViDelete, keymap.ViRight},
	keymap.ViDeleteBack:     {keymap.ViDelete, keymap.ViLeft},
	keymap.ViSubstitute:     {keymap.ViChange, keymap.ViRight},
	keymap.ViDeleteToEnd:    {keymap.ViDelete, keymap.ViLineEnd},
	keymap.ViChangeToEnd:    {keymap.ViChange, keymap.ViLineEnd},
	keymap.ViSubstituteLine: {keymap.ViChange, ""},
	keymap.ViYankLine:       {keymap.ViYank, ""},
}

// changing takes the commands that are short for others, and those of one character.
func (v *Vi) changing(e *Editor, a keymap.Action, end Place) bool {
	if s, ok := short[a]; ok {
		v.shortFor(e, s.op, s.to)
		return true
	}
	switch a {
	case keymap.ViReplace:
		v.wait = a
	case keymap.ViUndo, keymap.ViRedo:
		v.back(e, a == keymap.ViUndo)
	case keymap.ViPut, keymap.ViPutBefore:
		v.put(e, a == keymap.ViPut)
	case keymap.ViCase:
		to := e.cur
		for range v.n() {
			if to.col < end.col {
				to = e.right(to)
			}
		}
		e.change(e.cur, to, otherCase(e.raw(e.cur, to)))
	case keymap.ViJoin:
		v.join(e, e.cur.line, e.cur.line+max(1, v.n()-1))
	case keymap.ViRepeatChange:
		v.repeat(e)
	case keymap.ViVisual, keymap.ViVisualLines:
		v.startSelecting(e, a)
	default:
		return false
	}
	return true
}

// shortFor carries out an operator up to where a motion leads; without one, on lines.
func (v *Vi) shortFor(e *Editor, op, motion keymap.Action) {
	v.op, v.again = op, 1
	if motion == "" {
		v.overLines(e, e.cur.line, e.cur.line+v.n()-1)
		return
	}
	to, _, _ := v.target(e, motion)
	if to != e.cur || op == keymap.ViChange {
		v.upTo(e, to, false)
	}
}

// back undoes or redoes commands.
func (v *Vi) back(e *Editor, undo bool) {
	for range v.n() {
		if undo {
			e.undo()
		} else {
			e.redo()
		}
	}
	v.now = nil // that is no change to be repeated
}

// put inserts what was deleted or yanked last.
func (v *Vi) put(e *Editor, after bool) {
	if v.reg == nil {
		return
	}
	if !v.lines {
		if after && e.cur.col < len(e.here().text) {
			e.cur = e.right(e.cur)
		}
		e.change(e.cur, e.cur, bytes.Repeat(v.reg, v.copies()))
		if e.cur.col > 0 {
			e.cur = e.left(e.cur)
		}
		return
	}
	text := bytes.Repeat(append(slices.Clone(v.reg), '\n'), v.copies())
	line := e.cur.line
	if after {
		line++
	}
	at := Place{line, 0}
	if line == len(e.lines) {
		at = e.end()
		text = append([]byte{'\n'}, text[:len(text)-1]...)
	}
	e.change(at, at, text)
	e.cur = Place{line, 0}
}

// copies is how often the register is put, which has a limit.
func (v *Vi) copies() int { return min(v.n(), 1+maxRepeated/(len(v.reg)+1)) }

// join makes one line of some, with a blank between what they say.
func (v *Vi) join(e *Editor, first, last int) {
	for range min(last, len(e.lines)-1) - first {
		text, next := e.lines[first].text, e.lines[first+1].text
		lead := e.indent(first + 1)
		gap := []byte(" ")
		if len(text) == 0 || isSpace(text[len(text)-1]) || lead == len(next) || next[lead] == ')' {
			gap = nil
		}
		at := Place{first, len(text)}
		e.change(at, Place{first + 1, lead}, gap)
		e.cur = at
	}
}

package edit

import (
	"bytes"
	"slices"

	"buddy/app/keymap"
)

// Vi implements the keys of vi for an editor: modes, operators with motions and text objects, counts, selections, and
// repeating a change. It executes actions of the scope Vi, so that keys can be bound as usual. In the zero value, vi is
// off.
type Vi struct {
	On     bool
	Normal bool // otherwise text is typed
	cmd    viPending
	sel    viSelection
	ins    viInsertion
	rep    viRepeat
	sought keymap.Action // the last search in the line
	char   string        // the character of that search
	reg    viRegister
}

// viPending holds the typed part of a command.
type viPending struct {
	count int // typed count; 0: none
	times int // count typed before the operator; 0: none
	op    keymap.Action
	wait  keymap.Action // the command that waits for a character
}

const maxCount = 9999

// Mode returns the displayed name of the mode, "" if vi is off.
func (v *Vi) Mode() string {
	switch {
	case !v.On:
		return ""
	case v.sel.kind == byChars:
		return "VISUAL"
	case v.sel.kind == byLines:
		return "V-LINE"
	case v.Normal:
		return "NORMAL"
	case v.ins.over:
		return "REPLACE"
	}
	return "INSERT"
}

// digit adds a digit to the count and reports whether it did. 0 without a count is a motion.
func (p *viPending) digit(text string) bool {
	if p.wait != "" || len(text) != 1 || text[0] < '0' || text[0] > '9' || text == "0" && p.count == 0 {
		return false
	}
	p.count = min(p.count*10+int(text[0]-'0'), maxCount)
	return true
}

// do executes an action, or handles the character that a command waits for.
func (v *Vi) do(e *Editor, a keymap.Action, text string) {
	e.before, e.last = e.last, nothing
	v.rep.note(e, viStep{action: a, text: []byte(text), count: v.cmd.count}, v.cmd.op == "" && v.cmd.wait == "")
	switch {
	case v.cmd.wait != "":
		v.given(e, a, text)
	case v.object(a): // waits for the object
	case v.sel.kind != nothingSelected:
		if !v.onSelection(e, a) {
			v.motion(e, a)
		}
	case v.operator(e, a):
		return
	case v.editing(e, a):
	default:
		v.motion(e, a)
	}
	if v.cmd.wait == "" {
		v.Settle(e)
	}
}

// Settle ends a command and moves the cursor onto a character.
func (v *Vi) Settle(e *Editor) {
	v.cmd = viPending{}
	if at := e.buf.snap(e.cur); at != e.cur {
		e.cur = e.buf.left(at)
	}
	if !v.Normal {
		return
	}
	if e.cur.col > 0 && e.cur.col >= len(e.here()) {
		e.cur = e.buf.left(e.cur)
	}
	if v.sel.kind == nothingSelected {
		v.rep.noted(e)
	}
}

// n returns the number of repetitions.
func (p *viPending) n() int { return max(1, p.count) * max(1, p.times) }

// counted reports whether a count was typed.
func (p *viPending) counted() bool { return p.count > 0 || p.times > 0 }

// operator handles d, c and y. Typed twice they operate on lines.
func (v *Vi) operator(e *Editor, a keymap.Action) bool {
	switch a {
	case keymap.ViDelete, keymap.ViChange, keymap.ViYank:
	default:
		return false
	}
	switch v.cmd.op {
	case "":
		v.cmd.op, v.cmd.times, v.cmd.count = a, v.cmd.count, 0
	case a:
		v.overLines(e, e.cur.line, e.cur.line+v.cmd.n()-1)
		v.Settle(e)
	default:
		v.Settle(e)
	}
	return true
}

// object handles i and a after an operator or with a selection: the name of a text object follows.
func (v *Vi) object(a keymap.Action) bool {
	if v.cmd.op == "" && v.sel.kind == nothingSelected || a != keymap.ViInsert && a != keymap.ViAppend {
		return false
	}
	v.cmd.wait = a
	return true
}

// given handles the character that a command waited for; means is the action bound to that key.
func (v *Vi) given(e *Editor, means keymap.Action, text string) {
	a := v.cmd.wait
	v.cmd.wait = ""
	switch {
	case text == "":
	case a == keymap.ViReplace && v.sel.kind != nothingSelected:
		v.operate(e, a, text)
	case a == keymap.ViReplace:
		replaceChars(e, text, v.cmd.n())
	case a == keymap.ViTop:
		if means == a {
			v.toLine(e, 0)
		}
	case a == keymap.ViInsert || a == keymap.ViAppend:
		v.applyObject(e, a == keymap.ViAppend, text)
	default:
		v.sought, v.char = a, text
		v.seek(e, a, false)
	}
}

// replaceChars replaces n characters from the cursor on, or none if the line has fewer.
func replaceChars(e *Editor, text string, n int) {
	end := e.cur
	for range n {
		if end.col >= len(e.here()) {
			return // there are fewer
		}
		end = e.buf.right(end)
	}
	at := e.cur
	e.change(at, end, bytes.Repeat([]byte(text), n))
	e.cur = e.buf.left(e.cur)
}

// upTo moves the cursor to a place, or applies the operator to the text up to there.
func (v *Vi) upTo(e *Editor, to Place, inclusive bool) {
	if v.cmd.op == "" {
		e.cur = to
		return
	}
	from := e.cur
	if to.less(from) {
		from, to = to, from
	} else if inclusive && to.col < len(e.buf.lines[to.line].text) {
		to = e.buf.right(to)
	}
	v.overText(e, from, to)
}

// overText applies the operator to the text between two places.
func (v *Vi) overText(e *Editor, from, to Place) {
	if from != to {
		v.reg.text, v.reg.lines = e.buf.raw(from, to), false
	}
	e.cur = from
	if v.cmd.op != keymap.ViYank {
		v.cut(e, from, to)
	}
	if v.cmd.op == keymap.ViChange {
		v.insert(e)
	}
}

// cut deletes text that was copied to the register.
func (v *Vi) cut(e *Editor, from, to Place) {
	if from != to {
		e.kills.add(slices.Clone(v.reg.text), false, false)
	}
	e.change(from, to, nil)
}

// overLines applies the operator to whole lines within the text.
func (v *Vi) overLines(e *Editor, first, last int) {
	first, last = max(0, first), min(last, len(e.buf.lines)-1)
	from, to := Place{first, 0}, Place{last, len(e.buf.lines[last].text)}
	v.reg.text, v.reg.lines = e.buf.raw(from, to), true
	switch v.cmd.op {
	case keymap.ViYank:
		e.cur.line = first
		e.cur.col = min(e.cur.col, len(e.here()))
		e.cur = e.buf.snap(e.cur)
	case keymap.ViChange:
		v.cut(e, from, to)
		e.cur = from
		v.insert(e)
	default:
		if last+1 < len(e.buf.lines) {
			to = Place{last + 1, 0}
		} else if first > 0 {
			from = Place{first - 1, len(e.buf.lines[first-1].text)}
		}
		v.cut(e, from, to)
		e.cur.col = 0
	}
}

// editing handles actions that change text or enter insert mode.
func (v *Vi) editing(e *Editor, a keymap.Action) bool {
	if v.cmd.op != "" {
		return false // an operator needs a motion
	}
	end := Place{e.cur.line, len(e.here())}
	v.ins.again, v.ins.opens = v.cmd.n(), false
	switch a {
	case keymap.ViInsert:
	case keymap.ViAppend:
		if e.cur != end {
			e.cur = e.buf.right(e.cur)
		}
	case keymap.ViInsertStart:
		e.cur.col = e.buf.indent(e.cur.line)
	case keymap.ViAppendEnd:
		e.cur = end
	case keymap.ViOpenBelow, keymap.ViOpenAbove:
		v.ins.opens = true
		openLine(e, a == keymap.ViOpenBelow)
	case keymap.ViOvertype:
		v.insert(e)
		v.ins.over = true
		return true
	default:
		return v.changing(e, a, end)
	}
	v.insert(e)
	return true
}

// openLine inserts a line below or above the present one.
func openLine(e *Editor, below bool) {
	at := Place{e.cur.line, len(e.here())}
	if !below {
		at.col = 0
	}
	e.change(at, at, []byte("\n"))
	if !below {
		e.cur = at
	}
}

// short maps commands to the operator and the motion that they abbreviate.
var short = map[keymap.Action]struct{ op, to keymap.Action }{
	keymap.ViDeleteChar:     {keymap.ViDelete, keymap.ViRight},
	keymap.ViDeleteBack:     {keymap.ViDelete, keymap.ViLeft},
	keymap.ViSubstitute:     {keymap.ViChange, keymap.ViRight},
	keymap.ViDeleteToEnd:    {keymap.ViDelete, keymap.ViLineEnd},
	keymap.ViChangeToEnd:    {keymap.ViChange, keymap.ViLineEnd},
	keymap.ViSubstituteLine: {keymap.ViChange, ""},
	keymap.ViYankLine:       {keymap.ViYank, ""},
}

// changing handles commands that abbreviate others, and commands on one character.
func (v *Vi) changing(e *Editor, a keymap.Action, end Place) bool {
	if s, ok := short[a]; ok {
		v.shortFor(e, s.op, s.to)
		return true
	}
	switch a {
	case keymap.ViReplace:
		v.cmd.wait = a
	case keymap.ViUndo, keymap.ViRedo:
		v.back(e, a == keymap.ViUndo)
	case keymap.ViPut, keymap.ViPutBefore:
		v.reg.put(e, a == keymap.ViPut, v.cmd.n())
	case keymap.ViCase:
		to := e.cur
		for range v.cmd.n() {
			if to.col < end.col {
				to = e.buf.right(to)
			}
		}
		e.change(e.cur, to, otherCase(e.buf.raw(e.cur, to)))
	case keymap.ViJoin:
		join(e, e.cur.line, e.cur.line+max(1, v.cmd.n()-1))
	case keymap.ViRepeatChange:
		v.repeat(e)
	case keymap.ViVisual, keymap.ViVisualLines:
		v.sel = viSelection{kindOf[a], e.cur}
	default:
		return false
	}
	return true
}

// shortFor applies an operator up to the target of a motion or, without a motion, to lines.
func (v *Vi) shortFor(e *Editor, op, motion keymap.Action) {
	v.cmd.op, v.ins.again = op, 1
	if motion == "" {
		v.overLines(e, e.cur.line, e.cur.line+v.cmd.n()-1)
		return
	}
	to, _, _ := v.cmd.target(e, motion)
	if to != e.cur || op == keymap.ViChange {
		v.upTo(e, to, false)
	}
}

// back undoes or redoes commands.
func (v *Vi) back(e *Editor, undo bool) {
	for range v.cmd.n() {
		e.revert(!undo)
	}
	v.rep.now = nil // not a change to repeat
}

// join joins lines, with a space between their texts.
func join(e *Editor, first, last int) {
	for range min(last, len(e.buf.lines)-1) - first {
		text, next := e.buf.lines[first].text, e.buf.lines[first+1].text
		lead := e.buf.indent(first + 1)
		gap := []byte(" ")
		if len(text) == 0 || isSpace(text[len(text)-1]) || lead == len(next) || next[lead] == ')' {
			gap = nil
		}
		at := Place{first, len(text)}
		e.change(at, Place{first + 1, lead}, gap)
		e.cur = at
	}
}

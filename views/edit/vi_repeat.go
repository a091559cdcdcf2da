package edit

import (
	"buddy/app/keymap"
)

// viStep is a part of a change that can be repeated: an action in normal mode, or something
// that was typed while inserting.
type viStep struct {
	action keymap.Action // "" is typed text
	text   []byte
	count  int
	typed  bool    // while inserting
	pasted bool    // text was
	region *region // the action worked on that much
}

// viRepeat is what . repeats, and what may become that.
type viRepeat struct {
	last, now []viStep
	gen       uint64 // of the text, when now began
	replaying bool
}

// viInsertion is what is typed in insert mode.
type viInsertion struct {
	typed     []viStep
	again     int      // how often it is there in the end
	opens     bool     // each time in a line of its own
	over      bool     // it replaces what is there
	overtyped [][]byte // which is this, for Backspace
}

const (
	maxTyped    = 1000    // steps of an insertion that is repeated
	maxRepeated = 1 << 20 // bytes that a count may make of a text
)

// note takes down a part of a command. Its changes are undone together.
func (v *Vi) note(e *Editor, a keymap.Action, text string) {
	if v.replaying {
		return
	}
	if v.op == "" && v.wait == "" {
		v.now, v.gen = nil, e.gen
		e.log.begin()
	}
	v.now = append(v.now, viStep{action: a, text: []byte(text), count: v.count})
}

// noted ends that. If the text has changed, this is what . repeats.
func (v *Vi) noted(e *Editor) {
	e.log.endGroup()
	if v.replaying {
		return
	}
	if e.gen != v.gen && len(v.now) > 0 {
		v.last = v.now
	}
	v.now = nil
}

// repeat does the last change again, with a count of its own if there is one.
func (v *Vi) repeat(e *Editor) {
	n, counted := v.n(), v.counted()
	v.reset()
	v.now, v.replaying = nil, true
	for i, s := range v.last {
		switch {
		case s.region != nil:
			v.selectRegion(e, s.region)
			v.operate(e, s.action, string(s.text))
		case s.typed:
			v.perform(e, s)
			v.typed = append(v.typed, s)
		default:
			if v.wait == "" {
				v.count = s.count
			}
			if counted && v.wait == "" {
				if v.count = 0; i == 0 {
					v.count = n
				}
			}
			v.do(e, s.action, string(s.text))
		}
	}
	if !v.Normal {
		v.leave(e)
	}
	v.replaying = false
}

// insert goes to insert mode.
func (v *Vi) insert(e *Editor) {
	v.reset()
	v.Normal, v.over, v.selects = false, false, nothingSelected
	v.typed, v.overtyped = nil, nil
	if e.log.group == 0 {
		e.log.begin()
	}
	if v.now == nil && !v.replaying {
		v.Afresh(e)
	}
}

// Afresh forgets what was typed: what comes is another insertion.
func (v *Vi) Afresh(e *Editor) {
	v.now, v.gen = []viStep{{action: keymap.ViInsert}}, e.gen
	v.typed, v.overtyped, v.again, v.opens = nil, nil, 1, false
}

// leave goes to normal mode, where the cursor stands on a character. What was typed is
// repeated as the count has it.
func (v *Vi) leave(e *Editor) {
	typed, size := v.typed, 1
	for _, s := range typed {
		size += len(s.text)
	}
	for range min(v.again, 1+maxRepeated/size) - 1 {
		if v.opens {
			v.openLine(e, true)
		}
		for _, s := range typed {
			v.perform(e, s)
		}
	}
	if !v.replaying && e.gen != v.gen {
		v.last = append(v.now, typed...)
	}
	v.now, v.typed, v.overtyped, v.again, v.opens, v.over = nil, nil, nil, 1, false, false
	v.reset()
	v.Normal = true
	e.log.endGroup()
	if e.cur.col > 0 {
		e.cur = e.buf.left(e.cur)
	}
}

// insertion takes what is typed in insert mode, to be repeated, and reports whether it did.
func (v *Vi) insertion(e *Editor, s viStep) bool {
	switch {
	case !v.On || v.Normal:
		return false
	case s.action != "" && !changes[s.action]:
		v.Afresh(e)
		return false
	}
	s.typed = true
	v.perform(e, s)
	if n := len(v.typed); n > 0 && s.action == "" && !s.pasted && v.typed[n-1].action == "" && !v.typed[n-1].pasted {
		v.typed[n-1].text = append(v.typed[n-1].text, s.text...)
	} else if v.typed = append(v.typed, s); n >= maxTyped {
		v.Afresh(e)
	}
	return true
}

// changes are the actions that are part of an insertion; others begin a new one.
var changes = map[keymap.Action]bool{
	keymap.Newline: true, keymap.DeleteLeft: true, keymap.DeleteRight: true, keymap.KillToEnd: true, keymap.KillToStart: true,
	keymap.KillWord: true, keymap.KillWordLeft: true, keymap.KillToSpaceLeft: true, keymap.Yank: true, keymap.Transpose: true,
}

// perform carries out a part of an insertion.
func (v *Vi) perform(e *Editor, s viStep) {
	switch {
	case s.pasted:
		e.Paste(string(s.text))
	case v.over && s.action == keymap.DeleteLeft:
		v.restore(e)
	case s.action != "":
		v.overtyped = nil
		e.Do(s.action)
	case v.over:
		for text := normal(string(s.text)); len(text) > 0; {
			n := clusterEnd(text, 0)
			v.overtype(e, text[:n])
			text = text[n:]
		}
	default:
		e.Insert(string(s.text))
	}
}

// overtype puts a character in the place of the one at the cursor.
func (v *Vi) overtype(e *Editor, char []byte) {
	e.before, e.last = e.last, typing
	to := e.cur
	if to.col < len(e.here()) {
		to = e.buf.right(to)
	}
	v.overtyped = append(v.overtyped, e.buf.raw(e.cur, to))
	e.change(e.cur, to, char)
}

// restore takes back what was typed over another character.
func (v *Vi) restore(e *Editor) {
	e.before, e.last = e.last, nothing
	if e.cur.col == 0 {
		return
	}
	from := e.buf.left(e.cur)
	if n := len(v.overtyped) - 1; n >= 0 {
		e.change(from, e.cur, v.overtyped[n])
		v.overtyped = v.overtyped[:n]
	}
	e.cur = from
}

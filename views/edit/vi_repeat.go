package edit

import (
	"buddy/app/keymap"
)

// viStep is a part of a change that can be repeated: an action in normal mode, or input in insert mode.
type viStep struct {
	action keymap.Action // "": typed text
	text   []byte
	count  int
	typed  bool    // in insert mode
	pasted bool    // text was pasted
	region *region // extent of the selection that the action changed
}

// viRepeat holds the change that the command . repeats, and the change being recorded.
type viRepeat struct {
	last, now []viStep
	gen       uint64 // Editor.gen at the start of now
	replaying bool
}

// viInsertion is the input of insert mode.
type viInsertion struct {
	typed     []viStep
	again     int      // final number of copies
	opens     bool     // each copy on a line of its own
	over      bool     // it overwrites text
	overtyped [][]byte // the overwritten text, for Backspace
}

const (
	maxTyped    = 1000    // steps of an insertion that can be repeated
	maxRepeated = 1 << 20 // bytes that a count may produce
)

// note records a part of a command; fresh marks the first part. The changes of a command are undone together.
func (r *viRepeat) note(e *Editor, s viStep, fresh bool) {
	if r.replaying {
		return
	}
	if fresh {
		r.now, r.gen = nil, e.gen
		e.log.startGroup()
	}
	r.now = append(r.now, s)
}

// noted ends the recording of a command. If the text has changed, . repeats the command.
func (r *viRepeat) noted(e *Editor) {
	e.log.endGroup()
	if r.replaying {
		return
	}
	if e.gen != r.gen && len(r.now) > 0 {
		r.last = r.now
	}
	r.now = nil
}

// repeat repeats the last change, with a new count if there is one.
func (v *Vi) repeat(e *Editor) {
	n, counted := v.cmd.n(), v.cmd.counted()
	v.cmd = viPending{}
	v.rep.now, v.rep.replaying = nil, true
	for i, s := range v.rep.last {
		switch {
		case s.region != nil:
			v.sel.selectRegion(e, s.region)
			v.operate(e, s.action, string(s.text))
		case s.typed:
			v.ins.perform(e, s)
			v.ins.typed = append(v.ins.typed, s)
		default:
			if v.cmd.wait == "" {
				v.cmd.count = s.count
			}
			if counted && v.cmd.wait == "" {
				if v.cmd.count = 0; i == 0 {
					v.cmd.count = n
				}
			}
			v.do(e, s.action, string(s.text))
		}
	}
	if !v.Normal {
		v.leave(e)
	}
	v.rep.replaying = false
}

// insert enters insert mode.
func (v *Vi) insert(e *Editor) {
	v.cmd = viPending{}
	v.Normal, v.ins.over, v.sel.kind = false, false, nothingSelected
	v.ins.typed, v.ins.overtyped = nil, nil
	if e.log.group == 0 {
		e.log.startGroup()
	}
	if v.rep.now == nil && !v.rep.replaying {
		v.Afresh(e)
	}
}

// Afresh starts to record another insertion.
func (v *Vi) Afresh(e *Editor) {
	v.rep.now, v.rep.gen = []viStep{{action: keymap.ViInsert}}, e.gen
	v.ins.typed, v.ins.overtyped, v.ins.again, v.ins.opens = nil, nil, 1, false
}

// leave enters normal mode, with the cursor on a character. If the insertion has a count, leave repeats it.
func (v *Vi) leave(e *Editor) {
	typed, size := v.ins.typed, 1
	for _, s := range typed {
		size += len(s.text)
	}
	for range min(v.ins.again, 1+maxRepeated/size) - 1 {
		if v.ins.opens {
			openLine(e, true)
		}
		for _, s := range typed {
			v.ins.perform(e, s)
		}
	}
	if !v.rep.replaying && e.gen != v.rep.gen {
		v.rep.last = append(v.rep.now, typed...)
	}
	v.rep.now, v.ins.typed, v.ins.overtyped, v.ins.again, v.ins.opens, v.ins.over = nil, nil, nil, 1, false, false
	v.cmd = viPending{}
	v.Normal = true
	e.log.endGroup()
	if e.cur.col > 0 {
		e.cur = e.buf.left(e.cur)
	}
}

// insertion records and executes input in insert mode, and reports whether it did.
func (v *Vi) insertion(e *Editor, s viStep) bool {
	switch {
	case !v.On || v.Normal:
		return false
	case s.action != "" && !commands[s.action].typing:
		v.Afresh(e)
		return false
	}
	s.typed = true
	v.ins.perform(e, s)
	if n := len(v.ins.typed); n > 0 && s.action == "" && !s.pasted && v.ins.typed[n-1].action == "" && !v.ins.typed[n-1].pasted {
		v.ins.typed[n-1].text = append(v.ins.typed[n-1].text, s.text...)
	} else if v.ins.typed = append(v.ins.typed, s); n >= maxTyped {
		v.Afresh(e)
	}
	return true
}

// perform executes a part of an insertion.
func (i *viInsertion) perform(e *Editor, s viStep) {
	switch {
	case s.pasted:
		e.Paste(string(s.text))
	case i.over && s.action == keymap.DeleteLeft:
		i.restore(e)
	case s.action != "":
		i.overtyped = nil
		e.Do(s.action)
	case i.over:
		for text := normal(string(s.text)); len(text) > 0; {
			n := clusterEnd(text, 0)
			i.overtype(e, text[:n])
			text = text[n:]
		}
	default:
		e.Insert(string(s.text))
	}
}

// overtype replaces the character at the cursor.
func (i *viInsertion) overtype(e *Editor, char []byte) {
	e.before, e.last = e.last, typing
	to := e.cur
	if to.col < len(e.here()) {
		to = e.buf.right(to)
	}
	i.overtyped = append(i.overtyped, e.buf.raw(e.cur, to))
	e.change(e.cur, to, char)
}

// restore restores the last overwritten character.
func (i *viInsertion) restore(e *Editor) {
	e.before, e.last = e.last, nothing
	if e.cur.col == 0 {
		return
	}
	from := e.buf.left(e.cur)
	if n := len(i.overtyped) - 1; n >= 0 {
		e.change(from, e.cur, i.overtyped[n])
		i.overtyped = i.overtyped[:n]
	}
	e.cur = from
}

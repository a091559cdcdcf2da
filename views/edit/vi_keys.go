package edit

import (
	"strings"

	"buddy/app/keymap"
)

// Set turns the keys of vi on, in insert mode, or off.
func (v *Vi) Set(e *Editor, on bool) {
	*v = Vi{On: on}
	if e.log.endGroup(); on {
		v.insert(e)
	}
}

// Restart begins another text in insert mode.
func (v *Vi) Restart(e *Editor) {
	if v.On {
		e.log.endGroup()
		v.rep.now = nil
		v.insert(e)
	}
}

// Escape goes from insert and visual mode to normal mode, or drops what was typed of a
// command, and reports whether it did.
func (v *Vi) Escape(e *Editor) bool {
	if !v.Normal {
		v.leave(e)
		return true
	}
	pending := v.cmd != viPending{}
	v.cmd = viPending{}
	return v.sel.end(e) || pending
}

// Press takes a key in normal mode, looked up in the scope Vi. It reports whether
// that was all. On an empty text, what opens lists begins to insert. Up and down, alone, are
// passed to line as LineUp and LineDown.
func (v *Vi) Press(e *Editor, p keymap.Press, line func(keymap.Action)) bool {
	a, text := p.Action, p.Text
	switch {
	case text != "" && v.cmd.digit(text):
	case v.cmd.wait != "" && text == "":
		v.cmd = viPending{}
	case a != "" || v.cmd.wait != "":
		v.action(e, a, text, line)
	case text != "" && e.Empty() && strings.Contains("/!@", text):
		v.insert(e)
		return false
	case text != "":
		v.cmd = viPending{}
	default:
		return false
	}
	return true
}

func (v *Vi) action(e *Editor, a keymap.Action, text string, line func(keymap.Action)) {
	var move keymap.Action
	switch a {
	case keymap.ViUp:
		move = keymap.LineUp
	case keymap.ViDown:
		move = keymap.LineDown
	}
	if move == "" || v.cmd.op != "" || v.cmd.wait != "" || v.sel.kind != nothingSelected {
		v.do(e, a, text)
		return
	}
	for range v.cmd.n() {
		line(move)
	}
	v.Settle(e)
}

// Changed ends what was going on in normal mode after the text has changed.
func (v *Vi) Changed(e *Editor) {
	if v.Normal {
		v.sel.end(e)
		v.Settle(e)
	}
}

// TypeAction carries out an action of insert mode and reports whether it did.
func (v *Vi) TypeAction(e *Editor, a keymap.Action) bool {
	return v.insertion(e, viStep{action: a})
}

// TypeText types text at the cursor.
func (v *Vi) TypeText(e *Editor, text string) {
	if !v.insertion(e, viStep{text: []byte(text)}) {
		e.Insert(text)
	}
}

// Paste inserts text in one step.
func (v *Vi) Paste(e *Editor, text string) {
	if !v.insertion(e, viStep{text: []byte(text), pasted: true}) {
		e.Paste(text)
	}
}

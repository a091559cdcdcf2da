package views

import (
	"strings"

	"buddy/app/keymap"
)

// set turns the keys of vi on, in insert mode, or off.
func (v *vi) set(e *Editor, on bool) {
	*v = vi{on: on}
	if e.endGroup(); on {
		v.insert(e)
	}
}

// restart begins another text in insert mode.
func (v *vi) restart(e *Editor) {
	if v.on {
		e.endGroup()
		v.now = nil
		v.insert(e)
	}
}

// escape goes from insert and visual mode to normal mode, or drops what was typed of a
// command, and reports whether it did.
func (v *vi) escape(e *Editor) bool {
	if !v.normal {
		v.leave(e)
		return true
	}
	pending := v.viPending != viPending{}
	v.reset()
	return v.endSelecting(e) || pending
}

// key takes a key in normal mode: its action in the scope Vi, or "", and the text that it
// types, or "". It reports whether that was all. On an empty text, what opens lists begins to
// insert. Up and down, alone, are given to line as LineUp and LineDown.
func (v *vi) key(e *Editor, a keymap.Action, text string, line func(keymap.Action)) bool {
	switch {
	case text != "" && v.digit(text):
	case v.wait != "" && text == "":
		v.reset()
	case a != "" || v.wait != "":
		v.action(e, a, text, line)
	case text != "" && e.Empty() && strings.Contains("/!@", text):
		v.insert(e)
		return false
	case text != "":
		v.reset()
	default:
		return false
	}
	return true
}

func (v *vi) action(e *Editor, a keymap.Action, text string, line func(keymap.Action)) {
	var move keymap.Action
	switch a {
	case keymap.ViUp:
		move = keymap.LineUp
	case keymap.ViDown:
		move = keymap.LineDown
	}
	if move == "" || v.op != "" || v.wait != "" || v.selects != nothingSelected {
		v.do(e, a, text)
		return
	}
	for range v.n() {
		line(move)
	}
	v.settle(e)
}

// changed ends what was going on in normal mode after the text has changed.
func (v *vi) changed(e *Editor) {
	if v.normal {
		v.endSelecting(e)
		v.settle(e)
	}
}

// typeAction carries out an action of insert mode and reports whether it did.
func (v *vi) typeAction(e *Editor, a keymap.Action) bool {
	return v.insertion(e, viStep{action: a})
}

// typeText types text at the cursor.
func (v *vi) typeText(e *Editor, text string) {
	if !v.insertion(e, viStep{text: []byte(text)}) {
		e.Insert(text)
	}
}

// paste inserts text in one step.
func (v *vi) paste(e *Editor, text string) {
	if !v.insertion(e, viStep{text: []byte(text), pasted: true}) {
		e.Paste(text)
	}
}

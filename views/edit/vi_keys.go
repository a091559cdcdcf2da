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

// Restart enters insert mode for a new text.
func (v *Vi) Restart(e *Editor) {
	if v.On {
		e.log.endGroup()
		v.rep.now = nil
		v.insert(e)
	}
}

// Escape leaves insert or visual mode for normal mode, or drops a partial command, and reports whether it did.
func (v *Vi) Escape(e *Editor) bool {
	if !v.Normal {
		v.leave(e)
		return true
	}
	pending := v.cmd != viPending{}
	v.cmd = viPending{}
	return v.sel.end(e) || pending
}

// Press handles a key of normal mode, looked up in the scope Vi, and reports whether it handled the key. In an empty
// text, the keys / ! and @ enter insert mode and are not handled, so that they open their lists. Plain up and down go
// to the callback line, as LineUp and LineDown.
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

// Changed ends selections and commands of normal mode after an outside change of the text.
func (v *Vi) Changed(e *Editor) {
	if v.Normal {
		v.sel.end(e)
		v.Settle(e)
	}
}

// TypeAction executes an action of insert mode and reports whether it did.
func (v *Vi) TypeAction(e *Editor, a keymap.Action) bool {
	return v.insertion(e, viStep{action: a})
}

// TypeText types text at the cursor.
func (v *Vi) TypeText(e *Editor, text string) {
	if !v.insertion(e, viStep{text: []byte(text)}) {
		e.Insert(text)
	}
}

// Paste inserts text as one undo step.
func (v *Vi) Paste(e *Editor, text string) {
	if !v.insertion(e, viStep{text: []byte(text), pasted: true}) {
		e.Paste(text)
	}
}

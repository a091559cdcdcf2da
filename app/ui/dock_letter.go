package ui

import (
	"time"

	"buddy/app/keymap"
	"buddy/views/dialog"
)

// mustWait reports whether a key of the docked dialog has to wait for the next key. A letter or digit that answers has
// to, because it may be the start of a sentence. Space and ? act at once, because no sentence starts with them. So do
// keys that ask for a reason, because text after them becomes the reason.
func (d *dock) mustWait(p keymap.Press) bool {
	switch {
	case p.Text == "" || p.Text == " " || !p.Bound() || d.approval.Typing() || d.approval.Ignores(p):
		return false
	case d.question.Open(): // text typed after a digit includes the digit
		return p.Action == keymap.ChoiceNumber && d.question.Has(p.Text) || p.Action == keymap.FullScreen && (d.question.Cut() || d.full)
	}
	return p.Action != keymap.DenyWithReason && p.Action != keymap.Explain
}

// startsText reports whether a key types a character that the docked dialog does not use, and so starts a text for the
// prompt.
func (d *dock) startsText(p keymap.Press) bool {
	switch {
	case p.Text == "" || d.approval.Typing():
		return false
	case d.question.Open() || p.Types():
		return true
	}
	return p.Text != " " && d.approval.Ignores(p)
}

// write starts a text in the prompt. If a question is docked, the text is the answer to it.
func (d *dock) write(text string) {
	if d.question.Open() {
		d.answers = d.request
	}
	d.typeOn(text)
}

// holdLetter keeps a letter back. The dialog gets it if no other key follows within dialog.LetterPause.
func (d *dock) holdLetter(p keymap.Press) {
	letter := &p
	d.letter = letter
	d.approval.Hear()
	d.deps.After(dialog.LetterPause, func() {
		if d.letter == letter { // the same request still shows
			d.endPause()
		}
	})
}

// endPause gives the dialog the letter that was kept back, because no text follows.
func (d *dock) endPause() {
	letter := d.letter
	d.letter = nil
	switch {
	case letter == nil:
	case letter.Action == keymap.FullScreen:
		d.toggleFull()
	case d.approval.Open():
		d.approval.Do(*letter)
	case d.question.Open():
		d.question.Press(*letter)
	}
}

// catchUp prepares for a key that was pressed at the time came, which may be a while ago. If the dialog got the keys
// only after that time, it loses them. If the key was pressed long after the letter that was kept back, the dialog gets
// the letter.
func (d *dock) catchUp(came time.Time) {
	if came.Before(d.heldAt) {
		d.held = false
	}
	if d.letter != nil && came.Sub(d.letter.Event.When()) >= dialog.LetterPause {
		d.endPause()
	}
}

// afterLetter decides with the next key about a letter that was kept back. If the key is one of the dialog's, such as
// Enter, the letter is an answer. If the key is a character, the letter starts a text for the prompt. It reports
// whether the key is used up.
func (d *dock) afterLetter(p *keymap.Press) (done bool) {
	letter := d.letter
	switch {
	case letter == nil:
		return false
	case p.Text == "" && p.Scope == letter.Scope && p.Action != keymap.Back:
		d.endPause()
		scope, _ := d.target()
		return scope != p.Scope || p.Action == keymap.ChoiceTake // the focus changed, or the key took the digit
	}
	d.loseLetter()
	if p.Text != "" {
		p.Scope, p.Action = "", ""
	}
	return p.Action == keymap.Back // the prompt has the keys already
}

// loseLetter moves the kept letter to the prompt, because it starts a text, or its request is no longer shown.
func (d *dock) loseLetter() {
	if letter := d.letter; letter != nil {
		d.letter = nil
		d.write(letter.Text)
	}
}

// reasonToPrompt moves a typed reason to the prompt, together with the letter that asked for a reason, if it was typed
// so fast that both may be a sentence for the prompt. It reports whether it has moved a reason.
func (d *dock) reasonToPrompt() bool {
	text, quick := d.approval.DropQuickReason()
	if !quick {
		return false
	}
	d.toPrompt()
	d.prompt.Paste(text)
	return true
}

// awaitLive draws the approval again when the choices that are inactive at first become active.
func (d *dock) awaitLive() {
	if wait := d.approval.LiveIn(); wait > 0 {
		d.deps.After(wait+time.Millisecond, func() {})
	}
}

package ui

import (
	"time"

	"buddy/app/keymap"
	"buddy/views/dialog"
)

// mustWait reports whether a key of the docked dialog has to wait for the next key: a letter or digit with a meaning there
// may be the start of a sentence. Space and ? act at once, because no sentence starts with them, and so do keys that
// ask for a reason, because any text after them is the reason.
func (d *dock) mustWait(p keymap.Press) bool {
	switch {
	case p.Text == "" || p.Text == " " || !p.Bound() || d.approval.Typing() || d.approval.Ignores(p):
		return false
	case d.question.Open(): // text typed after a digit includes the digit
		return p.Action == keymap.ChoiceNumber && d.question.Has(p.Text) || p.Action == keymap.FullScreen && (d.question.Cut() || d.full)
	}
	return p.Action != keymap.DenyWithReason && p.Action != keymap.Explain
}

// startsText reports whether a key is a character that the docked dialog does not use.
func (d *dock) startsText(p keymap.Press) bool {
	switch {
	case p.Text == "" || d.approval.Typing():
		return false
	case d.question.Open() || p.Types():
		return true
	}
	return p.Text != " " && d.approval.Ignores(p)
}

// write starts a text in the prompt: an answer, if a question is docked.
func (d *dock) write(text string) {
	if d.question.Open() {
		d.answers = d.request
	}
	d.typeOn(text)
}

// holdLetter keeps a letter back. The dialog gets it if no key follows within the pause.
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

// catchUp prepares for a key that was pressed at the time came, which may be a while ago. The dialog loses the keys if
// it got them after that time. If the key came long after the kept letter, the dialog gets the letter.
func (d *dock) catchUp(came time.Time) {
	if came.Before(d.heldAt) {
		d.held = false
	}
	if d.letter != nil && came.Sub(d.letter.Event.When()) >= dialog.LetterPause {
		d.endPause()
	}
}

// afterLetter uses the next key to decide about a kept letter: a key of the dialog such as Enter makes the letter an
// answer, a character makes it the start of a text for the prompt. It reports whether the key is used up.
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

// reasonToPrompt moves a reason to the prompt, with the letter before it, if it was typed so fast that it may be the
// rest of a sentence. It reports whether there was such a reason.
func (d *dock) reasonToPrompt() bool {
	text, quick := d.approval.DropQuickReason()
	if !quick {
		return false
	}
	d.toPrompt()
	d.prompt.Paste(text)
	return true
}

// awaitLive draws the choices again when the delayed choices become active.
func (d *dock) awaitLive() {
	if wait := d.approval.LiveIn(); wait > 0 {
		d.deps.After(wait+time.Millisecond, func() {})
	}
}

package ui

import (
	"time"

	"buddy/app/keymap"
	"buddy/views/dialog"
)

// waits reports whether a key of what is docked has to wait for the one after it: a letter or
// digit that means something there may be the first of a sentence. Space and ? act at once: no
// sentence begins with them. So does what asks for a reason: the reason is all that follows.
func (d *dock) waits(p keymap.Press) bool {
	switch {
	case p.Text == "" || p.Text == " " || !p.Bound() || d.approval.Typing() || d.approval.Ignores(p):
		return false
	case d.question.Open(): // what is typed after a digit takes it along
		return p.Action == keymap.ChoiceNumber && d.question.Has(p.Text) || p.Action == keymap.FullScreen && (d.question.Cut() || d.full)
	}
	return p.Action != keymap.DenyWithReason && p.Action != keymap.Explain
}

// startsText reports whether a key is a character that what is docked has no use for.
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

// holdLetter keeps a letter back for a moment. The dialog takes it when nothing follows.
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

// endPause gives the dialog a letter that is kept back: it starts no text.
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

// catchUp considers when a key came that is read now: before the dialog had the keys, or so long after the letter
// that is kept back that both are no text.
func (d *dock) catchUp(came time.Time) {
	if came.Before(d.heldAt) {
		d.held = false
	}
	if d.letter != nil && came.Sub(d.letter.Event.When()) >= dialog.LetterPause {
		d.endPause()
	}
}

// afterLetter decides what a letter was that is kept back, by the key after it: an answer if that is
// one of the dialog's, such as Enter, or the start of a text, then the key is for the prompt. It reports
// whether nothing is left to do for the key.
func (d *dock) afterLetter(p *keymap.Press) (done bool) {
	letter := d.letter
	switch {
	case letter == nil:
		return false
	case p.Text == "" && p.Scope == letter.Scope && p.Action != keymap.Back:
		d.endPause()
		scope, _ := d.target()
		return scope != p.Scope || p.Action == keymap.ChoiceTake // it is no key of what has the keys now, or took the digit
	}
	d.loseLetter()
	if p.Text != "" {
		p.Scope, p.Action = "", ""
	}
	return p.Action == keymap.Back // which has led to the prompt
}

// loseLetter gives the prompt a letter that is kept back: it begins a text, or what it was for does
// not show any more.
func (d *dock) loseLetter() {
	if letter := d.letter; letter != nil {
		d.letter = nil
		d.write(letter.Text)
	}
}

// reasonToPrompt gives the prompt a reason that was typed so fast that it may have been the rest
// of a sentence, together with the letter before it. It reports whether there was one.
func (d *dock) reasonToPrompt() bool {
	text, quick := d.approval.DropQuickReason()
	if !quick {
		return false
	}
	d.toPrompt()
	d.prompt.Paste(text)
	return true
}

// awaitLive draws the choices anew when those work that do so only after a pause.
func (d *dock) awaitLive() {
	if wait := d.approval.LiveIn(); wait > 0 {
		d.deps.After(wait+time.Millisecond, func() {})
	}
}

package ui

import (
	"time"

	"github.com/gdamore/tcell/v2"

	"buddy/app/keymap"
	"buddy/views/dialog"
)

// waits reports whether a key of what is docked has to wait for the one after it: a letter or
// digit that means something there may be the first of a sentence. Space and ? act at once: no
// sentence begins with them. So does what asks for a reason: the reason is all that follows.
func (d *dock) waits(p keymap.Press) bool {
	switch {
	case p.Text == "" || p.Text == " " || !p.Bound() || d.approval.Typing():
		return false
	case d.question.Open(): // what is typed after a digit takes it along
		return p.Action == keymap.ChoiceNumber && d.question.Has(p.Text) || p.Action == keymap.FullScreen && (d.question.Cut() || d.full)
	}
	return p.Action != keymap.DenyWithReason && p.Action != keymap.Explain
}

// letterKey takes a letter that may begin a text, or does, and reports whether it was one.
func (d *dock) letterKey(p keymap.Press, ev *tcell.EventKey) bool {
	switch {
	case p.Text != "" && p.Text != " " && d.approval.Ignores(p):
		d.typeOn(ev)
	case d.waits(p):
		d.holdLetter(ev)
	default:
		return d.question.Open() && d.ownWords(p, ev)
	}
	return true
}

// holdLetter keeps a letter back for a moment. The dialog takes it when nothing follows.
func (d *dock) holdLetter(ev *tcell.EventKey) {
	d.letter = ev
	d.approval.Hear()
	d.deps.After(dialog.LetterPause, func() {
		if d.letter == ev { // the same request still shows
			d.letter = nil
			d.takeLetter(ev)
		}
	})
}

// takeLetter gives what is docked a letter that stands alone.
func (d *dock) takeLetter(ev *tcell.EventKey) {
	switch {
	case d.deps.Keys.Lookup(ev, d.view().Scope()).Action == keymap.FullScreen:
		d.toggleFull()
	case d.approval.Open():
		d.approval.Press(ev)
	case d.question.Open():
		d.question.InputHandler()(ev, nil)
	}
}

// endPause lets the dialog take a letter at once that is kept back.
func (d *dock) endPause() {
	if letter := d.letter; letter != nil {
		d.letter = nil
		d.takeLetter(letter)
	}
}

// afterLetter decides what a letter was that is kept back, by the key after it: the beginning of
// a text for the prompt, or an answer where that key is one of the dialog's, such as Enter. It
// reports whether the key after it is done with.
func (d *dock) afterLetter(ev *tcell.EventKey) (done bool) {
	letter := d.letter
	if letter == nil {
		return false
	}
	p := d.deps.Keys.Lookup(ev, d.view().Scope())
	switch {
	case ev.When().Sub(letter.When()) >= dialog.LetterPause: // it is read late
		d.endPause()
		return false
	case p.Text == "" && p.Bound() && p.Action != keymap.Back:
		d.endPause()
		return d.approval.Typing() || p.Action == keymap.ChoiceTake // it was no key of what is typed there, or took the digit
	}
	d.loseLetter()
	return p.Action == keymap.Back // which has led to the prompt
}

// loseLetter gives the prompt a letter that is kept back: it begins a text, or what it was for does
// not show any more.
func (d *dock) loseLetter() {
	if letter := d.letter; letter != nil {
		d.letter = nil
		if d.question.Open() {
			d.answers = d.request
		}
		d.typeOn(letter)
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

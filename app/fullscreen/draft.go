package fullscreen

import (
	"time"

	"buddy/app/slash"
	"buddy/sessions"
)

// draft is the unsent text of this screen, as far as it is stored. UI goroutine only.
type draft struct {
	file  *sessions.Draft
	text  string      // that the file has
	fresh bool        // the session had no file yet when it was begun
	timer *time.Timer // until it is saved; nil: nothing has changed
}

// takeDraft begins with the text that an earlier screen left.
func (w *window) takeDraft(file *sessions.Draft, fresh bool) {
	w.draft = draft{file: file, text: file.TakeOver(), fresh: fresh}
	w.ui.Prompt().SetText(w.draft.text)
}

// draftChanged saves the draft a second later, one that became empty at once: what was sent or
// deleted must not come back when this process is killed.
func (w *window) draftChanged() {
	switch {
	case w.draft.text != "" && w.ui.Prompt().Empty():
		w.saveDraft()
	case w.draft.timer == nil:
		w.draft.timer = time.AfterFunc(time.Second, func() { w.loop.Post(w.saveDraft) })
	}
}

// saveDraft stores the draft, beside the session if that has a file.
func (w *window) saveDraft() {
	d := &w.draft
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	text := w.ui.Prompt().Text()
	if slash.Private(text) {
		text = ""
	}
	if d.fresh && w.setup.Stored() { // what was typed first is sent
		_ = d.file.Save("")
		*d = draft{file: w.setup.Store.Draft(w.setup.ID)}
	}
	if text == d.text {
		return
	}
	d.text = text
	if err := d.file.Save(text); err != nil {
		w.ui.Tell("the draft was not saved: " + err.Error())
	}
}

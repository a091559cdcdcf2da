package fullscreen

import (
	"time"

	"buddy/app/slash"
	"buddy/app/ui"
	"buddy/sessions"
)

// draft is the unsent text of this screen, as far as it is stored. UI goroutine only.
type draft struct {
	file  *sessions.Draft
	text  string      // that the file has
	fresh bool        // the session had no file yet when it was begun
	timer *time.Timer // until it is saved; nil: nothing has changed
}

// takeDraft begins with the text that an earlier screen of the session left.
func (w *window) takeDraft(file *sessions.Draft) {
	w.draft = draft{file: file, text: file.TakeOver()}
	w.ui.Prompt().SetText(w.draft.text)
}

// takeUnsent puts what was typed in this folder and not sent, because its process was ended, into the
// history. It is not put into the prompt, where what the person types before the first frame would be
// joined to it and sent. Its file stays until something else is typed or the screen ends.
func (w *window) takeUnsent(file *sessions.Draft) {
	w.draft = draft{file: file, text: file.TakeOver(), fresh: true}
	lines := w.lines.Load()
	if w.draft.text != "" {
		w.lines.Add(w.draft.text)
		lines = append(lines, w.draft.text)
		w.ui.Tell("a prompt of an earlier session was not sent: Up brings it back")
	}
	w.ui.Prompt().SetHistory(lines)
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
	text := ui.Draft(w.ui)
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

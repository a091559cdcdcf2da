package fullscreen

import (
	"time"

	"buddy/app/slash"
)

// draftChanged saves the draft a second later.
func (w *window) draftChanged() {
	if w.saving == nil {
		w.saving = time.AfterFunc(time.Second, func() { w.loop.Post(w.saveDraft) })
	}
}

// saveDraft writes the draft, beside the session if that has a file.
func (w *window) saveDraft() {
	w.saving = nil
	text := w.ui.Prompt().Text()
	if slash.Private(text) {
		text = ""
	}
	save := func(text string) error { return w.setup.Store.SaveDraft(w.setup.ID, text) }
	switch {
	case w.unsent != nil && w.setup.Stored(): // what was typed first is sent
		_ = w.unsent.Save("")
		w.unsent, w.drafted = nil, ""
	case w.unsent != nil:
		save = w.unsent.Save
	}
	if text == w.drafted {
		return
	}
	w.drafted = text
	if err := save(text); err != nil {
		w.ui.Tell("the draft was not saved: " + err.Error())
	}
}

// takeUnsent puts what was typed in this folder and not sent, because its process was ended, into the
// history. It is not put into the prompt, where what the person types before the first frame would be
// joined to it and sent. Its file stays until something else is typed or the screen ends.
func (w *window) takeUnsent() {
	w.unsent, w.drafted = w.setup.Store.Unsent()
	lines := w.lines.Load()
	if w.drafted != "" {
		w.lines.Add(w.drafted)
		lines = append(lines, w.drafted)
		w.ui.Tell("a prompt of an earlier session was not sent: Up brings it back")
	}
	w.ui.Prompt().SetHistory(lines)
}

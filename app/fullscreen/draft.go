package fullscreen

import (
	"context"
	"time"

	"buddy/app/slash"
	"buddy/app/ui"
	"buddy/sessions"
)

// draft is the stored copy of the unsent text in this screen's prompt. UI goroutine only.
type draft struct {
	file    *sessions.Draft
	text    string      // as in the file
	fresh   bool        // the session had no file yet when the text was started
	touched bool        // the prompt has changed since the screen opened
	timer   *time.Timer // until the text is saved; nil if nothing changed
}

// otherScreenTime is the time after its start in which a screen takes over the draft of another screen that ends. A
// draft that is left later stays in its file.
const otherScreenTime = 30 * time.Second

// loadDraft puts the draft that an earlier screen of the session left into the prompt.
func (w *window) loadDraft(ctx context.Context, file *sessions.Draft) {
	show := func(text string) {
		w.draft.text = text
		w.ui.Prompt().SetText(text)
	}
	w.draft = draft{file: file}
	show(file.TakeOver())
	w.awaitOtherScreen(ctx, show)
}

// loadUnsent adds the text that an ended process in this folder left unsent to the history. It is not put into the
// prompt, because text typed before the first frame would be appended to it and sent. The file with the text stays
// until other text is typed or the screen ends.
func (w *window) loadUnsent(ctx context.Context, file *sessions.Draft) {
	lines := w.lines.Load()
	show := func(text string) {
		if w.draft.text = text; text != "" {
			w.lines.Add(text)
			lines = append(lines, text)
			w.ui.ShowHint("You have an unsent prompt from an earlier session. Press Up to edit it.")
		}
		w.ui.Prompt().SetHistory(lines)
	}
	w.draft = draft{file: file, fresh: true}
	show(file.TakeOver())
	w.awaitOtherScreen(ctx, show)
}

// awaitOtherScreen waits for a screen that is still ending when this screen starts, and calls show with its draft,
// unless this screen has text of its own by then.
func (w *window) awaitOtherScreen(ctx context.Context, show func(text string)) {
	if w.draft.text != "" {
		return
	}
	file, began := w.draft.file, time.Now()
	w.draft.touched = false
	file.AwaitLeft(func(l sessions.Left) {
		if ctx.Err() != nil || time.Since(began) > otherScreenTime {
			l.Release()
			return
		}
		w.loop.Post(func() {
			if w.draft.file != file || w.draft.touched || w.draft.text != "" {
				l.Release()
				return
			}
			show(file.Adopt(l))
		})
	})
}

// draftChanged saves the draft after a second. An empty draft is saved at once, because sent or deleted text must not
// reappear after this process is killed.
func (w *window) draftChanged() {
	w.draft.touched = true
	switch {
	case w.draft.text != "" && w.ui.Prompt().Empty():
		w.saveDraft()
	case w.draft.timer == nil:
		w.draft.timer = time.AfterFunc(time.Second, func() { w.loop.Post(w.saveDraft) })
	}
}

// saveDraft stores the draft, next to the session if the session has a file.
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
	if d.fresh && w.setup.Stored() { // the text typed first was sent
		_ = d.file.Save("")
		*d = draft{file: w.setup.Store.Draft(w.setup.ID)}
	}
	if text == d.text {
		return
	}
	d.text = text
	if err := d.file.Save(text); err != nil {
		w.ui.ShowHint("your draft was not saved: " + err.Error())
	}
}

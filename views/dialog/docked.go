package dialog

import (
	"fmt"
	"time"

	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/draw"
)

// Pause says how long no key must have come before keys belong to a dialog that opened by itself,
// and before what was edited runs: longer than anybody stops in the middle of typing.
const Pause = time.Second

// LetterPause says how long a letter that decides something waits for another one: longer than it
// takes to go on with a word. When one comes, both are text.
const LetterPause = 500 * time.Millisecond

// docked holds what the dialogs have in common that stand between the conversation and the prompt.
type docked struct {
	draw.Frame
	choices choices
	body    body // what scrolls
	place   DockPlace
	replies bool // what is typed in the prompt is its answer

	OnCopy func(text string) // what the mouse selected
	OnHint func(text string) // why a key did nothing; "" never
}

// DockPlace says which of the requests that wait a dialog shows.
type DockPlace struct {
	N, Of       int    // the first is 1
	Call, Calls int    // which of the calls of one answer it is about; the first is 1
	Who         string // who asks, "" for the main task
	Full        bool   // it has all rows that there are
}

// SetPlace says which of the requests that wait it is.
func (d *docked) SetPlace(p DockPlace) { d.place = p }

// SetReplies says whether what is typed in the prompt is its answer, and no prompt.
func (d *docked) SetReplies(replies bool) { d.replies = replies }

// CopySelection gives what is selected to OnCopy and reports whether there was something.
func (d *docked) CopySelection() bool { return d.body.CopySelection() }

// Dragging reports whether the mouse selects text in it.
func (d *docked) Dragging() bool { return d.body.mark.down }

// tell gives OnHint why a key did nothing.
func (d *docked) tell(why string) {
	if d.OnHint != nil {
		d.OnHint(why)
	}
}

// titled returns the title: how many wait, and which key answers while keys go to the prompt.
func (d *docked) titled(name []draw.Span) []draw.Span {
	if d.place.Of > 1 {
		name = append(name, draw.Text(themes.Muted, fmt.Sprintf(" %d of %d", d.place.N, d.place.Of)))
	}
	if d.place.Calls > 1 {
		name = append(name, draw.Text(themes.Muted, fmt.Sprintf(" · call %d of %d", d.place.Call, d.place.Calls)))
	}
	if d.place.Who != "" {
		name = append(name, draw.Text(themes.Muted, " · "), draw.Text(themes.Strong, d.place.Who))
	}
	if keys := d.Keys.Keys(keymap.ShowApproval); !d.HasFocus() && !d.replies && len(keys) > 0 {
		name = append(name, draw.Text(themes.Muted, " · "))
		name = append(name, draw.Clickable(keys[0], draw.Text(themes.Key, keys[0].String()), draw.Text(themes.Muted, " answers"))...)
	}
	return name
}

// hints returns the keys beside those of the choices: while keys go to the prompt the one that leads
// to the dialog. more says that not all rows show.
func (d *docked) hints(more bool) []draw.Hint {
	var all []draw.Hint
	add := func(a keymap.Action, label string) {
		if keys := d.Keys.Keys(a); len(keys) > 0 {
			all = append(all, draw.Hint{Key: keys[0], Label: label})
		}
	}
	switch {
	case d.replies:
		add(keymap.Send, "answers with what you typed")
		add(keymap.ShowApproval, "back to the choices")
		return all
	case !d.HasFocus():
		add(keymap.ShowApproval, "answers; keys go to the prompt")
		return all
	}
	if keys := d.Keys.Keys(keymap.ChoiceTake); len(keys) > 0 {
		all = append(all, draw.Hint{Label: "choose", Sign: "↑↓ " + keys[0].String()})
	}
	switch {
	case d.place.Full:
		add(keymap.FullScreen, "smaller")
	case more:
		add(keymap.FullScreen, "full screen")
	}
	switch {
	case d.place.N < d.place.Of:
		add(keymap.ShowApproval, "next")
	case d.place.Of > 0 && more: // rows are short
		add(keymap.ShowApproval, "back")
	case d.place.Of > 0:
		add(keymap.ShowApproval, "back to the prompt")
	}
	return all
}

// Cut reports whether rows of what is asked about had no room when the dialog was drawn last.
func (d *docked) Cut() bool { return d.body.Cut(len(d.body.rows)) }

// scroll carries out an action that scrolls the body and reports whether it is one.
func (b *body) scroll(a keymap.Action) bool {
	switch a {
	case keymap.DialogTop:
		a = keymap.ScrollTop
	case keymap.DialogEnd:
		a = keymap.ScrollBottom
	case keymap.PageUp, keymap.PageDown:
	default:
		return false
	}
	b.Move(a)
	return true
}

package dialog

import (
	"fmt"
	"slices"
	"strings"
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
	N, Of int    // the first is 1
	Who   string // who asks, "" for the main task
	Full  bool   // it has all rows that there are
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

// titled returns the title: which of those that wait it is, and who asks.
func (d *docked) titled(name []draw.Span) []draw.Span {
	if d.place.Of > 1 {
		name = append(name, draw.Text(themes.Muted, fmt.Sprintf("  %d of %d", d.place.N, d.place.Of)))
	}
	if d.place.Who != "" {
		name = append(append(name, draw.Text(themes.Muted, " · ")), draw.Untrusted(themes.Strong, d.place.Who)...)
	}
	return name
}

// hintRows returns the row below the choices: other keys at the left, at the right the one that leads back to the
// prompt. While keys go to the prompt, it says which one answers.
func (d *docked) hintRows(own []draw.Hint, w int) [][]draw.Span {
	name := func(a keymap.Action, before, after string) []draw.Span {
		keys := d.Keys.Keys(a)
		if len(keys) == 0 {
			return nil
		}
		return draw.Clickable(keys[0], draw.Text(themes.Muted, before), draw.Text(themes.Key, keys[0].String()), draw.Text(themes.Muted, after))
	}
	indent := draw.Text(themes.Text, strings.Repeat(" ", bodyIndent))
	w -= bodyIndent
	row := func(spans []draw.Span) [][]draw.Span {
		var rows [][]draw.Span
		for _, r := range draw.WrapSentence(spans, w) {
			rows = append(rows, append([]draw.Span{indent}, r...))
		}
		return rows
	}
	switch {
	case d.replies:
		text := append(name(keymap.Send, "", " sends what you typed as your answer. "), name(keymap.ShowApproval, "", " goes back to the choices.")...)
		return row(text)
	case !d.HasFocus():
		return row(name(keymap.ShowApproval, "Press ", " to answer. Typing goes to your prompt."))
	}
	if d.Cut() || d.place.Full {
		label := "full screen"
		if d.place.Full {
			label = "smaller"
		}
		if keys := d.Keys.Keys(keymap.FullScreen); len(keys) > 0 {
			own = append(own, draw.Hint{Key: keys[0], Label: label})
		}
	}
	left := draw.HintRow(own, w)
	var right []draw.Span
	switch {
	case d.place.N < d.place.Of:
		right = name(keymap.ShowApproval, "press ", " for the next one")
	case d.place.Of > 0:
		right = name(keymap.ShowApproval, "press ", " to go back to your prompt")
	}
	gap := w - draw.Width(left) - draw.Width(right)
	if len(right) == 0 || gap < 3 {
		return [][]draw.Span{append([]draw.Span{indent}, left...)}
	}
	return [][]draw.Span{slices.Concat([]draw.Span{indent}, left, []draw.Span{draw.Text(themes.Text, strings.Repeat(" ", gap))}, right)}
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

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

// Pause is the time without key presses before a dialog that opened by itself receives keys, and before an edited
// action runs. It is longer than a pause in the middle of typing.
const Pause = time.Second

// LetterPause limits the time for which a letter that answers a request is held back. If another letter comes in this
// time, the user is typing a prompt, and both are its text.
const LetterPause = 500 * time.Millisecond

// docked holds the common parts of the dialogs between the conversation and the prompt.
type docked struct {
	draw.Frame
	choices choices
	body    body // the scrolling part
	place   DockPlace
	replies bool // text typed in the prompt answers the dialog

	OnCopy func(text string) // selected by the mouse
	OnHint func(text string) // explains why a key did nothing; the text is never ""
}

// DockPlace describes where a dialog's request comes from, and its position among the pending requests.
type DockPlace struct {
	N, Of int    // N counts from 1
	Who   string // the subagent that asks, "" for the main task
	Full  bool   // it has all available rows
	List  bool   // a list opened the dialog, and the Back key returns to it
}

// SetPlace sets the position among the pending requests.
func (d *docked) SetPlace(p DockPlace) { d.place = p }

// SetReplies sets whether text typed in the prompt is the answer.
func (d *docked) SetReplies(replies bool) { d.replies = replies }

// CopySelection passes the selected text to OnCopy and reports whether there was any.
func (d *docked) CopySelection() bool { return d.body.CopySelection() }

// Dragging reports whether the mouse is selecting text.
func (d *docked) Dragging() bool { return d.body.mark.down }

// hint explains to OnHint why a key did nothing.
func (d *docked) hint(why string) {
	if d.OnHint != nil {
		d.OnHint(why)
	}
}

// titled adds the position and the asking subagent to a title.
func (d *docked) titled(name []draw.Span) []draw.Span {
	if d.place.Of > 1 {
		name = append(name, draw.Text(themes.Muted, fmt.Sprintf("  %d of %d", d.place.N, d.place.Of)))
	}
	if d.place.Who != "" {
		name = append(append(name, draw.Text(themes.Muted, " · ")), draw.Untrusted(themes.Strong, d.place.Who)...)
	}
	return name
}

// hintRows returns the rows below the choices: other keys on the left, the key back to the prompt on the right. While
// the prompt has the keys, the rows name the keys that answer and that lead to the choices.
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
	case d.place.List:
		right = name(keymap.Back, "press ", " to go back to the list")
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

// Cut reports whether some rows did not fit at the last draw.
func (d *docked) Cut() bool { return d.body.Cut(len(d.body.rows)) }

// scroll executes a scrolling action and reports whether it is one.
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

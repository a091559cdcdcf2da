package ui

import (
	"slices"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
)

// backAtRest handles Esc when there is nothing to close or stop. The second Esc opens the list of prompts.
func backAtRest(u *UI, pending keymap.Action) {
	switch {
	case u.state.Running() != nil || len(u.state.Back.Borders) == 0:
	case pending == keymap.Back:
		runWords(u, []string{"rewind"})
	default:
		u.hint(keymap.Back, "Press "+u.deps.Keys.Name(keymap.Back)+" again to rewind")
	}
}

// noteRewind records the first prompt that a rewind will remove, because its text is put into the prompt when the
// rewind is done.
func noteRewind(u *UI, c event.Command) {
	r, ok := c.(event.Rewind)
	i := slices.IndexFunc(u.state.Back.Borders, func(b state.Border) bool { return b.Seq == r.ToSeq })
	if ok && r.Conversation && i >= 0 {
		u.received.rewindTo = u.state.Back.Borders[i]
	}
}

// restorePrompt puts the text of the first rewound prompt into the prompt, if this screen has asked for the rewind. It
// first saves the draft in the history. It ignores the zero event.
func restorePrompt(u *UI, p event.HistoryRewound) {
	if p.ToSeq == 0 {
		return
	}
	b := u.received.rewindTo
	u.received.rewindTo = state.Border{}
	if p.Redo || b.Seq == 0 || p.ToSeq != b.Seq || u.following.on() {
		return
	}
	u.v.conversation.Bottom() // shows the result of the rewind
	if !u.v.prompt.Empty() {
		u.v.prompt.Discard()
	}
	u.v.prompt.Replace(b.Text)
}

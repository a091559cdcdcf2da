package ui

import (
	"buddy/app/layout"
	"buddy/app/slash"
	"buddy/app/state"
)

// goTo shows a position of the session as soon as it has been read.
func goTo(u *UI, s slash.Spot) {
	if s == (slash.Spot{}) {
		return
	}
	u.start.goal = s
	u.arranged.setFocus(layout.Conversation)
	u.arrive()
}

// arrive shows the requested position if it has been read, or starts reading it.
func (u *UI) arrive() {
	s := u.start.goal
	if s == (slash.Spot{}) {
		return
	}
	from, to, gone := state.Span(&u.state)
	switch n := state.PartOf(&u.state, s.Seq); {
	case n >= from && n < to, n >= gone && to == gone:
	case n >= gone, state.Lost(&u.state):
		u.update(state.Leave(&u.state))
	default:
		u.hint("", "loading the conversation back to the match …")
		if !u.earlier.reads {
			showPart(u, n, func() bool { return u.start.goal == s }, nil)
		}
		return
	}
	at, exact := u.state.BlocksOf(s.Seq, s.Call)
	if !exact && state.Awaits(&u.state) {
		u.hint("", "loading the conversation back to the match …")
		return
	}
	u.start.goal = slash.Spot{}
	u.hint("", "")
	if !u.v.conversation.FindIn(s.Text, at) {
		u.hint("", "the match is here, but the text looks different on the screen")
	}
}

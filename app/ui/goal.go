package ui

import (
	"buddy/app/layout"
	"buddy/app/slash"
)

// goTo shows a place of the session, at once or when it has been read.
func goTo(u *UI, s slash.Spot) {
	if s == (slash.Spot{}) {
		return
	}
	u.start.goal = s
	u.arranged.setFocus(layout.Conversation)
	u.arrive()
}

// arrive goes to the place that somebody waits for, if there is one and it has been read.
func (u *UI) arrive() {
	s := u.start.goal
	if s == (slash.Spot{}) {
		return
	}
	at, exact := u.state.BlocksOf(s.Seq, s.Call)
	if !exact && !u.state.Whole() {
		u.hint("", "reading on, back to where the text was found …")
		readEarlier(u, nil)
		return
	}
	u.start.goal = slash.Spot{}
	u.hint("", "")
	if !u.v.conversation.FindIn(s.Text, at) {
		u.hint("", "this is the place; the text shows in another way here")
	}
}

package app

import (
	"strings"

	"buddy/agent/event"
	"buddy/app/layout"
	"buddy/sessions"
)

// spot is a place in a session where a search found a text. The zero spot is none.
type spot struct {
	seq  uint64 // of the event that says it
	call string // that the event is about
	text string // that was looked for
}

// spotOf returns the place of a hit.
func spotOf(h sessions.Hit, text string) spot {
	s := spot{seq: h.Envelope.Seq, text: strings.TrimSpace(text)}
	switch p := h.Envelope.Payload.(type) {
	case event.ToolRequested:
		s.call = p.CallID
	case event.ToolResult:
		s.call = p.CallID
	}
	return s
}

// goTo shows a place of the session, at once or when it has been read.
func (u *ui) goTo(s spot) {
	if s == (spot{}) {
		return
	}
	u.spot = s
	u.setFocus(layout.Conversation)
	u.arrive()
}

// arrive goes to the place that somebody waits for, if there is one and it has been read.
func (u *ui) arrive() {
	s := u.spot
	if s == (spot{}) {
		return
	}
	at, exact := u.state.BlocksOf(s.seq, s.call)
	if !exact && !u.state.Whole() {
		u.hint("", "reading on, back to where the text was found …")
		return
	}
	u.spot = spot{}
	u.hint("", "")
	if !u.v.conversation.FindIn(s.text, at) {
		u.hint("", "this is the place; the text shows in another way here")
	}
}

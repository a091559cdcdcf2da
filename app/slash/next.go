package slash

// Next says what comes after a session: another one, or nothing.
type Next struct {
	Again  bool
	Detach bool   // it goes on without this screen
	Kill   bool   // what still runs in panes
	Resume string // the id of a session; "" is a new one
	Spot   Spot   // to show of it
	Prompt string // to send to it
	Browse bool   // open the list of sessions
}

// Reason says why the session ends, as hooks are told.
func (n Next) Reason() string {
	switch {
	case n.Again && n.Resume == "":
		return "clear"
	case n.Again:
		return "resume"
	}
	return "prompt_input_exit"
}

// Spot is a place in a session where a search found a text. The zero Spot is none.
type Spot struct {
	Seq  uint64 // of the event that says it
	Call string // that the event is about
	Text string // that was looked for
}

package slash

// Next describes how a screen leaves its session, and the session that follows, if any.
type Next struct {
	Again  bool
	Detach bool   // the session continues without this screen
	Kill   bool   // end the commands that still run in panes
	Resume string // the id of the next session; "" is a new one
	// Folder is the folder in which the next session was started, and Options are its host's options as JSON; see
	// client.Description. Options is "" for a session of the current folder.
	Folder  string
	Options string
	Spot    Spot   // the place to show in it
	Prompt  string // the prompt to send to it
	Browse  bool   // open the list of sessions
}

// Reason returns the reason that hooks get for the end of the session.
func (n Next) Reason() string {
	switch {
	case n.Again && n.Resume == "":
		return "clear"
	case n.Again:
		return "resume"
	}
	return "prompt_input_exit"
}

// Spot is the place in a session where a search found a text. The zero Spot is none.
type Spot struct {
	Seq  uint64 // of the event with the text
	Call string // the call that the event is about
	Text string // the text that was searched for
}

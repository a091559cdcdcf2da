package slash

// Catalog lists models, sessions, targets and the like for commands. Its functions may read files.
type Catalog struct {
	Notice  func(text string)        // tells the person on this screen; from any goroutine
	Running func() map[string]string // what the sessions do that run, by id; may take long
	Saved   Saved
	// Transcript returns all that the model was told and said in a session, in its own form.
	Transcript func(id string) (string, error)
}

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

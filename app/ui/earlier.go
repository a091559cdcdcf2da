package ui

import (
	"buddy/agent/event"
	"buddy/app/state"
	"buddy/views/transcript"
)

// SessionFile reads what is stored of the session. Its functions are called on another goroutine; nil ones
// mean that nothing is stored, and then all that was shown stays in memory.
type SessionFile struct {
	Newest func() (uint64, error) // the number of its last event
	// Read passes the events after a number to a function, in order, until that returns false.
	Read func(after uint64, f func(event.Envelope) bool) error
	// Transcript returns all messages to and from the model, in the form of its protocol.
	Transcript func() (string, error)
}

// earlier keeps those parts of the conversation out of memory that are far from what is on the screen.
type earlier struct {
	durable uint64 // number of the newest durable event that was heard
	asks    bool   // whether the file has that
	reads   bool   // a part is being read back
	counts  bool   // parts are being searched
	sought  *sought
	then    []func() // to be done when the beginning of the session has come
}

// trimBlocks lets parts far above the end go, if the session file has them: it has all that comes before the newest
// event that was heard.
func trimBlocks(u *UI) {
	e := &u.earlier
	if u.deps.File.Newest == nil || e.asks || u.following.on() || !state.Long(&u.state) {
		return
	}
	e.asks = true
	heard := e.durable
	u.deps.Background(func() func() {
		newest, err := u.deps.File.Newest()
		return func() {
			e.asks = false
			if err == nil && newest >= heard && !u.following.on() {
				u.update(state.Trim(&u.state, !transcript.AtRest(u.v.conversation)))
			}
		}
	})
}

// lookAround reads the parts near what is on the screen back, and lets the others go.
func lookAround(u *UI) {
	c, s := u.v.conversation, &u.state
	_, _, below := state.Shown(s)
	switch {
	case u.following.on() || s.Whole():
	case transcript.AtRest(c) && !state.Short(s) || transcript.Follows(c) && below:
		u.update(state.Leave(s))
	case u.earlier.reads || state.Awaits(s) || state.Lost(s):
	case transcript.WantsBeginning(c):
		showPart(u, 0, func() bool { return transcript.WantsBeginning(u.v.conversation) }, nil)
	default:
		first, last := transcript.InView(c)
		part, ok, changed := state.Near(s, first, last, transcript.Holds(c))
		u.update(changed)
		if ok {
			readBack(u, part, nil, nil)
		}
	}
}

// showPart reads a part and shows it instead of what is on the screen. Then it calls then, if that is not nil. It does neither
// if wanted returns false when the part has been read: the person went elsewhere meanwhile.
func showPart(u *UI, n int, wanted func() bool, then func()) {
	readBack(u, state.Parts(&u.state, n, n+1)[0], wanted, then)
}

// readBack reads a part and joins its blocks to those on the screen; with wanted it does what showPart does.
func readBack(u *UI, part state.Part, wanted func() bool, then func()) {
	e := &u.earlier
	e.reads = true
	inBackground(u, func() func() {
		var blocks []*state.Block
		err := state.ReadParts([]state.Part{part}, u.deps.File.Read, func(_ state.Part, all []*state.Block) bool {
			blocks = all
			return true
		})
		return func() {
			e.reads = false
			if err != nil {
				lose(u, err)
				return
			}
			if wanted == nil || wanted() {
				u.update(state.Join(&u.state, part, blocks, wanted != nil))
				if then != nil {
					then()
				}
			}
			u.arrive()
		}
	})
}

// inBackground calls work on another goroutine, and what that returns on this one, at once: a person waits for it.
func inBackground(u *UI, work func() (apply func())) {
	u.deps.Background(func() func() {
		u.deps.Later(work())
		return func() {}
	})
}

// lose says that the session file can't be read. What is there stays in use.
func lose(u *UI, err error) {
	u.hint("", "the start of the session can't be read: "+err.Error())
	u.update(state.Lose(&u.state))
	u.arrive()
}

package ui

import (
	"buddy/agent/event"
	"buddy/app/state"
	"buddy/views/transcript"
)

// SessionFile reads the stored session. Its functions are called off the UI goroutine. If they are nil, nothing is
// stored and the whole conversation stays in memory.
type SessionFile struct {
	Newest func() (uint64, error) // the number of its last event
	// Read passes the events after a number to f, in order, until f returns false.
	Read func(after uint64, f func(event.Envelope) bool) error
	// Transcript returns all messages to and from the model, in the format of its protocol.
	Transcript func() (string, error)
}

// earlier keeps parts of the conversation that are far from the screen out of memory.
type earlier struct {
	durable uint64 // number of the newest durable event received
	asks    bool   // while the newest event of the file is being read
	reads   bool   // while a part is being read back
	counts  bool   // while parts are being searched
	sought  *sought
	then    []func() // run when the start of the session has been read
}

// trimBlocks drops parts far above the end of a long conversation, once the session file has all durable events that
// this screen has received.
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

// lookAround reads back the parts of the conversation that are near the screen, and drops parts that are far from it.
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

// showPart reads back a part, shows it instead of the shown parts, and calls then unless it is nil. If wanted returns
// false after the part was read, the user has moved on, and showPart does neither.
func showPart(u *UI, n int, wanted func() bool, then func()) {
	readBack(u, state.Parts(&u.state, n, n+1)[0], wanted, then)
}

// readBack reads back a part and adds its blocks to the shown blocks. If wanted is not nil, it works like showPart.
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

// inBackground calls work on another goroutine, and then, on the UI goroutine, the function that work returns. That
// call is not delayed until a draw, because the user is waiting for the result.
func inBackground(u *UI, work func() (apply func())) {
	u.deps.Background(func() func() {
		u.deps.Later(work())
		return func() {}
	})
}

// lose shows that the session file can't be read. Blocks in memory stay usable.
func lose(u *UI, err error) {
	u.hint("", "the start of the session can't be read: "+err.Error())
	u.update(state.Lose(&u.state))
	u.arrive()
}

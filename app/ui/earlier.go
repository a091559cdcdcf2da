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
}

// earlier keeps those parts of the conversation out of memory that are far from what is on the screen.
type earlier struct {
	durable uint64 // number of the newest durable event that was heard
	asks    bool   // whether the file has that
	reads   bool   // a part is being read back
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
		showPart(u, 0, nil)
	default:
		first, last := transcript.InView(c)
		part, ok, changed := state.Near(s, first, last, transcript.Holds(c))
		u.update(changed)
		if ok {
			readBack(u, []state.Part{part}, false, nil)
		}
	}
}

// showPart shows a part instead of what is on the screen, and then calls then, if that is not nil.
func showPart(u *UI, n int, then func()) {
	readBack(u, state.Parts(&u.state, n, n+1), true, then)
}

// readBack reads a part and joins its blocks to those on the screen or, with jump, shows them instead. Then it calls then,
// if that is not nil.
func readBack(u *UI, part []state.Part, jump bool, then func()) {
	e := &u.earlier
	e.reads = true
	inBackground(u, func() func() {
		var blocks []*state.Block
		err := state.ReadParts(part, u.deps.File.Read, func(_ state.Part, all []*state.Block) bool {
			blocks = all
			return true
		})
		return func() {
			e.reads = false
			if err != nil {
				lose(u, err)
				return
			}
			u.update(state.Join(&u.state, part[0], blocks, jump))
			if then != nil {
				then()
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
	u.hint("", "the beginning of the session can't be read: "+err.Error())
	u.update(state.Lose(&u.state))
	u.arrive()
}

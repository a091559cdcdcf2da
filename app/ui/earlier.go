package ui

import (
	"buddy/agent/event"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/views/transcript"
)

// SessionFile reads what is stored of the session. Its functions are called on another goroutine; nil ones
// mean that nothing is stored, and then all that was shown stays in memory.
type SessionFile struct {
	Newest func() (uint64, error)                // the number of its last event
	Read   func(func(event.Envelope) bool) error // all events, in order, until the function returns false
}

// earlier keeps the blocks far above the end out of memory while nobody looks at them.
type earlier struct {
	durable uint64   // number of the newest durable event that was heard
	asks    bool     // whether the file has that
	reads   bool     // the file
	then    []func() // to be done when all of it has been read
}

// trimBlocks lets blocks far above the end go, if nobody looks at them and the session file has them: it
// has all that comes before the newest event that was heard.
func trimBlocks(u *UI) {
	e := &u.earlier
	if u.deps.File.Newest == nil || e.asks || e.reads || !state.Long(&u.state) || !mayTrim(u) {
		return
	}
	e.asks = true
	heard := e.durable
	u.deps.Background(func() func() {
		newest, err := u.deps.File.Newest()
		return func() {
			e.asks = false
			if err == nil && newest >= heard && !e.reads && mayTrim(u) {
				u.update(state.Trim(&u.state))
			}
		}
	})
}

// mayTrim reports whether nobody would miss what is far above the end.
func mayTrim(u *UI) bool {
	return !u.following.on() && u.start.goal == (slash.Spot{}) && transcript.AtRest(u.v.conversation)
}

// wantEarlier reads the blocks that were let go, if the conversation needs them.
func wantEarlier(u *UI) {
	if !u.following.on() && transcript.NeedsEarlier(u.v.conversation) {
		readEarlier(u, nil)
	}
}

// inWhole does something in all blocks of the conversation: at once, or when they have been read.
func inWhole(u *UI, do func() error) error {
	if u.following.on() || !state.Trimmed(&u.state) {
		return do()
	}
	u.hint("", "reading the conversation from its beginning …")
	readEarlier(u, func() {
		u.hint("", "")
		if err := do(); err != nil {
			u.hint("", err.Error())
		}
	})
	return nil
}

// fromEnd does something that fails if a block is not there which is mostly near the end, and if it does, does it
// in all blocks.
func fromEnd(u *UI, do func() error) error {
	if err := do(); err == nil || !state.Trimmed(&u.state) {
		return err
	}
	return inWhole(u, do)
}

// readEarlier brings back the blocks that were let go, and then does something, if it is not nil.
func readEarlier(u *UI, then func()) {
	e := &u.earlier
	if then != nil {
		e.then = append(e.then, then)
	}
	if e.reads || !state.Trimmed(&u.state) {
		return
	}
	e.reads = true
	u.deps.Background(func() func() {
		whole, err := state.Fold(true, u.deps.File.Read)
		return func() {
			e.reads = false
			if err != nil {
				u.hint("", "the beginning of the session can't be read: "+err.Error())
			}
			u.update(state.Restore(&u.state, whole))
			then := e.then
			e.then = nil
			for _, do := range then {
				do()
			}
			u.arrive()
		}
	})
}

package ui

import (
	"iter"

	"buddy/app/state"
)

// lookBack calls do with the blocks of the conversation, newest first, and then the function that do returns. If do
// asks for more blocks than are in memory, lookBack calls it again on another goroutine with all blocks, which are read
// back a few parts at a time. If the start of the session is still being read, lookBack first waits for it.
func lookBack(u *UI, do func(newest iter.Seq[*state.Block]) (then func(), err error)) error {
	blocks, more := u.following.shown(&u.state).Blocks, false // wrong arguments need no block
	then, err := do(func(yield func(*state.Block) bool) {
		more = true
		for b := range state.Newest(blocks) {
			if more = yield(b); !more {
				return
			}
		}
	})
	if more && !u.following.on() && state.Awaits(&u.state) {
		u.hint("", "loading earlier messages …")
		u.earlier.then = append(u.earlier.then, func() {
			u.hint("", "")
			if err := lookBack(u, do); err != nil {
				u.hint("", err.Error())
			}
		})
		return nil
	}
	_, _, gone := state.Span(&u.state)
	if !more || gone == 0 || u.following.on() || state.Lost(&u.state) {
		if err == nil {
			then()
		}
		return err
	}
	u.hint("", "loading earlier messages …")
	blocks = copied(blocks)
	parts := state.Parts(&u.state, 0, gone)
	inBackground(u, func() func() {
		var failed error
		then, err := do(func(yield func(*state.Block) bool) { failed = readBackwards(u.deps.File, blocks, parts, yield) })
		return func() {
			u.hint("", "")
			switch {
			case failed != nil:
				lose(u, failed)
			case err != nil:
				u.hint("", err.Error())
			default:
				then()
			}
		}
	})
	return nil
}

// copied returns copies of blocks for another goroutine, without the output of their calls.
func copied(blocks []*state.Block) []*state.Block {
	all := make([]*state.Block, len(blocks))
	for i, b := range blocks {
		all[i] = &state.Block{Kind: b.Kind, Text: b.Text, Review: b.Review}
		if b.Call != nil {
			all[i].Call = &state.Call{ID: b.Call.ID, Agent: b.Call.Agent}
		}
	}
	return all
}

// readBackwards calls f for each block, from the last to the first, until f returns false: first for blocks, then for
// the blocks of parts, which come before them.
func readBackwards(file SessionFile, blocks []*state.Block, parts []state.Part, f func(*state.Block) bool) error {
	for {
		for b := range state.Newest(blocks) {
			if !f(b) {
				return nil
			}
		}
		if blocks = nil; len(parts) == 0 {
			return nil
		}
		first := max(len(parts)-seekParts, 0)
		err := state.ReadParts(parts[first:], file.Read, func(_ state.Part, more []*state.Block) bool {
			blocks = append(blocks, more...)
			return true
		})
		if err != nil {
			return err
		}
		parts = parts[:first]
	}
}

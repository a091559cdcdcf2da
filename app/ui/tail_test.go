package ui

import (
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/app/state"
)

// The first frame of a stored session shows its end; what ran does not run any more, an
// approval that was open is not open yet, and the rest comes in front.
func TestTailFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		var all []event.Envelope
		for i, p := range append([]event.Event{event.SessionCreated{Cwd: "/old", Model: "old"}, event.PromptSubmitted{ID: 1, Text: "the very first"}}, append(running, asked)...) {
			all = append(all, event.Envelope{Seq: uint64(i + 1), Time: 1, Session: "7f3a-0000", Task: 1, Payload: p})
		}
		x.u.deps.Later(func() {
			x.u.state = state.State{}
			x.u.ApplyTail("7f3a-0000", all[2:], &event.SessionResumed{Cwd: "/home/ann/shop", Target: "local", Model: "demo"})
		})
		time.Sleep(time.Second)
		x.Settle()
		x.Want("list the files", "I will look.", "~/shop", "● demo")
		x.unwanted("the very first", "Approve?")
		if x.u.busy {
			t.Error("something runs")
		}
		var before state.State
		for _, env := range all[:2] {
			before.Apply(env)
		}
		x.u.deps.Later(func() { x.u.Prepend(&before) })
		time.Sleep(time.Second)
		x.Settle()
		x.Want("the very first", "list the files", "~/shop")
		x.unwanted("Approve?")
		x.seq = 100
		x.tell(event.SessionResumed{Cwd: "/home/ann/shop", Target: "local", Model: "demo", Interrupted: true}, asked)
		x.Want("Approve?")
	})
}

package ui

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/app/slash"
	"buddy/app/state"
)

// needles is a session with a text near its start, in the output of a call.
func needles() []event.Envelope {
	code := 0
	payloads := []event.Event{
		event.SessionCreated{Cwd: "/home/ann/shop", Target: "local", Model: "demo"},
		event.PromptSubmitted{ID: 1, Text: "where is the needle?"},
		event.ToolRequested{CallID: "a", Name: "run_shell"},
		event.ToolResult{CallID: "a", Name: "run_shell", ExitCode: &code, Tail: "hay\nthe needle\nhay"},
	}
	for i := range 60 {
		payloads = append(payloads, event.PromptSubmitted{ID: 2, Text: fmt.Sprintf("prompt %d", i)}, answer(fmt.Sprintf("the **answer** %d", i)))
	}
	all := make([]event.Envelope, len(payloads))
	for i, p := range payloads {
		all[i] = event.Envelope{Seq: uint64(i + 1), Time: 1, Session: "7f3a-0000", Task: 1, Payload: p}
	}
	return all
}

func hitOf(env event.Envelope, text string) slash.Spot {
	return slash.Hit{Event: env}.Spot(text)
}

// A search leads to its hit even if that part has not been read yet.
func TestGoToHit(t *testing.T) {
	all := needles()
	for _, size := range [][2]int{{120, 32}, {40, 12}} {
		for _, from := range []int{0, len(all) - 20} {
			t.Run(fmt.Sprintf("%dx%d from %d", size[0], size[1], from), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					x := open(t, size[0], size[1])
					do := func(f func()) { x.u.deps.Later(f); x.Settle() }
					do(func() {
						x.u.state = state.State{}
						x.u.ApplyTail("7f3a-0000", all[from:], &event.SessionResumed{Cwd: "/home/ann/shop", Target: "local", Model: "demo"})
					})
					do(func() { goTo(x.u, hitOf(all[3], " needle ")) })
					if from > 0 {
						x.Want("loading the conversation", "answer 59")
						var before state.State
						for _, env := range all[:from] {
							before.Apply(env)
						}
						do(func() {
							x.u.Prepend(&before)
						})
					}
					x.Want("the needle", "2 of 2", "▾ a command")
					x.unwanted("loading the conversation", "answer 59")
					x.Press("N")
					x.Want("where is the needle?", "1 of 2")
					do(func() { goTo(x.u, hitOf(all[len(all)-1], "**answer** 59")) })
					x.Want("the answer 59", "the match is here, but")
					x.unwanted("where is")
				})
			})
		}
	}
}

func TestBrowserGoesToHit(t *testing.T) {
	store, ids := savedSessions(t, "first one", "second one")
	synctest.Test(t, func(t *testing.T) {
		x := browserOn(t, 80, 24, store)
		x.Type("/answer to first")
		time.Sleep(time.Second)
		x.Settle()
		x.Press("Enter")
		want := slash.Next{Again: true, Resume: ids[0], Spot: slash.Spot{Seq: 3, Text: "answer to first"}}
		if err := x.Ended(); err != nil || x.left != want {
			t.Errorf("left for %+v, %v, want %+v", x.left, err, want)
		}
	})
}

func TestBrowserGoesToHitInThisSession(t *testing.T) {
	store, ids := savedSessions(t, "first one", "second one")
	synctest.Test(t, func(t *testing.T) {
		x := openOn(t, 80, 24, store)
		x.u.state.Info.Session = ids[0]
		x.feed(event.PromptSubmitted{ID: 1, Text: "first one"}, answer("Answer to first one."))
		for i := range 30 {
			x.feed(answer(fmt.Sprintf("hay %d", i)))
		}
		x.u.state.Info.Session = ids[0]
		x.Press("F4")
		x.Type("/answer to first")
		x.Settle()
		x.Press("Enter")
		x.Want("Answer to first one.")
		x.unwanted("Sessions", "hay 29")
		if !x.Running() {
			t.Error("left the session")
		}
	})
}

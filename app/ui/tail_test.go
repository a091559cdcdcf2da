package ui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/layout"
	"buddy/app/state"
)

// The first frame of a stored session shows its end: former tasks are not running, a former approval is not open yet,
// and the rest is prepended.
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
		x.unwanted("the very first", "Run this command?")
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
		x.unwanted("Run this command?")
		x.seq = 100
		x.feed(event.SessionResumed{Cwd: "/home/ann/shop", Target: "local", Model: "demo", Interrupted: true}, asked)
		x.Want("Run this command?")
	})
}

// A command about the whole conversation waits for the start to be read; one that finds its subject at the end does
// not.
func TestCommandsWaitForTheBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		var all []event.Envelope
		for i, text := range []string{"the very first", "the second"} {
			all = append(all,
				event.Envelope{Seq: uint64(2*i + 1), Session: "7f3a-0000", Task: i, Payload: event.PromptSubmitted{ID: i, Text: text, Kind: event.Opening}},
				event.Envelope{Seq: uint64(2*i + 2), Session: "7f3a-0000", Task: i, Payload: event.ModelMessage{Message: model.Message{Content: "answer to " + text}}})
		}
		x.u.deps.Later(func() {
			x.u.state = state.State{}
			x.u.ApplyTail("7f3a-0000", all[2:], &event.SessionResumed{Cwd: "/home/ann/shop", Target: "local", Model: "demo"})
		})
		x.rest()
		command := func(line string) {
			x.Paste(line)
			x.Press("Enter")
			x.rest()
		}
		command("/copy")
		if x.copied != "answer to the second" {
			t.Errorf("copied %q", x.copied)
		}
		x.copied = ""
		command("/copy all")
		x.Want("loading earlier messages")
		if x.copied != "" {
			t.Errorf("copied %q before the beginning came", x.copied)
		}
		var before state.State
		for _, env := range all[:2] {
			before.Apply(env)
		}
		x.u.deps.Later(func() { x.u.Prepend(&before) })
		x.rest()
		x.Want("Copied 7 lines")
		if !strings.HasPrefix(x.copied, "> the very first") || !strings.HasSuffix(x.copied, "answer to the second") {
			t.Errorf("copied %q", x.copied)
		}
	})
}

// PgUp in the prompt scrolls up and keeps the draft; the row below the text tells that there is more and how to come
// back. Reading is not typing: Tab moves on at once.
func TestPagingFromThePrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running...)
		for i := range 60 {
			x.feed(event.ModelMessage{Message: model.Message{Content: fmt.Sprintf("answer %d.", i)}})
		}
		x.Want("answer 59.")
		x.Type("a draft")
		x.unwanted("lines below")
		x.Press("PgUp")
		x.unwanted("answer 59.")
		x.Want("> a draft", "lines below · PgDn · Tab, then End go to the end")
		x.Press("PgDn")
		x.Want("answer 59.", "> a draft")
		x.unwanted("lines below")
		x.Press("PgUp")
		x.feed(event.ModelMessage{Message: model.Message{Content: "the newest"}})
		x.Want("↓ 2 new lines")
		x.rest()
		x.Press("PgUp", "Tab")
		if got := x.u.arranged.focus; got != layout.Conversation {
			t.Errorf("the focus is in %v", got)
		}
	})
}

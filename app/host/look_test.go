package host

import (
	"sync"
	"testing"

	"buddy/agent/event"
	"buddy/app/client"
	"buddy/app/compose"
	"buddy/app/socket"
)

// The greeting of a program that looks describes the session, and its subscription to durable events neither starts
// the session nor keeps it alive.
func TestADashboardOnlyLooks(t *testing.T) {
	h := openHost(t, compose.Options{})
	board := h.Look(t.Context(), socket.Screen{})
	hello, err := board.Hello(t.Context())
	if err != nil || hello.About == nil || hello.About.State != client.Idle || hello.About.ID != hello.Session {
		t.Fatalf("%+v, %v", hello.About, err)
	}
	batches, err := board.Subscribe(t.Context(), hello.Last, client.DurableOnly)
	if err != nil {
		t.Fatal(err)
	}
	began := true
	h.start.Do(func() { began = false })
	if began {
		t.Error("the session has started")
	}
	h.start = sync.Once{}
	v := look(t, h)
	if hello, _ := v.Hello(t.Context()); hello.About != nil {
		t.Error("a screen has to wait for the description")
	}
	v.Send(event.Submit{Text: "help"})
	v.until("end of the exchange", finished)
	seen := &viewer{t: t, Session: board, events: batches}
	seen.until("end of the exchange", finished)
	for _, env := range seen.seen {
		if !event.Durable(env.Payload) {
			t.Errorf("%T", env.Payload)
		}
	}
	if hello, err = board.Hello(t.Context()); err != nil || hello.About.Prompt != "help" || hello.About.Said == "" || hello.About.Since == 0 {
		t.Errorf("%+v, %v", hello.About, err)
	}
	v.leave()
	eventually(t, "nobody is attached", func() bool { return !h.attended() })
}

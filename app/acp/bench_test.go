package acp

import (
	"io"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/host"
)

// bare returns a session without a process.
func bare() *session {
	s := &session{conn: newConn(io.Discard), id: "7f3a-0000-0000-0000", process: &host.Process{}}
	s.updates = updates{send: s.update, cwd: "/w", calls: make(map[string]*call)}
	return s
}

// An earlier change, such as the first mode of a session, is not the answer to a later request.
func TestEarlierChange(t *testing.T) {
	s, done := bare(), make(chan event.Event, 1)
	s.waiting = []waiter{{"mode", "plan", done}}
	for _, mode := range []action.Mode{action.ModeAsk, action.ModePlan} {
		s.handle([]event.Envelope{{Payload: event.ModeChanged{Mode: mode}}})
		if answered := len(done) > 0; answered != (mode == action.ModePlan) {
			t.Errorf("answered after the mode %s: %v", mode, answered)
		}
	}
}

// BenchmarkDelta measures what a delta of an answer costs the process of an editor.
func BenchmarkDelta(b *testing.B) {
	s := bare()
	batch := []event.Envelope{{Payload: event.TextDelta{Text: "a few words of "}}}
	b.ReportAllocs()
	for b.Loop() {
		batch[0].Seq++
		s.handle(batch)
		if len(s.updates.text.all) > 200<<10 { // the next answer
			s.updates.text = stream{}
		}
	}
}

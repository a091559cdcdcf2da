package acp

import (
	"io"
	"testing"

	"buddy/agent/event"
	"buddy/app/host"
	"buddy/app/state"
)

// BenchmarkDelta measures what a delta of an answer costs the process of an editor.
func BenchmarkDelta(b *testing.B) {
	s := &session{conn: newConn(io.Discard), id: "7f3a-0000-0000-0000", process: &host.Process{}}
	s.updates = updates{send: s.update, cwd: "/w", calls: make(map[string]*call)}
	s.state = state.State{}
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

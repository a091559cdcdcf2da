package lostlimit

import (
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/agent/stream"
	"buddy/extensions"
)

// A file whose limits are not understood is reported once, and again for a different problem.
func TestLostLimitsAreSaidOnce(t *testing.T) {
	var said []string
	s := stream.New("s", time.Now, nil)
	s.Observe(func(env event.Envelope) {
		if w, ok := env.Payload.(event.Warning); ok {
			said = append(said, w.Text)
		}
	})
	var l Said
	lost := extensions.Problem{Kind: extensions.Agent, File: "a.md", Reason: "r", Limits: true}
	l.Tell(s, []extensions.Problem{lost, {Kind: extensions.Agent, File: "b.md", Reason: "no text"}})
	l.Tell(s, []extensions.Problem{lost})
	lost.Line = 3
	l.Tell(s, []extensions.Problem{lost})
	if len(said) != 2 || said[0] != "agent a.md: left out: r" || said[1] != "agent a.md:3: left out: r" {
		t.Errorf("%q", said)
	}
}

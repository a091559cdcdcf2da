// Package lostlimit warns about files that were left out because a limit in them, such as a skill's disallowed tools,
// is not understood.
//
//	var lost lostlimit.Said
//	lost.Tell(events, problems)
package lostlimit

import (
	"buddy/agent/event"
	"buddy/agent/stream"
	"buddy/extensions"
)

// Said remembers the reported problems. The zero value is ready to use.
type Said struct{ of map[extensions.Problem]bool }

// Tell publishes a warning for each problem that was not reported yet.
func (s *Said) Tell(events *stream.Stream, problems []extensions.Problem) {
	if s.of == nil {
		s.of = make(map[extensions.Problem]bool)
	}
	for _, p := range problems {
		if p.Limits && !s.of[p] {
			s.of[p] = true
			events.Publish(0, 0, event.Warning{Text: p.Kind.One() + " " + p.String(), Code: event.LostLimit, NextStep: "fix the file; buddy doctor lists what is left out"})
		}
	}
}

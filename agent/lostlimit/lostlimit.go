// Package lostlimit says of files that were left out because what they limit is not understood.
//
//	var lost lostlimit.Said
//	lost.Tell(events, problems)
package lostlimit

import (
	"buddy/agent/event"
	"buddy/agent/stream"
	"buddy/extensions"
)

// Said holds what was said. The zero value has said nothing.
type Said struct{ of map[extensions.Problem]bool }

// Tell tells the person of those among problems that were not said yet.
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

// Package lostlimit warns the user about extension files that buddy ignores because they contain a limit that it
// can't read, such as a skill's list of disallowed tools. It reports each problem once.
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

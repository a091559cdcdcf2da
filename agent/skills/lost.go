package skills

import (
	"buddy/agent/event"
	"buddy/agent/stream"
	"buddy/extensions"
)

// Lost says of files that were left out because what they limit is not understood. Each is said once. The zero value
// has said nothing.
type Lost struct{ said map[extensions.Problem]bool }

// Say tells the person of those among problems that were not said yet.
func (l *Lost) Say(s *stream.Stream, problems []extensions.Problem) {
	if l.said == nil {
		l.said = make(map[extensions.Problem]bool)
	}
	for _, p := range problems {
		if p.Limits && !l.said[p] {
			l.said[p] = true
			s.Publish(0, 0, event.Warning{Text: p.Kind.One() + " " + p.String(), Code: event.LostLimit, NextStep: "fix the file; buddy doctor lists what is left out"})
		}
	}
}

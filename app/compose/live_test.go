package compose

import (
	"testing"

	"buddy/agent/event"
)

// A pane of the first target that was opened and not closed is one that an earlier process has left.
func TestLeftPanes(t *testing.T) {
	opened, closed := event.PaneOpened{Pane: "%1"}, event.PaneClosed{Pane: "%1"}
	for name, tt := range map[string]struct {
		events []event.Event
		want   bool
	}{
		"none":              {nil, false},
		"open":              {[]event.Event{opened}, true},
		"lost":              {[]event.Event{opened, event.PaneLost{Pane: "%1"}}, true},
		"closed":            {[]event.Event{opened, closed}, false},
		"opened again":      {[]event.Event{opened, closed, opened}, true},
		"on another target": {[]event.Event{event.PaneOpened{Pane: "web-01:%1"}}, false},
	} {
		var all []event.Envelope
		for _, e := range tt.events {
			all = append(all, event.Envelope{Payload: e})
		}
		if got := leftPanes(all); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

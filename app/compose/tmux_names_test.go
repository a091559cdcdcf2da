package compose

import (
	"maps"
	"testing"

	"buddy/agent/event"
)

func TestTmuxNamesOfAStoredSession(t *testing.T) {
	var events []event.Envelope
	for _, p := range []event.Event{
		event.PaneOpened{Pane: "%0", Target: "local", Attach: "tmux attach -t buddy-7f3a-1111"}, // an older program did not record the name
		event.PaneOpened{Pane: "%1", Target: "local", Session: "buddy-7f3a"},
		event.PaneOpened{Pane: "web:%1", Target: "web", Session: "buddy-7f3a-2"},
		event.PaneClosed{Pane: "%1"},
		event.PaneOpened{Pane: "%2", Target: "local", Session: "buddy-7f3a-1"},
	} {
		events = append(events, event.Envelope{Payload: p})
	}
	want := map[string]string{"local": "buddy-7f3a-1", "web": "buddy-7f3a-2"}
	if got := tmuxNames(events); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

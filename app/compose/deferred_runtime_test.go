package compose

import (
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent"
	"buddy/agent/event"
	"buddy/agent/model/demo"
)

// A report from a session that is still being read waits until it runs, for a limited time.
func TestReportWaitsForTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Program{}
		if _, err := Report(t.Context(), p, agent.Status); err == nil || err.Error() != "the session is still loading" {
			t.Errorf("%v", err)
		}
		got := make(chan []agent.Section, 1)
		go func() {
			sections, err := Report(t.Context(), p, agent.Status)
			if err != nil {
				t.Error(err)
			}
			got <- sections
		}()
		time.Sleep(sinceTime / 2)
		p.Live.begin(agent.New(agent.Options{Session: "7f3a", Model: demo.New(0)}))
		if s := <-got; len(s) == 0 || s[0].Facts[0].Text != "7f3a" {
			t.Errorf("%+v", s)
		}
	})
}

// A pane of the first target that was opened and not closed was left by an earlier process.
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
		if got := hasOldPanes(all); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

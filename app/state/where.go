package state

import (
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
)

// Target is where the command of a ShellTask runs, "" on the first target.
func (t *Task) Target() string {
	if target, _, named := strings.Cut(t.Pane, ":"); named {
		return target
	}
	return ""
}

// Picture is what the pane of a call shows, nil if that is not known. It is of interest
// while a Terminal call runs.
func (s *State) Picture(c *Call) *event.PaneScreen {
	if c.Pane == "" {
		return nil
	}
	if p := paneOf(s.Panes, c.Pane); p != nil && p.Lost == "" {
		return p.Screen
	}
	return nil
}

// elsewhere returns the target of an action, "" if it is the first one.
func elsewhere(first string, a action.Action) string {
	if first == "" || a.Target == first {
		return ""
	}
	return a.Target
}

// begin takes note of a command.
func (s *State) begin(c *Call) {
	if !c.Action.Kind.IsCommand() {
		return
	}
	if s.ran == nil {
		s.ran = make(map[string]*Call)
	}
	s.ran[c.Action.Target] = c
}

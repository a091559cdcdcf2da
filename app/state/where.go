package state

import (
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
)

// Target returns the target on which the command of a ShellTask runs, "" for the first one.
func (t *Task) Target() string {
	if target, _, named := strings.Cut(t.Pane, ":"); named {
		return target
	}
	return ""
}

// Picture returns what the pane of a call shows, nil if that is not known. It is of interest
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

// BarePane is in the place of the id of a pane where a call has none.
const BarePane = "-"

// watch notes where a call that has just begun can be watched.
func watch(s *State, c *Call) {
	switch {
	case c.Pane != "":
		s.Began = c.Pane
	case watchable(c):
		s.Bare, s.Began = c, BarePane
	}
}

// watchable reports whether it is worth while to watch what a call prints: that of files and what stays
// inside buddy ends at once.
func watchable(c *Call) bool {
	switch k := c.Action.Kind; {
	case k.IsCommand(), k == action.Network, k == action.Browser, k == action.MCP:
		return true
	}
	return false
}

// gotPane notes that a pane opened for a command that has just started.
func gotPane(s *State, c *Call, pane string) {
	if c.Pane = pane; s.Bare == c {
		s.Bare = nil
	}
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

package state

import (
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
)

// Target returns the target on which the command of a ShellTask runs, "" for the first target.
func (t *Task) Target() string {
	if target, _, named := strings.Cut(t.Pane, ":"); named {
		return target
	}
	return ""
}

// Picture returns the contents of the pane of a running Terminal call, nil if unknown.
func (s *State) Picture(c *Call) *event.PaneScreen {
	if c.Pane == "" {
		return nil
	}
	if p := paneOf(s.Panes, c.Pane); p != nil && p.Lost == "" {
		return p.Screen
	}
	return nil
}

// elsewhere returns the target of an action, "" for the first target.
func elsewhere(first string, a action.Action) string {
	if first == "" || a.Target == first {
		return ""
	}
	return a.Target
}

// BarePane stands for a pane's id if a call has no pane.
const BarePane = "-"

// watch records where a call that has just started can be watched.
func watch(s *State, c *Call) {
	switch {
	case c.Pane != "":
		s.Began = c.Pane
	case watchable(c):
		s.Bare, s.Began = c, BarePane
	}
}

// watchable reports whether the output of a call is worth watching. Calls on files and inside buddy are not, because
// they end at once.
func watchable(c *Call) bool {
	switch k := c.Action.Kind; {
	case k.IsCommand(), k == action.Network, k == action.Browser, k == action.MCP:
		return true
	}
	return false
}

// gotPane records the pane that was opened for a command that has just started.
func gotPane(s *State, c *Call, pane string) {
	if c.Pane = pane; s.Bare == c {
		s.Bare = nil
	}
}

// begin records a command as the last one on its target.
func (s *State) begin(c *Call) {
	if !c.Action.Kind.IsCommand() {
		return
	}
	if s.ran == nil {
		s.ran = make(map[string]*Call)
	}
	s.ran[c.Action.Target] = c
}

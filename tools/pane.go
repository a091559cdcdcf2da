package tools

import "strings"

// PaneRef names a managed pane. Its text is what models, events and people call the pane: "%3" on
// the first target of a session, "web:%3" on another.
type PaneRef struct {
	Target string // "" is the first of the session
	ID     string // tmux's, "" is no pane
}

// paneMark is between a target and tmux's id in the name of a pane.
const paneMark = ":"

// ParsePane reads the text of a PaneRef. What is none has no Target.
func ParsePane(name string) PaneRef {
	if target, id, ok := strings.Cut(name, paneMark); ok {
		return PaneRef{target, id}
	}
	return PaneRef{ID: name}
}

func (r PaneRef) String() string {
	if r.Target == "" || r.ID == "" {
		return r.ID
	}
	return r.Target + paneMark + r.ID
}

// PaneTool is a Tool that works in managed panes.
type PaneTool interface {
	// Pane says in which pane the call will work; call.Planned is set.
	Pane(call Call) PaneUse
}

// PaneUse is how a call uses a pane.
type PaneUse struct {
	// Pane has no ID if there is none, not yet, or one of the call's own.
	Pane PaneRef
	// Terminal means that the call has the pane's screen to itself: its live output is what a
	// terminal is sent, which is no text to be read.
	Terminal bool
}

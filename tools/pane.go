package tools

import "strings"

// PaneRef names a managed pane. Its text for models, events and people is "%3" on the first target of a session,
// "web:%3" on another one.
type PaneRef struct {
	Target string // "" for the first target of the session
	ID     string // tmux's id, "" for no pane
}

// paneMark separates the target from tmux's id in the name of a pane.
const paneMark = ":"

// ParsePane reads the text of a PaneRef. A text in another form becomes the ID of a PaneRef without a Target.
func ParsePane(name string) PaneRef {
	if target, id, ok := strings.Cut(name, paneMark); ok {
		return PaneRef{target, id}
	}
	return PaneRef{ID: name}
}

// PaneOf returns a text that stands for an unknown pane of a target; [ParsePane] reads the target from it.
func PaneOf(target string) string {
	if target == "" {
		return ""
	}
	return target + paneMark
}

func (r PaneRef) String() string {
	if r.Target == "" || r.ID == "" {
		return r.ID
	}
	return r.Target + paneMark + r.ID
}

// PaneTool is a Tool that works in managed panes.
type PaneTool interface {
	// Pane returns the pane in which the call will work; call.Planned is set.
	Pane(call Call) PaneUse
}

// PaneUse describes how a call uses a pane.
type PaneUse struct {
	// Pane has no ID if the call uses no pane, a pane that is not open yet, or a separate pane for the call.
	Pane PaneRef
	// Terminal means that the call owns the pane's screen: its live output is a terminal stream, not text to read.
	Terminal bool
}

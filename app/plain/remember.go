package plain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/views/markup"
)

// RememberText asks whether to remember the reason of a denial, and shows the text to remember; "" if nothing can be
// remembered.
func RememberText(m action.Memory, reason string) string {
	taught := action.Taught(m.Begins, reason)
	if len(m.Scopes) == 0 || taught == "" {
		return ""
	}
	text := "Remember this for later sessions? " + markup.Shorten(taught, maxFact)
	if m.Only != "" {
		text += " (on " + markup.Shorten(m.Only, maxFact) + " only)"
	}
	text += "\n  Enter  no, don't save it"
	for i, scope := range m.Scopes {
		text += fmt.Sprintf("\n  %d  %s", i+1, action.ScopeText(scope))
	}
	return text
}

// RememberChoice returns the scope that a line chooses, by number or name; any other line means "this time only".
func RememberChoice(m action.Memory, line string) string {
	line = strings.ToLower(strings.TrimSpace(line))
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(m.Scopes) {
		return m.Scopes[n-1]
	}
	if slices.Contains(m.Scopes, line) {
		return line
	}
	return event.RememberNothing
}

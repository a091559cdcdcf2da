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

// RememberText returns the question whether to remember the reason of a denial, with the text to remember, or "" if
// nothing can be remembered.
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

// RememberChoice returns the scope that a line selects by number or name. Any other line means that nothing is
// remembered.
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

package hooks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"buddy/agent/action"
)

// matcher selects the calls, or the kinds of an event, that a hook is for.
type matcher struct {
	names   []string       // any of them; nil with no pattern: all
	pattern *regexp.Regexp // nil: names
}

// kinds reports whether a matcher of the event selects anything: those of the others are ignored.
func (e Event) kinds() bool { return e != UserPromptSubmit && e != Stop }

// newMatcher reads a matcher: nothing or * is for all; letters, digits, - _ space , | make a list
// of exact names, anything else is a regular expression that may match anywhere in a name.
func newMatcher(e Event, text string) (matcher, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "*" || !e.kinds() {
		return matcher{}, nil
	}
	exact := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_- ,|", r)
	}
	if strings.IndexFunc(text, func(r rune) bool { return !exact(r) }) < 0 {
		names := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '|' })
		for i, n := range names {
			names[i] = strings.TrimSpace(n)
		}
		return matcher{names: names}, nil
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		return matcher{}, fmt.Errorf("the matcher %s is no regular expression: %w", quoted(text), err)
	}
	return matcher{pattern: pattern}, nil
}

// matches reports whether it selects a kind of an event.
func (m matcher) matches(kind string) bool {
	if m.pattern != nil {
		return m.pattern.MatchString(kind)
	}
	return m.names == nil || slices.Contains(m.names, kind)
}

// matchesTool reports whether it selects a tool of ours, by our name or by one of the field.
func (m matcher) matchesTool(tool string) bool {
	if m.pattern != nil {
		return slices.ContainsFunc(namesOf(tool), m.pattern.MatchString)
	}
	return m.names == nil || slices.ContainsFunc(m.names, func(n string) bool { return means(n, tool) })
}

// means reports whether a name in a file means a tool of ours.
func means(name, tool string) bool {
	if name == tool {
		return true
	}
	ours, _ := action.FieldTool(name)
	return slices.ContainsFunc(ours, func(o string) bool {
		server, all := strings.CutSuffix(o, "*")
		return o == tool || all && strings.HasPrefix(tool, server)
	})
}

// patch is the tool that edits and writes files without a name of its own in the field.
const patch = "apply_patch"

// namesOf returns the names under which a pattern may find a tool.
func namesOf(tool string) []string {
	if tool == patch {
		return []string{patch, "Edit", "Write"}
	}
	return []string{tool, action.FieldName(tool)}
}

package hooks

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/texts"
)

// matcher selects when a hook runs: for which tools, or, if its event is not about a tool call, for which kinds of the
// event.
type matcher struct {
	names   []string       // exact names; nil without a pattern: all
	pattern *regexp.Regexp // nil: use names
}

// kinds reports whether a matcher has an effect on hooks of the event; if not, it is ignored.
func (e Event) kinds() bool { return e != UserPromptSubmit && e != Stop }

// matching parses text, the hook's matcher. "" and * select everything. A text of letters, digits, - _ space , | is a
// list of exact names. A text such as Bash(git push:*) is a rule and selects the calls that match it. Anything else is
// a regular expression, which selects each name that contains a match. unknown lists names that are not tools. It is an
// error if the hook is a guard that could never run.
func (h *Handler) matching(text string) (unknown []string, err error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "*" || !h.Event.kinds() {
		return nil, nil
	}
	names := nameList.MatchString(text)
	if !names && h.Event.ofTool() && h.ruled(text) {
		return nil, nil
	}
	if h.match, err = newMatcher(text, names, h.Event.ofTool()); err != nil || !h.Event.guards() {
		return nil, err
	}
	for _, name := range h.match.names {
		if _, ok := action.MeantTools(name); !ok && !slices.Contains(ownTools, name) {
			unknown = append(unknown, name)
		}
	}
	selects := len(h.match.names) > len(unknown)
	if h.match.pattern != nil {
		selects = strings.Contains(text, "mcp") || slices.ContainsFunc(ownTools, h.match.matchesTool)
	}
	if !selects {
		h.match = matcher{} // the hook may be meant for any call
		return nil, fmt.Errorf("the matcher %s matches none of buddy's tools, so the hook would never run", quoted(text))
	}
	return unknown, nil
}

// nameList recognizes a matcher that lists exact names.
var nameList = regexp.MustCompile(`^[A-Za-z0-9_ ,|-]+$`)

// newMatcher returns a matcher from a list of names or a regular expression. Patterns for tools ignore case,
// because programs spell tool names in lower and upper case.
func newMatcher(text string, names, tools bool) (m matcher, err error) {
	if names {
		m.names = []string{}
		for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '|' }) {
			m.names = append(m.names, strings.TrimSpace(name))
		}
		return m, nil
	}
	pattern := text
	if tools {
		pattern = "(?i)" + text
	}
	if m.pattern, err = regexp.Compile(pattern); err != nil {
		return matcher{}, fmt.Errorf("the matcher %s is not a valid regular expression: %w", quoted(text), err)
	}
	return m, nil
}

// ruled parses a matcher that consists of rules such as Bash(git push:*), and reports whether text is one. If there are
// several rules, or one is invalid, the hook runs for all calls of the tools named in them.
func (h *Handler) ruled(text string) bool {
	var names []string
	parts := ruleForm().FindAllStringSubmatch(text, -1)
	whole := ""
	for _, part := range parts {
		tools, ok := action.MeantTools(part[1])
		if !ok {
			return false
		}
		whole += part[0]
		names = append(names, tools...)
	}
	if len(parts) == 0 || whole != text || !strings.Contains(text, "(") {
		return false
	}
	h.match.names = names
	if rules, err := action.FieldRules(text, action.Deny, action.FromUser); err == nil && len(parts) == 1 {
		h.If, h.rules = text, rules
	}
	return true
}

// ruleForm matches a tool name, optionally with a condition in parentheses, and the separator after it.
var ruleForm = texts.Regexp(`([A-Za-z_]\w*)(?:\([^()]*\))?(?:\s*[|,]\s*|$)`)

// toolNames holds the names of the tools in docs/tools.md. The file is generated together with that page, because this
// package may not import package tools.
//
//go:embed tools.txt
var toolNames string

// ownTools lists buddy's tools; those of features are not in toolNames. A guard's pattern must match at least one tool
// in the list.
var ownTools = append(strings.Fields(toolNames), "mcp_resources", "mcp_read", "diagnostics", codeTool, "workflow")

// matches reports whether the matcher selects a kind of event.
func (m matcher) matches(kind string) bool {
	if m.pattern != nil {
		return m.pattern.MatchString(kind)
	}
	return m.names == nil || slices.Contains(m.names, kind)
}

// matchesTool reports whether the matcher selects a tool, by buddy's name or by a name in other agents.
func (m matcher) matchesTool(tool string) bool {
	if m.pattern != nil {
		return slices.ContainsFunc(namesOf(tool), m.pattern.MatchString)
	}
	return m.names == nil || slices.ContainsFunc(m.names, func(n string) bool { return means(n, tool) })
}

// selects reports whether the matcher selects a call. A rename by a language server counts as an edit.
func (m matcher) selects(c Call) bool {
	return m.matchesTool(c.Tool) || c.Tool == codeTool && c.Action.Kind != action.FileRead && m.matchesTool(patch)
}

// means reports whether a name in a hook file stands for one of buddy's tools.
func means(name, tool string) bool {
	if name == tool {
		return true
	}
	ours, _ := action.MeantTools(name)
	return slices.ContainsFunc(ours, func(o string) bool {
		server, all := strings.CutSuffix(o, "*")
		return o == tool || all && strings.HasPrefix(tool, server)
	})
}

// patch names the tool that both edits and writes files. Patterns also match it by the names of other agents' edit and
// write tools.
const patch = "apply_patch"

// codeTool is the tool that asks language servers. Its renames change files.
const codeTool = "code"

// otherNames maps buddy's tools to their names in other programs, for patterns.
var otherNames = map[string][]string{
	"run_shell":  {"Shell", "run_shell_command", "execute", "execute_command", "run_in_terminal", "run_terminal_cmd", "terminal", "exec_command"},
	"read_file":  {"read_many_files", "view"},
	"write_file": {"create_file", "write_to_file"},
	"edit_file":  {"replace", "StrReplace", "str_replace", "search_replace", "MultiEdit", "editFiles"},
	"list_dir":   {"list_directory"},
	"grep":       {"grep_search", "search_file_content"},
	"fetch_url":  {"web_fetch"},
	"web_search": {"google_web_search"},
	"todo":       {"write_todos"},
	"agent":      {"Task"},
	patch:        {"Edit", "Write", "replace", "StrReplace"},
}

// namesOf returns all names of a tool that a pattern may match.
func namesOf(tool string) []string {
	return append([]string{tool, action.FieldName(tool)}, otherNames[tool]...)
}

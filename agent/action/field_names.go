package action

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// fieldTools pairs buddy's tools with the names that files written for other agents use.
var fieldTools = []struct {
	ours, field string
	older       []string // names that the field gave the same tool before
}{
	{"run_shell", "Bash", nil},
	{"read_file", "Read", nil},
	{"write_file", "Write", nil},
	{"edit_file", "Edit", []string{"MultiEdit"}},
	{"glob", "Glob", nil},
	{"grep", "Grep", nil},
	{"list_dir", "LS", nil},
	{"fetch_url", "WebFetch", nil},
	{"web_search", "WebSearch", nil},
	{"todo", "TodoWrite", nil},
	{"ask_user", "AskUserQuestion", nil},
	{"agent", "Agent", []string{"Task"}},
	{"skill", "Skill", nil},
	{"enter_plan", "EnterPlanMode", nil},
	{"exit_plan", "ExitPlanMode", nil},
	{"task_output", "TaskOutput", []string{"BashOutput"}},
	{"task_kill", "TaskStop", []string{"KillShell", "KillBash"}},
	{"tool_search", "ToolSearch", nil},
}

// patchTool edits and writes files like the field's Edit and Write; it has no name of its own there.
const patchTool = "apply_patch"

// mcpPrefix begins the name of every tool of an MCP server: mcp__SERVER__TOOL.
const mcpPrefix = "mcp__"

// FieldTool returns the tools of buddy that a name means: the field's name, or buddy's own. Edit
// and Write also mean apply_patch. mcp__SERVER__TOOL means itself; mcp__SERVER, and the same with
// __* behind it, mean all tools of the server, written mcp__SERVER__*. ok is false for a name
// that is none of these.
func FieldTool(name string) (ours []string, ok bool) {
	if strings.HasPrefix(name, mcpPrefix) {
		return mcpTools(name)
	}
	if name == patchTool {
		return []string{patchTool}, true
	}
	for _, t := range fieldTools {
		switch {
		case name == t.ours:
			return []string{t.ours}, true
		case name != t.field && !slices.Contains(t.older, name):
		case t.field == "Edit" || t.field == "Write":
			return []string{t.ours, patchTool}, true
		default:
			return []string{t.ours}, true
		}
	}
	return nil, false
}

// FieldName returns the field's name of a tool of buddy; the tool's own where it has none.
func FieldName(ours string) string {
	for _, t := range fieldTools {
		if t.ours == ours {
			return t.field
		}
	}
	return ours
}

// mcpTools returns the name that a rule has for a tool of an MCP server, or for all of them.
func mcpTools(name string) ([]string, bool) {
	server, tool, one := strings.Cut(strings.TrimPrefix(name, mcpPrefix), "__")
	if !one {
		tool = "*"
	}
	if !isMCPName(server) || tool != "*" && !isMCPName(tool) {
		return nil, false
	}
	return []string{mcpPrefix + server + "__" + tool}, true
}

func isMCPName(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return r > unicode.MaxASCII || r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) < 0
}

// FieldRules returns the rules that mean the same as a text of the field: Bash(git add *),
// Edit(src/**), Read(~/notes/*.md), WebFetch(domain:go.dev), mcp__files__read, or the name of a
// tool alone. There are several when the name means several tools. No rule ever matches more
// than the text says: a text without an exact counterpart is an error that names the reason.
//
// Rules that allow reading and changing files by the tool's name alone are for the workspace,
// and one that would allow every command is refused.
func FieldRules(text string, d Decision, src Source) ([]Rule, error) {
	if len(text) > maxFieldRule {
		return nil, fmt.Errorf("a rule of %d bytes is too long (at most %d)", len(text), maxFieldRule)
	}
	one := Rule{Decision: d, Source: src}
	tools, err := readField(strings.TrimSpace(text), &one)
	rules := make([]Rule, 0, len(tools))
	for _, tool := range tools {
		one.Tool = tool
		if err == nil {
			err = one.Check()
		}
		rules = append(rules, one)
	}
	if err != nil {
		return nil, fmt.Errorf("rule %q: %w", text, err)
	}
	return rules, nil
}

// readField completes a rule by a text of the field, except for the tool: it returns those meant.
func readField(text string, r *Rule) (tools []string, err error) {
	name, spec, hasSpec := strings.Cut(text, "(")
	tools, ok := FieldTool(name)
	switch {
	case !ok:
		return nil, fmt.Errorf("unknown tool %q", name)
	case !hasSpec:
		return tools, toolWide(r, tools[0])
	case !strings.HasSuffix(spec, ")"):
		return nil, errors.New("the closing parenthesis is missing at the end")
	}
	return tools, specify(r, tools[0], strings.TrimSuffix(spec, ")"))
}

// maxFieldRule limits the text of one rule, in bytes: a person has to be able to read it.
const maxFieldRule = 1024

// toolWide completes a rule for all that a tool does.
func toolWide(r *Rule, tool string) error {
	if r.Decision != Allow {
		return nil
	}
	switch tool {
	case "run_shell":
		return errors.New("it would allow every command: name the commands, such as Bash(git add *)")
	case "read_file", "write_file", "edit_file", patchTool, "glob", "grep", "list_dir":
		r.Path = "**" // of the workspace; a pattern is never meant for files with secrets
	}
	return nil
}

// specify completes a rule by what stands in its parentheses.
func specify(r *Rule, tool, spec string) error {
	if strings.IndexFunc(spec, func(c rune) bool { return !unicode.IsPrint(c) }) >= 0 {
		return errors.New("it contains an invisible character")
	}
	switch tool {
	case "run_shell":
		return commandSpec(r, spec)
	case "read_file", "write_file", "edit_file", patchTool:
		return pathSpec(r, spec)
	case "fetch_url":
		return hostSpec(r, spec)
	}
	return fmt.Errorf("%s takes no parentheses here", FieldName(tool))
}

// commandSpec completes a rule by the command of Bash(…): its words, or its first words when
// :* or a single * follows.
func commandSpec(r *Rule, spec string) error {
	words, open := strings.CutSuffix(spec, ":*")
	if !open {
		words, open = strings.CutSuffix(spec, " *")
	}
	if spec == "*" || open && strings.TrimSpace(words) == "" {
		return toolWide(r, "run_shell")
	}
	if !open {
		r.Shape = Exactly
	}
	r.Prefix = strings.Fields(words)
	if len(r.Prefix) == 0 {
		return errors.New("it names no command")
	}
	for i, w := range r.Prefix {
		switch at := strings.IndexAny(w, "*?'\"\\$`;|&<>(){}[]#!"); {
		case at >= 0 && w[at] == '*':
			return fmt.Errorf("* is allowed only at the end, after a space or a colon: %q can't be compared word by word", w)
		case at >= 0:
			return fmt.Errorf("%q has a meaning to the shell and is not a plain word", w[at:at+1])
		case w[0] == '~':
			return fmt.Errorf("the shell replaces %q", w)
		case i == 0 && strings.Contains(w, "="):
			return fmt.Errorf("%q sets a variable; a rule starts with the program", w)
		}
	}
	return nil
}

// pathSpec completes a rule by the pattern of Read(…), Edit(…) and Write(…), which is read like
// one of gitignore: without a slash it is for a name at any depth, and what asks or denies is
// also for all that is below a folder of that name.
func pathSpec(r *Rule, spec string) error {
	spec = strings.TrimSpace(spec)
	path := strings.TrimRight(spec, "/")
	if path == "" || path == "~" || path == "." {
		return errors.New("it names no file")
	}
	if at := strings.IndexAny(path, `\[]{}!`); at >= 0 {
		return fmt.Errorf("%q is not supported in a path (have: * ? **)", path[at:at+1])
	}
	path, err := pathBegin(path)
	if err != nil {
		return err
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("a path may not have the part %q", part)
		}
	}
	below := r.Decision != Allow || strings.HasSuffix(spec, "/")
	if below && path != "**" && !strings.HasSuffix(path, "/**") {
		path += "/**"
	}
	r.Path = path
	return nil
}

// pathBegin returns a pattern that begins as one of a Rule does.
func pathBegin(path string) (string, error) {
	switch {
	case strings.HasPrefix(path, "//"):
		return "/" + strings.TrimLeft(path, "/"), nil
	case path[0] == '/':
		return "", errors.New("a leading / is ambiguous: write //PATH for an absolute path, or a path without / for one in the folder")
	case path[0] == '~' && !strings.HasPrefix(path, "~/"):
		return "", errors.New("another user's home folder is not supported")
	case !strings.Contains(path, "/") && path != "**":
		return "**/" + path, nil
	}
	return strings.TrimPrefix(path, "./"), nil
}

// hostSpec completes a rule by the host of WebFetch(domain:…), without its subdomains.
func hostSpec(r *Rule, spec string) error {
	host, ok := strings.CutPrefix(strings.TrimSpace(spec), "domain:")
	switch {
	case !ok:
		return errors.New("write WebFetch(domain:HOST)")
	case strings.Contains(host, "*"):
		return errors.New("host patterns are not supported: name each host")
	case host == "" || strings.ContainsAny(host, "/:@?# "):
		return fmt.Errorf("%q is not a host name", host)
	}
	r.Host, r.Shape = strings.ToLower(host), Exactly
	return nil
}

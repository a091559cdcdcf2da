package action

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// fieldTools pairs buddy's tools with the names that other agents use in their files.
var fieldTools = []struct {
	ours, field string
	older       []string // earlier names of the same tool in other agents
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

// patchTool names buddy's tool that both edits and writes files. Other agents have no such tool, so a rule for their
// Edit or Write also covers it.
const patchTool = "apply_patch"

// mcpPrefix is the prefix of MCP tools' names: mcp__SERVER__TOOL.
const mcpPrefix = "mcp__"

// FieldTool returns buddy's tools for a tool name of other agents or of buddy. Edit and Write also mean apply_patch.
// mcp__SERVER__TOOL means itself; mcp__SERVER and mcp__SERVER__* mean all tools of the server and are returned as
// mcp__SERVER__*. ok is false for any other name.
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

// FieldName returns the name that other agents use for a tool of buddy, or the tool's own name if they have none.
func FieldName(ours string) string {
	for _, t := range fieldTools {
		if t.ours == ours {
			return t.field
		}
	}
	return ours
}

// mcpTools converts an MCP name to the tool name in a rule, mcp__SERVER__TOOL, or mcp__SERVER__* if the name has no
// tool.
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

// FieldRules parses a rule of other agents: Bash(git add *), Edit(src/**), Read(~/notes/*.md), WebFetch(domain:go.dev),
// mcp__files__read, or a tool's name. A name that stands for several tools yields several rules. The rules never match
// more than the text does; if that can't be achieved, an error is returned.
//
// A rule that allows reading or changing files by the tool's name alone covers only the workspace. A rule that would
// allow every command is refused.
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

// readField parses text into every field of r except Tool. It returns the tools that the name in text stands for.
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

// maxFieldRule limits the text of one rule, in bytes: a person must be able to read it.
const maxFieldRule = 1024

// toolWide fills in a rule that names only a tool, and so covers every call of it.
func toolWide(r *Rule, tool string) error {
	if r.Decision != Allow {
		return nil
	}
	switch {
	case tool == "run_shell":
		return errors.New("it would allow every command: name the commands, such as Bash(git add *)")
	case slices.Contains(ReadingTools, tool), slices.Contains([]string{"write_file", "edit_file", patchTool}, tool):
		r.Path = "**" // in the workspace; patterns never cover files with secrets
	}
	return nil
}

// specify fills in a rule from spec, the part of its text in parentheses after the tool's name.
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

// commandSpec fills in a rule from the command in Bash(…): all its words, or its first words before :* or a single
// *.
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

// pathSpec fills in a rule from the pattern in Read(…), Edit(…) and Write(…), with the syntax of gitignore: without a
// slash it matches a name at any depth. The pattern of an ask or deny rule also matches everything below a folder of
// that name.
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

// pathBegin converts the start of another agent's pattern to the form of Rule.Path.
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

// hostSpec fills in a rule from the host in WebFetch(domain:…). The rule does not cover subdomains.
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

// Package subagent reads the definitions of subagents. A definition contains the tools, the model, the limits and the
// system prompt of a subagent.
//
//	all, problems := subagent.All(items)
//	if all[0].Offers("run_shell") { … }
package subagent

import (
	"fmt"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/inject"
	"buddy/extensions"
	"buddy/texts"
)

const (
	maxText        = 64 << 10 // bytes of a definition's text, which is in each request of the agent
	maxDescription = 300      // bytes of the description for the main model
	maxTurns       = 1000
)

// SmallModel selects the profile of the setting small_model.
const SmallModel = "small_model"

// Definition defines a kind of subagent.
type Definition struct {
	extensions.Item
	Description string      // on one line
	Prompt      string      // start of the system prompt
	Model       string      // a profile, or SmallModel; "" is the model of its caller
	Mode        action.Mode // the loosest mode for its calls; "" is the caller's mode
	MaxTurns    int         // 0 is the default
	Skills      []string    // skills whose texts it gets with its task
	Isolated    bool        // works in a git worktree of its own
	Background  bool        // runs in the background unless the call says otherwise

	tools   []string // allowed tools, including mcp__SERVER__*; nil is no limit
	denied  []string // denied tools
	servers []string // allowed MCP servers; nil is no limit
}

// Offers reports whether the agent may use a tool that its caller may use.
func (d Definition) Offers(tool string) bool {
	if d.tools != nil && !matches(d.tools, tool) || matches(d.denied, tool) {
		return false
	}
	server, isMCP := strings.CutPrefix(tool, mcpPrefix)
	if !isMCP || d.servers == nil {
		return true
	}
	server, _, _ = strings.Cut(server, "__")
	return slices.Contains(d.servers, server)
}

// mcpPrefix starts the names of MCP tools.
const mcpPrefix = "mcp__"

// matches reports whether names contain a tool, by its name or by its server.
func matches(names []string, tool string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		prefix, all := strings.CutSuffix(name, "*")
		return name == tool || all && strings.HasPrefix(tool, prefix)
	})
}

// All reads definitions in order of precedence and resolves their names. It leaves out invalid ones; ignored
// settings are problems, too.
func All(items []extensions.Item) ([]Definition, []extensions.Problem) {
	var problems []extensions.Problem
	var named []extensions.Item
	read := make(map[string]Definition) // by file
	for _, it := range items {
		r := reader{Definition: Definition{Item: it, Prompt: strings.TrimSpace(it.Body)}}
		if why := r.read(); why != "" {
			problems = append(problems, extensions.Problem{Kind: extensions.Agent, File: it.File, Reason: why, Limits: r.lost})
			continue
		}
		for _, why := range r.ignored {
			problems = append(problems, extensions.Problem{Kind: extensions.Agent, File: it.File, Reason: why, Used: true})
		}
		named, read[it.File] = append(named, r.Item), r.Definition
	}
	named, clashes := extensions.Resolve(named, func(string) bool { return false })
	all := make([]Definition, 0, len(named))
	for _, it := range named {
		def := read[it.File]
		def.Item = it
		all = append(all, def)
	}
	return all, append(problems, clashes...)
}

type reader struct {
	Definition
	ignored []string
	lost    bool // a limit was not understood
}

// ignore records a setting that has no effect.
func (r *reader) ignore(format string, args ...any) {
	r.ignored = append(r.ignored, fmt.Sprintf(format, args...))
}

// read reads the settings. It returns why the definition can't be used, or "".
func (r *reader) read() string {
	prefix, called := "", r.Name[strings.LastIndexByte(r.Name, ':')+1:]
	if r.Origin == extensions.Plugin {
		prefix, _, _ = strings.Cut(r.Name, ":")
		prefix += ":"
	}
	name := strings.ToLower(r.Text("name"))
	if !r.Has("name") {
		name = called
	}
	r.Description = texts.Clip(texts.OneLine(r.Text("description")), maxDescription)
	switch {
	case name == "":
		return "it has no name"
	case !extensions.ValidName(name):
		return fmt.Sprintf("the name %q is not valid: use a-z, 0-9 and single hyphens in between", texts.Clip(name, 80))
	case r.Description == "":
		return "it has no description"
	case len(r.Prompt) > maxText:
		return fmt.Sprintf("its text has %d bytes (allowed: %d)", len(r.Prompt), maxText)
	}
	r.Name = prefix + name
	if r.Origin != extensions.BuiltIn {
		if found := inject.Scan(r.Description); inject.Worst(found) >= inject.High {
			return fmt.Sprintf("its description %s: %q", found[0].Reason, found[0].Excerpt)
		}
	}
	for _, name := range r.Names() {
		if why := r.limit(name); why != "" {
			r.lost = true
			return name + ": " + why
		}
	}
	if slices.ContainsFunc(r.tools, func(t string) bool { return strings.HasPrefix(t, mcpPrefix) }) {
		r.tools = append(r.tools, "use_tool") // calls the MCP tools
	}
	if r.Model = r.Text("model"); r.Model == "inherit" {
		r.Model = ""
	}
	r.Background = r.Bool("background", false)
	r.Skills = r.List("skills")
	r.isolation()
	for _, field := range refused {
		if r.Has(field) {
			r.ignore("%s has no effect in buddy", field)
		}
	}
	return ""
}

// isolation reads where the agent works.
func (r *reader) isolation() {
	switch how := strings.ToLower(r.Text("isolation")); how {
	case "", "none":
	case "worktree":
		r.Isolated = true
	default:
		r.ignore("isolation: buddy knows only worktree, not %q", texts.Clip(how, 40))
	}
}

// refused lists fields of other programs that buddy does not have.
var refused = []string{"hooks", "memory", "effort", "initialPrompt"}

// Only returns the allowed tools, nil without a limit.
func (d Definition) Only() []string { return d.tools }

// Package subagent reads the definitions of subagents: which tools and which model each has, how
// much it may do, and the text that tells it how to work.
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
	maxDescription = 300      // bytes of what the main model is told of an agent
	maxTurns       = 1000
)

// SmallModel is the model of an agent that takes the profile of the setting small_model.
const SmallModel = "small_model"

// Definition is a kind of subagent.
type Definition struct {
	extensions.Item
	Description string      // on one line
	Prompt      string      // how to work: the beginning of the system prompt
	Model       string      // a profile, or SmallModel; "" is the model of its caller
	Mode        action.Mode // the loosest mode in which its calls are judged; "" is that of its caller
	MaxTurns    int         // 0 is the default
	Skills      []string    // whose texts it gets with its task
	Background  bool        // it works in the background unless the call says otherwise

	tools   []string // names that it is limited to, mcp__SERVER__* too; nil is no limit
	denied  []string // names that it does not get
	servers []string // MCP servers that it is limited to; nil is no limit
}

// Offers reports whether the agent may use a tool if who calls it may.
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

// mcpPrefix begins the names of the tools of MCP servers.
const mcpPrefix = "mcp__"

// matches reports whether names have a tool, by its name or as one of all tools of a server.
func matches(names []string, tool string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		prefix, all := strings.CutSuffix(name, "*")
		return name == tool || all && strings.HasPrefix(tool, prefix)
	})
}

// All reads definitions and gives each the name that it is called by, those that take precedence
// first. Those that can't be used are left out; what is ignored of one is a problem, too.
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
	lost    bool // a limit is not understood
}

// ignore notes a setting that has no effect.
func (r *reader) ignore(format string, args ...any) {
	r.ignored = append(r.ignored, fmt.Sprintf(format, args...))
}

// read reads the settings. It returns why the definition can't be used, "" if it can.
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
		r.tools = append(r.tools, "use_tool") // through which they are called
	}
	if r.Model = r.Text("model"); r.Model == "inherit" {
		r.Model = ""
	}
	r.Background = r.Bool("background", false)
	r.Skills = r.List("skills")
	for _, field := range refused {
		if r.Has(field) {
			r.ignore("%s has no effect in buddy", field)
		}
	}
	return ""
}

// refused are fields of other programs that have no counterpart here.
var refused = []string{"hooks", "memory", "effort", "isolation", "initialPrompt"}

// Only returns the tools that the agent is limited to, nil when it is not.
func (d Definition) Only() []string { return d.tools }

package subagent

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"buddy/agent/action"
	"buddy/extensions"
	"buddy/extensions/frontmatter"
	"buddy/texts"
)

// limit reads a setting that limits the agent, in the spelling of any known program. It returns an error text if the
// setting is a limit and is not understood, else "".
func (r *reader) limit(name string) string {
	node := r.Node(name)
	switch frontmatter.Plain(name) {
	case "tools", "allowedtools", "enabledtools", "includetools", "includedtools", "coretools", "availabletools":
		return r.allow(name, node)
	case "disallowedtools", "disallowtools", "deniedtools", "denytools", "excludetools", "excludedtools", "disabledtools", "blockedtools", "forbiddentools":
		return r.deny(name, r.List(name), r.Nested(name))
	case "permissionmode", "approvalmode", "approvalpolicy", "sandboxmode", "sandbox", "mode", "access":
		return r.mode(name, node)
	case "permission", "permissions":
		return r.permission(node)
	case "readonly", "disable", "disabled", "disablemodelinvocation", "enabled", "infer":
		return r.switched(name)
	case "userinvocable": // only models call agents
	case "maxturns", "maxsteps", "steps":
		return r.turns(name)
	case "mcpservers":
		r.servers = append([]string{}, r.List(name)...)
		if r.Nested(name) {
			r.ignore("%s: buddy doesn't start a server that is defined here; name one from your settings or .mcp.json", name)
		}
	case "hooks":
		return extensions.LostGuard(node)
	default:
		if frontmatter.Restricts(name) {
			return "it looks like a limit that buddy doesn't know"
		}
	}
	return ""
}

// switched reads a boolean setting.
func (r *reader) switched(name string) string {
	if why := extensions.NoTruth(r.Block, name); why != "" {
		return why
	}
	plain := frontmatter.Plain(name)
	switch on := r.Bool(name, false); {
	case plain == "readonly" && on:
		r.Mode = action.Stricter(r.Mode, action.ModePlan)
	case strings.HasPrefix(plain, "disable") && on, (plain == "enabled" || plain == "infer") && !on:
		return r.Text(name) + " keeps models from calling the agent"
	}
	return ""
}

// turns reads the maximal number of turns.
func (r *reader) turns(name string) string {
	n, err := strconv.Atoi(r.Text(name))
	if err != nil || n < 1 || n > maxTurns {
		return fmt.Sprintf("%q is not a number from 1 to %d", texts.Clip(r.Text(name), 80), maxTurns)
	}
	if r.MaxTurns == 0 || n < r.MaxTurns {
		r.MaxTurns = n
	}
	return ""
}

// modes maps the names of modes in all programs' files, normalized by frontmatter.Plain.
var modes = map[string]action.Mode{
	"default": action.ModeAsk, "ask": action.ModeAsk, "suggest": action.ModeAsk, "manual": action.ModeAsk, "untrusted": action.ModeAsk,
	"onrequest": action.ModeAsk, "onfailure": action.ModeAsk, "unlesstrusted": action.ModeAsk,
	"plan": action.ModePlan, "readonly": action.ModePlan, "read": action.ModePlan, "strict": action.ModeStrict,
	"acceptedits": action.ModeEdits, "autoedit": action.ModeEdits, "edits": action.ModeEdits, "workspacewrite": action.ModeEdits,
	"auto": action.ModeAuto, "bypasspermissions": action.ModeAll, "yolo": action.ModeAll, "all": action.ModeAll, "dangerfullaccess": action.ModeAll,
	"fullaccess": action.ModeAll, "dontask": action.ModeNone, "never": action.ModeNone, "none": action.ModeNone,
}

// mode reads the loosest mode that the agent may have.
func (r *reader) mode(name string, node *yaml.Node) string {
	text := frontmatter.Plain(r.Text(name))
	switch {
	case node.Kind != yaml.ScalarNode:
		return "it is not the name of a mode"
	case text == "" || frontmatter.Plain(name) == "mode" && slices.Contains([]string{"subagent", "primary", "all", "agent"}, text): // names the possible callers
		return ""
	}
	mode, ok := modes[text]
	if !ok {
		return fmt.Sprintf("%q is not a mode", texts.Clip(r.Text(name), 80))
	}
	r.Mode = action.Stricter(r.Mode, mode)
	return ""
}

// allow reads the allowed tools: a list, or a table that turns tools on and off.
func (r *reader) allow(name string, node *yaml.Node) string {
	if node.Kind == yaml.MappingNode {
		return r.choose(pairs(node, func(n *yaml.Node) string {
			if on, ok := frontmatter.Truth(n.Value); ok && n.Kind == yaml.ScalarNode {
				return map[bool]string{true: "allow", false: "deny"}[on]
			}
			return ""
		}))
	}
	list := r.List(name)
	switch {
	case r.Nested(name):
		return "it is not a list of tools"
	case slices.ContainsFunc(list, isAll):
		for _, text := range list {
			if _, ok := meant(text); !ok && !isAll(text) {
				return fmt.Sprintf("it is not clear what %q means next to all tools", texts.Clip(text, 80))
			}
		}
	case len(list) == 1 && frontmatter.Plain(list[0]) == "readonly":
		r.Mode = action.Stricter(r.Mode, action.ModePlan)
	default:
		r.only(r.listed(name, list))
	}
	return ""
}

// isAll reports whether an entry of a list means all tools.
func isAll(text string) bool { return text == "*" || strings.EqualFold(text, "all") || text == "true" }

// listed returns the tools in a list.
func (r *reader) listed(name string, list []string) []string {
	tools := []string{}
	for _, text := range list {
		ours, ok := meant(text)
		switch {
		case !ok || len(ours) == 0:
			r.ignore("%s: buddy has no tool %q", name, texts.Clip(text, 80))
		case strings.Contains(text, "("): // allowing the whole tool would permit too much
			r.ignore("%s: %q is left out, because buddy can't give an agent part of a tool", name, texts.Clip(text, 80))
		default:
			tools = append(tools, ours...)
		}
	}
	return tools
}

// meant returns buddy's tools for an entry, whose text in parentheses is ignored.
func meant(text string) ([]string, bool) {
	bare, _, _ := strings.Cut(text, "(")
	return action.MeantTools(strings.TrimSpace(bare))
}

// only adds a limit: the agent may use no tools but these. Earlier limits stay.
func (r *reader) only(tools []string) {
	if r.tools != nil {
		before := r.tools
		tools = append(slices.DeleteFunc(slices.Clone(tools), func(t string) bool { return !matches(before, t) }),
			slices.DeleteFunc(slices.Clone(before), func(t string) bool { return !matches(tools, t) })...)
	}
	slices.Sort(tools)
	r.tools = append([]string{}, slices.Compact(tools)...)
}

// deny reads the denied tools. A tool denied in part is denied completely.
func (r *reader) deny(name string, list []string, nested bool) string {
	if nested {
		return "it is not a list of tools"
	}
	for _, text := range list {
		ours, ok := meant(text)
		switch {
		case isAll(text):
			r.only([]string{})
		case !ok:
			return fmt.Sprintf("buddy has no tool %q, so it can't tell what %s forbids", texts.Clip(text, 80), name)
		}
		r.denied = append(r.denied, ours...)
	}
	return ""
}

// pair holds the decision about a tool: allow, ask, deny, or "" if it is not understood.
type pair struct{ tool, decision string }

// pairs reads a table of tools.
func pairs(node *yaml.Node, decide func(*yaml.Node) string) (all []pair) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		all = append(all, pair{node.Content[i].Value, decide(node.Content[i+1])})
	}
	return all
}

// permission reads the permissions of tools: one word for all, a table, or a list of rules.
func (r *reader) permission(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.MappingNode:
		return r.choose(pairs(node, strictest))
	case node.Kind == yaml.SequenceNode:
		var all []pair
		for _, rule := range node.Content {
			one := field(rule, "resource", "pattern")
			p := pair{field(rule, "action", "permission", "tool"), decisionOf(field(rule, "effect", "decision"))}
			if p.tool == "*" && one != "" && one != "*" {
				p.decision = "" // about resources and not about a tool
			}
			all = append(all, p)
		}
		return r.choose(all)
	case decisionOf(node.Value) != "":
		return r.choose([]pair{{"*", decisionOf(node.Value)}})
	}
	mode, ok := modes[frontmatter.Plain(node.Value)]
	if !ok {
		return fmt.Sprintf("%q is not a permission", texts.Clip(node.Value, 80))
	}
	r.Mode = action.Stricter(r.Mode, mode)
	return ""
}

// field returns the value of the mapping's first key among names.
func field(node *yaml.Node, names ...string) string {
	for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
		if slices.Contains(names, node.Content[i].Value) {
			return node.Content[i+1].Value
		}
	}
	return ""
}

// decisionOf parses one decision about a tool.
func decisionOf(word string) string {
	switch plain := frontmatter.Plain(word); plain {
	case "allow", "ask", "deny":
		return plain
	}
	return ""
}

// strictest returns the decision about a tool, or the strictest of the decisions about patterns of its calls: a
// tool can't be allowed in part.
func strictest(node *yaml.Node) string {
	if node.Kind != yaml.MappingNode {
		return decisionOf(node.Value)
	}
	all := make([]string, 0, len(node.Content))
	for _, p := range pairs(node, strictest) {
		all = append(all, p.decision)
	}
	for _, word := range []string{"", "deny", "ask"} {
		if slices.Contains(all, word) {
			return word
		}
	}
	return "allow"
}

// choose applies the decisions about tools. If all tools ("*") are denied, only those named with another decision
// remain.
func (r *reader) choose(all []pair) string {
	var named []string
	none := false
	for _, p := range all {
		ours, ok := action.MeantTools(p.tool)
		switch {
		case p.decision == "":
			return fmt.Sprintf("buddy doesn't understand the permission for %q", texts.Clip(p.tool, 80))
		case p.decision == "deny" && p.tool == "*":
			none = true
		case p.decision == "deny" && !ok:
			return fmt.Sprintf("buddy has no tool %q, so it can't tell what is denied", texts.Clip(p.tool, 80))
		case p.decision == "deny":
			r.denied = append(r.denied, ours...)
			continue
		case p.decision == "ask":
			r.Mode = action.Stricter(r.Mode, action.ModeAsk)
		}
		named = append(named, ours...)
	}
	if none {
		r.only(named)
	}
	return ""
}

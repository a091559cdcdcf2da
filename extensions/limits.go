package extensions

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"buddy/agent/action"
	"buddy/extensions/frontmatter"
)

// lostLimit returns an error for a skill or a command whose file contains a limit without effect: without the limit it
// could do more than intended. Limits of agents are checked where agents are parsed.
func (k Kind) lostLimit(b frontmatter.Block) error {
	if k != Skill && k != Command {
		return nil
	}
	for _, name := range b.Names() {
		if why := lostLimit(b, name); why != "" {
			return &frontmatter.LimitError{Line: b.Node(name).Line + 1, Reason: name + ": " + why}
		}
	}
	return nil
}

func lostLimit(b frontmatter.Block, name string) string {
	switch frontmatter.Plain(name) {
	case "allowedtools", "mode": // allowed tools are checked elsewhere; a command's mode is no limit
	case "disablemodelinvocation", "userinvocable":
		return NoTruth(b, name)
	case "disallowedtools":
		list := b.List(name)
		if b.Nested(name) || len(list) == 0 {
			return "it is not a list of tools"
		}
		for _, text := range list {
			if _, err := action.FieldDenials(text, action.FromSession); err != nil {
				return err.Error()
			}
		}
	case "hooks":
		return LostGuard(b.Node(name))
	default:
		if frontmatter.Restricts(name) {
			return "it looks like a limit, but has no effect in a skill or a command"
		}
	}
	return ""
}

// NoTruth returns an error text if a setting is not a boolean, or "".
func NoTruth(b frontmatter.Block, name string) string {
	if _, ok := frontmatter.Truth(b.Text(name)); !ok {
		return fmt.Sprintf("%q is neither true nor false", clip(b.Text(name)))
	}
	return ""
}

// LostGuard returns an error text if hooks in a file's settings, which buddy does not run, may refuse something;
// otherwise "".
func LostGuard(hooks *yaml.Node) string {
	if hooks.Kind != yaml.MappingNode {
		return "buddy doesn't run hooks in such a file, and can't tell which calls its hooks would refuse"
	}
	for i := 0; i < len(hooks.Content); i += 2 {
		if moment := hooks.Content[i].Value; frontmatter.Guards(moment) {
			return fmt.Sprintf("buddy doesn't run hooks in such a file, and its hooks for %q may refuse a call: move them to hooks.json", clip(moment))
		}
	}
	return ""
}

package extensions

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"buddy/agent/action"
	"buddy/extensions/frontmatter"
)

// lostLimit returns an error about a skill or a command that limits something in a way that has no effect: what is
// left of it would do more than it says. Agents are read with their names.
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
	case "allowedtools", "mode": // what it allows is refused by itself; a mode of a command is no limit
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

// NoTruth says that a setting is neither true nor false, "" if it is one.
func NoTruth(b frontmatter.Block, name string) string {
	if _, ok := frontmatter.Truth(b.Text(name)); !ok {
		return fmt.Sprintf("%q is neither true nor false", clip(b.Text(name)))
	}
	return ""
}

// LostGuard says that hooks in a file's settings, which buddy does not run, may refuse something; "" if they can't.
func LostGuard(hooks *yaml.Node) string {
	if hooks.Kind != yaml.MappingNode {
		return "buddy doesn't run hooks in such a file, and can't tell what they would refuse"
	}
	for i := 0; i < len(hooks.Content); i += 2 {
		if moment := hooks.Content[i].Value; frontmatter.Guards(moment) {
			return fmt.Sprintf("buddy doesn't run hooks in such a file, and those of %q may refuse a call: move them to hooks.json", clip(moment))
		}
	}
	return ""
}

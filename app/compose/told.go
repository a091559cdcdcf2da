package compose

import (
	"strings"

	"buddy/agent/model"
	"buddy/agent/model/blocks"
	"buddy/agent/model/limits"
	"buddy/agent/prompt"
	"buddy/tools"
	"buddy/tools/toolset"
)

// telling holds what the models of a session are told, whichever they are.
type telling struct {
	facts prompt.Facts
	tools *tools.Registry
}

// to returns the system prompt and the tools for a model: what its family is told besides, and
// without what it is not told of. They depend on the model alone, so that a session that is
// resumed with it sends the same.
func (t telling) to(m model.Info) (string, *tools.Registry) {
	if m.Blocks != "" {
		return strings.TrimSpace(blocks.System + "\n\n" + t.facts.Extra), t.tools.Only(blocks.Has).Without(blocks.Read)
	}
	facts, all := t.facts, t.tools
	if m.API != model.Demo {
		family := limits.FamilyOf(m.Model)
		facts.Says, all = family.Says, all.Without(unofferedTo(family, m.Window)...)
	}
	facts.Tools = len(all.Definitions()) > 0
	return prompt.System(facts), all
}

// unofferedTo returns the tools that a model of a family is not told of: the form of edits that
// it is not trained on and, in the short list, what is seldom needed. All can be called. The
// window is in tokens; 0 is one that nobody knows.
func unofferedTo(family limits.Family, window int) []string {
	var names []string
	switch family.Edit {
	case limits.Patch:
		names = append(names, "edit_file")
	case limits.Replace:
		names = append(names, "apply_patch")
	}
	if family.ToolsIn(window) == limits.Short {
		names = append(names, toolset.Optional...)
	}
	return names
}

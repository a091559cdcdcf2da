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

// promptBuilder holds the system prompt and tools of a session for any model.
type promptBuilder struct {
	facts prompt.Facts
	tools *tools.Registry
}

// forModel returns the system prompt and the tools for a model, adapted to its family. They depend on the model alone,
// so that a session resumed with the same model sends the same prompt and tools.
func (t promptBuilder) forModel(m model.Info) (string, *tools.Registry) {
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

// unofferedTo returns the tools that are not offered to a model of a family: the edit tools that it is not trained on
// and, if the family gets the short list of tools, rarely used tools. The model can still call them. The window is in
// tokens; 0 is unknown.
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

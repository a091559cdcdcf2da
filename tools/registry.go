package tools

import (
	"fmt"
	"slices"
	"strings"

	"buddy/agent/model"
)

// Registry is the set of tools that a model is offered. The zero value has none.
type Registry struct {
	tools []Tool
	names []string
}

// NewRegistry returns a registry of tools, offered in the order given.
func NewRegistry(all ...Tool) *Registry {
	r := &Registry{tools: all}
	for _, t := range all {
		r.names = append(r.names, t.Definition().Name)
	}
	return r
}

// Definitions returns what the model reads; nil when there are no tools (A07).
func (r *Registry) Definitions() []model.ToolDef {
	var defs []model.ToolDef
	for _, t := range r.tools {
		defs = append(defs, t.Definition())
	}
	return defs
}

// Lookup returns the tool with a name. The error is for the model (A19).
func (r *Registry) Lookup(name string) (Tool, error) {
	i := slices.Index(r.names, name)
	if i < 0 {
		return nil, fmt.Errorf("unknown tool: %s (have: %s)", name, strings.Join(r.names, ", "))
	}
	return r.tools[i], nil
}

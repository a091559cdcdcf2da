package tools

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"buddy/agent/model"
	"buddy/tools/web"
)

// Registry is the set of tools that a model is offered. The zero value has none.
type Registry struct {
	tools    []Tool
	names    []string
	deferred *Deferred // of use_tool, if it is among the tools
}

// Default returns the tools that a session offers, in an order that stays, so that
// providers can cache the list. deferred may get more tools at any time; nil when there
// will be none.
func Default(shell Tool, ws *Workspace, client *web.Client, deferred *Deferred) []Tool {
	all := append([]Tool{shell}, Files(ws)...)
	all = append(all, NewFetchURL(client), NewWebSearch(client), NewTime(time.Now), NewTodo(), NewAskUser())
	if deferred != nil {
		all = append(all, NewToolSearch(deferred), NewUseTool(deferred))
	}
	return all
}

// NewRegistry returns a registry of tools, offered in the order given.
func NewRegistry(all ...Tool) *Registry {
	r := &Registry{tools: all}
	for _, t := range all {
		r.names = append(r.names, t.Definition().Name)
		if use, ok := t.(*useTool); ok {
			r.deferred = use.deferred
		}
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

// Lookup returns the tool with a name: one that is offered, or one that use_tool could
// call, because models forget to go through it. The error is for the model (A19).
func (r *Registry) Lookup(name string) (Tool, error) {
	i := slices.Index(r.names, name)
	if i < 0 && r.deferred != nil {
		if t, ok := r.deferred.lookup(name); ok {
			return t, nil
		}
	}
	if i < 0 {
		return nil, fmt.Errorf("unknown tool: %s (have: %s)", name, strings.Join(r.names, ", "))
	}
	return r.tools[i], nil
}

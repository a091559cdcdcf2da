package tools

import (
	"cmp"
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
// providers can cache the list. deferred may get more tools at any time, and gets those for
// panes and for what runs on in them; nil is an empty one.
func Default(shell *RunShell, ws *Workspace, client *web.Client, deferred *Deferred) []Tool {
	return offered(shell, ws, client, deferred, func(t Tool) Tool { return t })
}

// DefaultOn returns what Default does for several targets: calls that are about commands,
// panes and files may name one of sites. shell and ws are those of its first.
func DefaultOn(sites Sites, shell *RunShell, ws *Workspace, client *web.Client, deferred *Deferred) []Tool {
	return offered(shell, ws, client, deferred, func(t Tool) Tool { return onSites(sites, t) })
}

// offered returns the tools; on makes those of a target what is offered.
func offered(shell *RunShell, ws *Workspace, client *web.Client, deferred *Deferred, on func(Tool) Tool) []Tool {
	if deferred == nil {
		deferred = NewDeferred()
	}
	for _, t := range Panes(shell) {
		deferred.Add(on(t))
	}
	deferred.Add(NewTaskOutput(shell), NewTaskKill(shell)) // whose numbers are those of all targets
	var all []Tool
	for _, t := range append([]Tool{shell}, Files(ws)...) {
		all = append(all, on(t))
	}
	all = append(all, NewFetchURL(client), NewWebSearch(client), NewTime(time.Now), NewTodo(), NewAskUser())
	return append(all, NewToolSearch(deferred), NewUseTool(deferred))
}

// Names are those of all tools that a session may have.
func Names() []string {
	deferred := NewDeferred()
	all := Default(NewRunShell(nil, nil, "", "", nil), nil, nil, deferred)
	var names []string
	for _, t := range append(all, deferred.all()...) {
		names = append(names, t.Definition().Name)
	}
	return names
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

// aliases are other names by which models call tools.
var aliases = map[string]string{"tmux_capture_pane": "capture-pane", "tmux_send_keys": "send-keys"}

// Lookup returns the tool with a name: one that is offered, or one that use_tool could
// call, because models forget to go through it. The error is for the model (A19).
func (r *Registry) Lookup(name string) (Tool, error) {
	name = cmp.Or(aliases[name], name)
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

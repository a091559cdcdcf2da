package tools

import (
	"time"

	"buddy/tools/web"
)

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

// Quiet are tools whose work others do as well: a session takes their names and tells of none.
var Quiet = []string{"list_dir"}

// Package toolset lists the tools that a session offers to a model.
//
//	all := toolset.New(set, web.NewClient(web.Options{}), nil)
//	registry := tools.NewRegistry(all...).Without(toolset.Quiet...)
package toolset

import (
	"time"

	"buddy/tools"
	"buddy/tools/basic"
	"buddy/tools/file"
	"buddy/tools/shell"
	"buddy/tools/target"
	"buddy/tools/web"
)

// New returns the tools that a session offers, in an order that stays, so that providers can
// cache the list. Calls that are about commands, panes and files may name one of the targets of set,
// if there are several. deferred may get more tools at any time, and gets those for panes and for
// what runs on in them; nil is an empty one.
func New(set *target.Set, client *web.Client, deferred *tools.Deferred) []tools.Tool {
	if deferred == nil {
		deferred = tools.NewDeferred()
	}
	first := set.First()
	for _, t := range shell.Panes(first.Shell) {
		deferred.Add(set.Route(t))
	}
	deferred.Add(shell.NewTaskOutput(first.Shell), shell.NewTaskKill(first.Shell)) // whose numbers are those of all targets
	var all []tools.Tool
	for _, t := range first.Tools() {
		all = append(all, set.Route(t))
	}
	return append(all,
		web.NewFetchURL(client), web.NewWebSearch(client),
		basic.NewTime(time.Now), basic.NewTodo(), basic.NewAskUser(),
		tools.NewToolSearch(deferred), tools.NewUseTool(deferred),
	)
}

// Names are those of all tools that a session may have.
func Names() []string {
	deferred := tools.NewDeferred()
	nowhere := target.NewSession(&target.Target{}, shell.New(nil, nil, "", "", nil), &file.Workspace{})
	var names []string
	for _, t := range append(New(target.NewSet(nowhere, nil, nil), nil, deferred), deferred.All()...) {
		names = append(names, t.Definition().Name)
	}
	return names
}

// Quiet are tools whose work others do as well, or a prompt, which carries the date: a session
// takes their names and tells of none.
var Quiet = []string{"list_dir", "time"}

// Seldom are tools that the short list of a model with little room leaves out.
var Seldom = []string{"fetch_url", "web_search", "todo", "ask_user", "tool_search", "use_tool"}

// Package toolset lists the tools that a session offers to the model.
//
//	all := toolset.New(set, web.NewClient(web.Options{}), nil)
//	registry := tools.NewRegistry(all...).Without(toolset.Unlisted...)
package toolset

import (
	"maps"
	"slices"
	"time"

	"buddy/agent/model"
	"buddy/tools"
	"buddy/tools/basic"
	"buddy/tools/file"
	"buddy/tools/plan"
	"buddy/tools/shell"
	"buddy/tools/target"
	"buddy/tools/web"
)

// New returns the tools that a session offers, in a stable order, so that providers can cache the list. If set has
// several targets, calls about commands, panes and files may name one of them. New adds the tools for panes and
// background commands to deferred, where a nil deferred means an empty set; callers can add more tools to deferred at
// any time.
func New(set *target.Set, client *web.Client, deferred *tools.Deferred) []tools.Tool {
	if deferred == nil {
		deferred = tools.NewDeferred()
	}
	first := set.First()
	for _, t := range first.Deferred() {
		deferred.Add(set.Route(t))
	}
	deferred.Add(shell.NewTaskOutput(first.Shell), shell.NewTaskKill(first.Shell)) // their numbers cover all targets
	deferred.Add(basic.NewTime(time.Now), basic.NewSkill(), basic.NewRemember(), plan.NewEnter(), plan.NewExit())
	var all []tools.Tool
	for _, t := range first.Tools() {
		all = append(all, set.Route(t))
	}
	return append(all,
		web.NewFetchURL(client), web.NewWebSearch(client),
		basic.NewTodo(), basic.NewAskUser(), basic.NewAgent(),
		tools.NewToolSearch(deferred), tools.NewUseTool(deferred),
	)
}

// Names returns the names of all tools that a session may have.
func Names() []string {
	var names []string
	for _, t := range everything() {
		names = append(names, t.Definition().Name)
	}
	return names
}

// everything returns all tools that a session may have, only to list them: they can't be called.
func everything() []tools.Tool {
	deferred := tools.NewDeferred()
	nowhere := target.NewSession(&target.Target{}, shell.New(nil, nil, "", "", nil), &file.Workspace{})
	return append(New(target.NewSet(nowhere, nil, nil), nil, deferred), deferred.All()...)
}

// Arguments returns the arguments of all tools that a session may have, except for target and targets.
func Arguments() map[string][]model.Argument {
	return tools.ArgumentsOf(everything()...)
}

// groups are names for all tools of a kind.
var groups = map[string][]string{
	"shell": {"run_shell", "task_output", "task_kill"},
	"tmux":  {"capture-pane", "send-keys", "tmux_create_pane", "tmux_kill_pane", "tmux_create_session", "tmux_kill_session"},
	"files": {"read_file", "write_file", "edit_file", "apply_patch", "list_dir", "glob", "grep"},
	"web":   {"fetch_url", "web_search"},
}

// Switches returns the names that can be switched off: the groups, then the tools.
func Switches() []string { return append(slices.Sorted(maps.Keys(groups)), Names()...) }

// Expand replaces the names of groups by the names of their tools.
func Expand(names []string) []string {
	var all []string
	for _, name := range names {
		if group, ok := groups[name]; ok {
			all = append(all, group...)
		} else {
			all = append(all, name)
		}
	}
	return all
}

// NeedsTarget reports whether a session has tools that work on a target even without the tools in off.
func NeedsTarget(off []string) bool {
	for _, group := range []string{"shell", "tmux", "files"} {
		if slices.ContainsFunc(groups[group], func(name string) bool { return !slices.Contains(off, name) }) {
			return true
		}
	}
	return false
}

// Unlisted lists tools that a session runs when the model calls them, but does not offer, because other tools do the
// same work.
var Unlisted = []string{"list_dir"}

// Optional lists the tools that are not offered to a model with a small context window.
var Optional = []string{"fetch_url", "web_search", "todo", "ask_user", "agent", "tool_search", "use_tool"}

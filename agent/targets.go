package agent

import (
	"fmt"
	"slices"
	"strings"

	"buddy/agent/event"
)

// Targets holds the targets of a session. Calls without a target run on the current one.
type Targets interface {
	// Names returns the names of all targets.
	Names() []string
	// Current returns the name of the current target.
	Current() string
	// Switch makes another target current, without connecting to it. It returns the folder where commands start on
	// it, "" if unknown yet; ok is false if there is no such target.
	Switch(name string) (cwd string, ok bool)
}

// switchTarget changes the target of calls that name no target. The model learns of the change with its next request,
// so the provider's cache stays valid.
func (r *Runtime) switchTarget(name string) {
	if r.opts.Targets == nil {
		r.reject("there is no other target")
		return
	}
	t := r.tasks.idle(func() {
		cwd, ok := r.opts.Targets.Switch(name)
		if !ok {
			r.reject("unknown target %q (have: %s)", name, strings.Join(r.opts.Targets.Names(), ", "))
			return
		}
		e := event.TargetSwitched{Name: name, Cwd: cwd}
		r.switched(e)
		r.Publish(e)
	})
	if t != nil {
		r.reject("the target can't be switched while task #%d is running: its calls are meant for the current target", t.id)
	}
}

// switched records the new target, and announces it to the model.
func (r *Runtime) switched(e event.TargetSwitched) {
	r.selection.SetTarget(e.Name)
	r.tasks.tree.Main().Announce(fmt.Sprintf("The person switched the target: tool calls without a target now run on %s.", e.Name))
}

// restoreTarget switches to the target that was current when the session ended, unless it is the first one.
func (r *Runtime) restoreTarget() {
	name := r.selection.Target()
	if name == "" || r.opts.Targets != nil && name == r.opts.Targets.Current() {
		return
	}
	if r.opts.Targets != nil && slices.Contains(r.opts.Targets.Names(), name) {
		cwd, _ := r.opts.Targets.Switch(name)
		r.Publish(event.TargetSwitched{Name: name, Cwd: cwd})
		return
	}
	r.tasks.tree.Main().Announce(fmt.Sprintf("The target %s no longer exists: tool calls without a target run on %s.", name, r.opts.Target))
	r.Publish(event.Warning{
		Text: fmt.Sprintf("the target %q was current when the session ended but is no longer configured; commands run on %s", name, r.opts.Target), Code: "target",
	})
}

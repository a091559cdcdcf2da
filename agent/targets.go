package agent

import (
	"fmt"
	"slices"
	"strings"

	"buddy/agent/event"
)

// Targets holds the targets of a session, of which one is current: calls that name no target
// run on it.
type Targets interface {
	// Names returns the names of all targets.
	Names() []string
	// Current returns the name of the current target.
	Current() string
	// Switch makes another target current. It returns the folder in which commands begin on it, ""
	// when that is not known yet; ok is false if there is no such target. It connects to nothing.
	Switch(name string) (cwd string, ok bool)
}

// switchTarget changes where calls work that name no target. The model is told with its
// next request; what providers have cached stays.
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

// switched remembers where calls work now, and to tell the model.
func (r *Runtime) switched(e event.TargetSwitched) {
	r.selection.SetTarget(e.Name)
	r.tasks.tree.Main().Announce(fmt.Sprintf("The person switched the target: tool calls without a target now run on %s.", e.Name))
}

// restoreTarget switches to the target that was current when the session ended. The first
// one is it already.
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

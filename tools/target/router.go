package target

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/model"
	"buddy/tools"
	"buddy/tools/shell"
)

// Router runs a tool on the target that the call names, and else on the current one. The tool
// itself knows nothing of others: there is one of it for each target.
type Router struct {
	set   *Set
	def   model.ToolDef
	panes bool // the name of a pane says on which target it is
}

// extensible is a tool that can be defined with more arguments than its own.
type extensible interface {
	tools.Tool
	With(extra any) model.ToolDef
}

// targetArgs are the arguments that tools have only where there are several targets.
type targetArgs struct {
	Target string `json:"target,omitempty"`
}

// targetsArgs are those of run_shell.
type targetsArgs struct {
	Target  string   `json:"target,omitempty"`
	Targets []string `json:"targets,omitempty" desc:"several instead of target: runs on all side by side" max:"20"`
}

const maxTargets = 20 // of one call

// Route returns t, a tool of the first target, for calls that may name another; t itself where
// there is no other.
func (s *Set) Route(t tools.Tool) tools.Tool {
	own, ok := t.(extensible)
	if len(s.all) == 1 || !ok {
		return t
	}
	if _, ok := t.(*shell.Shell); ok {
		return &shellRouter{Router{set: s, def: own.With(targetsArgs{})}}
	}
	return &Router{set: s, def: own.With(targetArgs{}), panes: tools.HasArgument(own.Definition(), "pane")}
}

// Definition returns what the model reads: that of the tool, with the arguments about targets.
func (r *Router) Definition() model.ToolDef { return r.def }

// split takes the arguments about targets out of a call. What is no object stays as it is:
// the tool says so.
func (r *Router) split(call tools.Call) (tools.Call, targetsArgs, error) {
	var args map[string]json.RawMessage
	var at targetsArgs
	if json.Unmarshal([]byte(call.Arguments), &args) != nil {
		return call, at, nil
	}
	before := len(args)
	for name, to := range map[string]any{"target": &at.Target, "targets": &at.Targets} {
		raw, ok := args[name]
		if !ok || name == "targets" && !tools.HasArgument(r.def, name) {
			continue
		}
		if err := json.Unmarshal(raw, to); err != nil {
			return call, at, tools.Invalid("%s: expected %s, got %s", name, map[string]string{"target": "string", "targets": "array of strings"}[name], tools.KindOf(raw))
		}
		delete(args, name)
	}
	if len(args) < before {
		call.Arguments = string(tools.JSON(args))
	}
	var pane string
	if r.panes && json.Unmarshal(args["pane"], &pane) == nil {
		return call, at, r.follow(&at, pane)
	}
	return call, at, nil
}

// follow makes the target of a pane the one of its call.
func (r *Router) follow(at *targetsArgs, pane string) error {
	ref := tools.ParsePane(pane)
	of := ref.Target
	if of == "" && at.Target == "" && strings.HasPrefix(ref.ID, "%") {
		of = r.set.first.Name
	}
	switch {
	case of == "" || of == at.Target:
	case at.Target != "":
		return tools.Invalid("pane: %s is on %s, not on %s", tools.Clip(pane, 60), of, tools.Clip(at.Target, 60))
	default:
		at.Target = of
	}
	return nil
}

// known returns nil when a name is that of a target, else an error with all names.
func (s *Set) known(name string) error {
	if names := s.Names(); !slices.Contains(names, name) {
		return tools.Invalid("target: %q is none of this session (have: %s)", tools.Clip(name, 60), strings.Join(names, ", "))
	}
	return nil
}

// inner returns the tool of the target of a call, the call as it gets it, and the target: what
// was allowed, else what the call names.
func (r *Router) inner(call tools.Call) (tool tools.Tool, inner tools.Call, name string, err error) {
	inner, at, err := r.split(call)
	switch {
	case err != nil:
		return nil, call, "", err
	case call.Planned.Target != "":
		name = call.Planned.Target
	case at.Target != "":
		name = at.Target
	default:
		name = r.set.Current()
	}
	if err := r.set.known(name); err != nil {
		return nil, call, "", err
	}
	one, err := r.set.Open(name)
	if err != nil {
		return nil, call, "", tools.Failed(err)
	}
	return one.tools[r.def.Name], inner, name, nil
}

// Plan plans the call on its target, which it opens.
func (r *Router) Plan(call tools.Call) (action.Action, error) {
	call.Planned = action.Action{}
	tool, inner, name, err := r.inner(call)
	if err != nil {
		return action.Action{}, err
	}
	act, err := tool.Plan(inner)
	act.Target = name
	return act, err
}

// Run runs the call on the target for which it was allowed.
func (r *Router) Run(ctx context.Context, call tools.Call) tools.Result {
	tool, inner, _, err := r.inner(call)
	if err != nil {
		return tools.Failure(err)
	}
	return tool.Run(ctx, inner)
}

// Parallel is what the tool itself says.
func (r *Router) Parallel(call tools.Call) bool {
	tool, inner, _, err := r.inner(call)
	p, ok := tool.(tools.Parallel)
	return err == nil && ok && p.Parallel(inner)
}

// Recover is what the tool itself does.
func (r *Router) Recover(ctx context.Context, call tools.Call) tools.Result {
	tool, inner, _, err := r.inner(call)
	if t, ok := tool.(tools.Recoverer); err == nil && ok {
		return t.Recover(ctx, inner)
	}
	return tools.Result{Content: tools.Interrupted, IsError: true}
}

package target

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/model"
	"buddy/texts"
	"buddy/tools"
	"buddy/tools/shell"
)

// Router runs a tool on the target that the call names, by default the current one. Each target has its own instance of
// the tool, which does not know about other targets.
type Router struct {
	set   *Set
	def   model.ToolDef
	panes bool // the name of a pane selects its target
}

// extensible is a tool whose definition can be given additional arguments.
type extensible interface {
	tools.Tool
	With(extra any) model.ToolDef
}

// targetArgs are the arguments that tools get only when there are several targets.
type targetArgs struct {
	Target string `json:"target,omitempty"`
}

// targetsArgs are the target arguments of run_shell.
type targetsArgs struct {
	Target  string   `json:"target,omitempty"`
	Targets []string `json:"targets,omitempty" desc:"several instead of target: runs on all side by side" max:"20"`
}

const maxTargets = 20 // of one call

// Route returns a version of t, a tool of the first target, whose calls may name other targets. It returns t itself if
// there are no other targets.
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

// Definition returns the tool's definition with the arguments about targets.
func (r *Router) Definition() model.ToolDef { return r.def }

// split removes the arguments about targets from a call. Arguments that are not a JSON object stay unchanged, for the
// tool to refuse.
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

// follow makes a call that names a pane use the pane's target.
func (r *Router) follow(at *targetsArgs, pane string) error {
	ref := tools.ParsePane(pane)
	of := ref.Target
	if of == "" && at.Target == "" && strings.HasPrefix(ref.ID, "%") {
		of = r.set.first.Name
	}
	switch {
	case of == "" || of == at.Target:
	case at.Target != "":
		return tools.Invalid("pane: %s is on %s, not on %s", texts.ClipBytes(pane, 60), of, texts.ClipBytes(at.Target, 60))
	default:
		at.Target = of
	}
	return nil
}

// known returns an error, which lists all targets, unless a target has the name.
func (s *Set) known(name string) error {
	if names := s.Names(); !slices.Contains(names, name) {
		return tools.Invalid("target: %q is not a target of this session (have: %s)", texts.ClipBytes(name, 60), strings.Join(names, ", "))
	}
	return nil
}

// inner returns the tool on the call's target, the call for that tool, and the target: the approved target or, before
// approval, the one that the call names, or the current one.
func (r *Router) inner(ctx context.Context, call tools.Call) (tool tools.Tool, inner tools.Call, name string, err error) {
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
	one, err := r.set.Open(ctx, name)
	if err != nil {
		return nil, call, "", tools.Failed(err)
	}
	return one.tools[r.def.Name], inner, name, nil
}

// planning returns the context of the plan of a call.
func planning(call tools.Call) context.Context {
	if call.Planning != nil {
		return call.Planning
	}
	return context.Background()
}

// Plan opens the target of the call and plans the call there.
func (r *Router) Plan(call tools.Call) (action.Action, error) {
	call.Planned = action.Action{}
	tool, inner, name, err := r.inner(planning(call), call)
	if err != nil {
		return action.Action{}, err
	}
	act, err := tool.Plan(inner)
	act.Target = name
	return act, err
}

// Run runs the call on the approved target.
func (r *Router) Run(ctx context.Context, call tools.Call) tools.Result {
	tool, inner, _, err := r.inner(ctx, call)
	if err != nil {
		return tools.Failure(err)
	}
	return tool.Run(ctx, inner)
}

// Parallel calls the method of the tool.
func (r *Router) Parallel(call tools.Call) bool {
	tool, inner, _, err := r.inner(planning(call), call)
	return err == nil && tools.IsParallel(tool, inner)
}

// Recover calls the method of the tool.
func (r *Router) Recover(ctx context.Context, call tools.Call) tools.Result {
	tool, inner, _, err := r.inner(ctx, call)
	if t, ok := tool.(tools.Recoverer); err == nil && ok {
		return t.Recover(ctx, inner)
	}
	return tools.Result{Content: tools.Interrupted, IsError: true}
}

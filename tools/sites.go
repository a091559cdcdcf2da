package tools

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/model"
)

// Site is one target of a session: the tools that work on its commands, panes and files.
type Site struct {
	shell *RunShell
	tools map[string]Tool
}

// NewSite returns the tools of a target. All but the first of a session have a shell that
// is [RunShell.Beside] that of the first.
func NewSite(shell *RunShell, files *Workspace) *Site {
	s := &Site{shell: shell, tools: make(map[string]Tool)}
	for _, t := range append(append([]Tool{shell}, Files(files)...), Panes(shell)...) {
		s.tools[t.Definition().Name] = t
	}
	return s
}

// Sites are the targets that calls of a session may name. Its methods may be called by any
// goroutine.
type Sites interface {
	// Names are all of them, that where the session began first. They stay as they are.
	Names() []string
	// Current is the one for calls that name none.
	Current() string
	// Open returns the site with one of the names, which is reached for when it is needed
	// first. An error says why that is not possible now; the next call tries again.
	Open(ctx context.Context, name string) (*Site, error)
}

// sited is a tool that works on the target that its call names. The tool itself knows
// nothing of others: there is one of it for each target.
type sited struct {
	sites Sites
	def   model.ToolDef
	panes bool // the name of a pane says on which target it is
}

// extensible is a tool that can be defined with more arguments than its own.
type extensible interface{ With(extra any) model.ToolDef }

// onSites returns t for calls that may name a target.
func onSites(sites Sites, t Tool) Tool {
	def := t.Definition()
	at := sited{sites: sites, panes: hasArgument(def, "pane")}
	if _, shell := t.(*RunShell); shell {
		at.def = t.(extensible).With(targetsArgs{})
		return &sitedShell{at}
	}
	at.def = t.(extensible).With(targetArgs{})
	return &at
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

func (t *sited) Definition() model.ToolDef { return t.def }

// siteArgs are the arguments about targets.
type siteArgs struct {
	target  string
	targets []string // nil: not several
}

// split takes the arguments about targets out of a call. What is no object stays as it is:
// the tool says so.
func (t *sited) split(call Call) (Call, siteArgs, error) {
	var args map[string]json.RawMessage
	var at siteArgs
	if json.Unmarshal([]byte(call.Arguments), &args) != nil {
		return call, at, nil
	}
	before := len(args)
	for name, to := range map[string]any{"target": &at.target, "targets": &at.targets} {
		raw, ok := args[name]
		if !ok || name == "targets" && !hasArgument(t.def, name) {
			continue
		}
		if err := json.Unmarshal(raw, to); err != nil {
			return call, at, invalid("%s: expected %s, got %s", name, map[string]string{"target": "string", "targets": "array of strings"}[name], kindOf(raw))
		}
		delete(args, name)
	}
	if len(args) < before {
		call.Arguments = string(compact(args))
	}
	var pane string
	if t.panes && json.Unmarshal(args["pane"], &pane) == nil {
		return call, at, t.follow(&at, pane)
	}
	return call, at, nil
}

// follow makes the target of a pane the one of its call.
func (t *sited) follow(at *siteArgs, pane string) error {
	ref := ParsePane(pane)
	of := ref.Target
	if of == "" && at.target == "" && strings.HasPrefix(ref.ID, "%") {
		of = t.sites.Names()[0]
	}
	switch {
	case of == "" || of == at.target:
	case at.target != "":
		return invalid("pane: %s is on %s, not on %s", clip(pane, 60), of, clip(at.target, 60))
	default:
		at.target = of
	}
	return nil
}

// known says which names there are when this is none.
func (t *sited) known(name string) error {
	if names := t.sites.Names(); !slices.Contains(names, name) {
		return invalid("target: %q is none of this session (have: %s)", clip(name, 60), strings.Join(names, ", "))
	}
	return nil
}

// place returns the target of a call: what was allowed, else what it names.
func (t *sited) place(call Call) (name string, inner Call, err error) {
	inner, at, err := t.split(call)
	switch {
	case err != nil:
		return "", call, err
	case call.Planned.Target != "":
		name = call.Planned.Target
	case at.target != "":
		name = at.target
	default:
		name = t.sites.Current()
	}
	return name, inner, t.known(name)
}

// inner returns the tool of the target of a call, the call as it gets it, and the target.
func (t *sited) inner(ctx context.Context, call Call) (tool Tool, inner Call, name string, err error) {
	name, inner, err = t.place(call)
	if err != nil {
		return nil, call, "", err
	}
	site, err := t.sites.Open(ctx, name)
	if err != nil {
		return nil, call, "", failed(err)
	}
	return site.tools[t.def.Name], inner, name, nil
}

func (t *sited) Plan(call Call) (action.Action, error) {
	ctx, done := planning()
	defer done()
	call.Planned = action.Action{}
	tool, inner, name, err := t.inner(ctx, call)
	if err != nil {
		return action.Action{}, err
	}
	act, err := tool.Plan(inner)
	act.Target = name
	return act, err
}

func (t *sited) Run(ctx context.Context, call Call) Result {
	tool, inner, _, err := t.inner(ctx, call)
	if err != nil {
		return failure(err)
	}
	return tool.Run(ctx, inner)
}

// Parallel is what the tool itself says.
func (t *sited) Parallel(call Call) bool {
	ctx, done := planning()
	defer done()
	tool, inner, _, err := t.inner(ctx, call)
	p, ok := tool.(Parallel)
	return err == nil && ok && p.Parallel(inner)
}

// Recover is what the tool itself does.
func (t *sited) Recover(ctx context.Context, call Call) Result {
	tool, inner, _, err := t.inner(ctx, call)
	if r, ok := tool.(Recoverer); err == nil && ok {
		return r.Recover(ctx, inner)
	}
	return Result{Content: interrupted, IsError: true}
}

package tools

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"buddy/agent/model"
	"buddy/texts"
)

// Registry holds the tools that a session offers to the model. The zero value is empty.
type Registry struct {
	tools    []Tool
	names    []string
	unlisted []string          // callable tools that are missing from Definitions
	off      map[string]string // by tool that is switched off: the setting that does it
	deferred *Deferred         // the set behind use_tool, if use_tool is registered
}

// NewRegistry returns a registry that offers the tools in the given order.
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

// Without returns a registry that does not offer the named tools, but still accepts calls of them.
func (r *Registry) Without(names ...string) *Registry {
	other := *r
	other.unlisted = slices.Concat(r.unlisted, names)
	return &other
}

// Off returns a registry in which the named tools can't be called, not even through use_tool; the error names the
// setting that switches them off. use_tool is removed if no tool is left for it and none can arrive later.
func (r *Registry) Off(setting string, names ...string) *Registry {
	if len(names) == 0 {
		return r
	}
	gone := names
	if r.deferred != nil {
		if r.deferred.Remove(names...); len(r.deferred.All()) == 0 && r.deferred.from() == nil {
			gone = append(slices.Clone(names), "tool_search", "use_tool")
		}
	}
	kept := slices.DeleteFunc(slices.Clone(r.tools), func(t Tool) bool { return slices.Contains(gone, t.Definition().Name) })
	other := NewRegistry(kept...)
	other.unlisted, other.off = r.unlisted, make(map[string]string)
	maps.Copy(other.off, r.off)
	for _, name := range names {
		other.off[name] = setting
	}
	return other
}

// Only returns a registry of the tools whose names keep accepts, including the tools behind use_tool that arrive later.
func (r *Registry) Only(keep func(name string) bool) *Registry {
	var deferred *Deferred
	reach := keep
	if r.deferred != nil {
		deferred = r.deferred.only(keep)
		if len(deferred.All()) > 0 { // callable only through these two
			reach = func(name string) bool { return name == searchName || name == useName || keep(name) }
		}
	}
	var kept []Tool
	for i, t := range r.tools {
		switch {
		case !reach(r.names[i]):
		case r.names[i] == searchName && deferred != nil:
			kept = append(kept, NewToolSearch(deferred))
		case r.names[i] == useName && deferred != nil:
			kept = append(kept, NewUseTool(deferred))
		default:
			kept = append(kept, t)
		}
	}
	other := NewRegistry(kept...)
	other.unlisted, other.off = r.unlisted, r.off
	return other
}

// Swap returns a registry in which the given tools replace those with the same names.
func (r *Registry) Swap(others []Tool) *Registry {
	all := slices.Clone(r.tools)
	for _, t := range others {
		if i := slices.Index(r.names, t.Definition().Name); i >= 0 {
			all[i] = t
		}
	}
	other := NewRegistry(all...)
	other.unlisted, other.off = r.unlisted, r.off
	return other
}

// Definitions returns the definitions for the model; nil when there are no tools.
func (r *Registry) Definitions() []model.ToolDef {
	var defs []model.ToolDef
	for i, t := range r.tools {
		if !slices.Contains(r.unlisted, r.names[i]) {
			defs = append(defs, t.Definition())
		}
	}
	return defs
}

// Lookup returns the tool with our name or a foreign name. It also finds the tools behind use_tool, because models
// forget to call them through use_tool. The text of the error goes to the model.
func (r *Registry) Lookup(name string) (Tool, error) {
	for _, n := range []string{name, nativeName(name)} {
		if setting, off := r.off[n]; off {
			return nil, fmt.Errorf("%s is switched off in the settings (%s)", n, setting)
		}
		if i := slices.Index(r.names, n); i >= 0 {
			return r.tools[i], nil
		}
		if r.deferred != nil {
			if t, ok := r.deferred.lookup(n); ok {
				return t, nil
			}
		}
	}
	if _, near := r.nearMiss(name); len(near) > 1 {
		return nil, fmt.Errorf("unknown tool: %s (it may mean %s: call the one that is meant)", texts.ClipBytes(name, 60), strings.Join(near, " or "))
	}
	return nil, fmt.Errorf("unknown tool: %s (have: %s)", texts.ClipBytes(name, 60), strings.Join(r.names, ", "))
}

// Resolve returns the tool that a call means, and the call with our names, so that buddy plans, displays and records
// the same call that it runs. The call's Notes list the ignored arguments. The text of the error goes to the model.
func (r *Registry) Resolve(call Call) (Tool, Call, error) {
	call, err := r.reroute(r.correct(call))
	if err != nil {
		return nil, call, err
	}
	t, err := r.Lookup(call.Name)
	if err != nil {
		return nil, call, err
	}
	if use, ok := t.(*useTool); ok {
		call, err = use.toNative(call)
		return t, call, err
	}
	call, err = toNative(t, call)
	return t, call, err
}

// reroute rewrites a call into a call of another tool, if that is what the model means.
func (r *Registry) reroute(call Call) (Call, error) {
	name := plainName(call.Name)
	switch nativeName(call.Name) {
	case "run_shell":
		return r.reroutePatch(call)
	case "use_tool":
		args, inner, err := (&useTool{}).unwrap(call)
		if i := slices.Index(r.names, nativeName(inner.Name)); err == nil && i >= 0 && r.names[i] != "use_tool" {
			inner.Arguments = withReason(r.tools[i].Definition(), inner.Arguments, args.Why)
			return inner, nil
		}
	}
	if name != "write_stdin" || slices.Contains(r.names, name) {
		return call, nil
	}
	values, _ := objectIn(call.Arguments)
	if f := (&foreign{values: values}); string(f.values["chars"]) != `""` && f.values["chars"] != nil {
		return call, Invalid(`write_stdin: chars: here keys go to a pane: send-keys {"pane":"%%3","literal_text":"…","enter":true}, with the pane that the result of run_shell named`)
	}
	return call, nil
}

// reroutePatch rewrites a command that only applies a patch into a call of apply_patch, if the patch's relative paths
// start in the shell's folder.
func (r *Registry) reroutePatch(call Call) (Call, error) {
	patch, folder, ok := patchIn(call.Arguments)
	if !ok {
		return call, nil
	}
	var at ShellDirs
	if t, err := r.Lookup(call.Name); err == nil {
		at = shellDirsOf(t, call)
	}
	if at.Now != at.First || folder != "" && path.Clean(folder) != "." && path.Clean(folder) != at.First {
		return call, Invalid(`apply_patch is a tool whose paths begin at %s: call it with {"patch":"*** Begin Patch…"}`, cmp.Or(at.First, "the workspace"))
	}
	call.Name, call.Arguments = "apply_patch", string(JSON(map[string]string{"patch": patch}))
	return call, nil
}

// shellDirsOf returns the folders of the shell in which a call would run a command, or the zero value if t is not a
// shell.
func shellDirsOf(t Tool, call Call) ShellDirs {
	if s, ok := t.(ShellTool); ok {
		return s.ShellDirs(call)
	}
	return ShellDirs{}
}

// toNative translates the arguments of a call of t.
func toNative(t Tool, call Call) (Call, error) {
	def := t.Definition()
	call, err := translate(def, call, shellDirsOf(t, call))
	call.Name = def.Name
	return call, err
}

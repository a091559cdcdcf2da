package tools

import (
	"context"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/model"
)

// named is a tool of which only the name matters.
type named string

func (n named) Definition() model.ToolDef               { return model.ToolDef{Name: string(n)} }
func (n named) Plan(Call) (action.Action, error)        { return action.Action{}, nil }
func (n named) Run(context.Context, Call) (none Result) { return none }

// allNamed returns a registry with every tool that the table of names knows.
func allNamed() *Registry {
	var all []Tool
	for _, d := range dialects {
		if d.tool != useName {
			all = append(all, named(d.tool))
		}
	}
	return NewRegistry(all...)
}

// A name that can only be a slip for one tool is taken for it, with a note and the name as it was written. What
// may mean two tools, or a tool that does more than the name says, is refused.
func TestSlipsInNamesOfTools(t *testing.T) {
	for _, tt := range []struct{ name, want, err string }{
		{"readfile", "read_file", ""},
		{"Read-File", "read_file", ""},
		{"raed_file", "read_file", ""},
		{"read_flie", "read_file", ""},
		{"edit_fil", "edit_file", ""},
		{"run_shel", "run_shell", ""},
		{"create_fle", "write_file", ""},
		{"functions.readfile", "read_file", ""},
		{"rdit_file", "edit_file", ""},
		{"patc", "", "unknown tool"},
		{"match", "", "may mean"},
		{"task_stat", "", "unknown tool"},
		{"task_show", "", "unknown tool"},
		{"delete_file", "", "unknown tool"},
		{"nothing", "", "unknown tool"},
		{strings.Repeat("read_file", 1000), "", "unknown tool"},
		{"", "", "unknown tool"},
	} {
		tool, call, err := allNamed().Resolve(Call{ID: "c1", Name: tt.name, Arguments: "{}"})
		if tt.want == "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) || call.Corrected != "" {
				t.Errorf("%.60q: %v, %+v", tt.name, err, call)
			}
			continue
		}
		if err != nil || tool.Definition().Name != tt.want || call.Name != tt.want || call.ID != "c1" || call.Corrected != tt.name || len(call.Notes) != 1 || !strings.Contains(call.Notes[0], tt.name) {
			t.Errorf("%q: %v, %+v", tt.name, err, call)
		}
	}
	if _, call, err := allNamed().Resolve(Call{Name: "Read", Arguments: "{}"}); err != nil || call.Corrected != "" || len(call.Notes) != 0 {
		t.Errorf("a name of another program counts as a slip: %+v, %v", call, err)
	}
	if _, call, err := allNamed().Off("[tools] off", "read_file").Resolve(Call{Name: "readfile", Arguments: "{}"}); err == nil {
		t.Errorf("what is switched off was called as %+v", call)
	}
}

// No single slip in the name of a tool that only reads calls one that changes anything.
func TestSlipsNeverDoMore(t *testing.T) {
	r, corrected := allNamed(), 0
	for _, d := range dialects {
		if !d.reads {
			continue
		}
		for _, name := range append([]string{d.tool}, d.names...) {
			for i := range len(name) {
				for _, c := range "aeilst" {
					for _, slip := range []string{name[:i] + string(c) + name[i+1:], name[:i] + string(c) + name[i:], name[:i] + name[i+1:]} {
						call := r.correct(Call{Name: slip})
						if call.Corrected == "" {
							continue
						}
						corrected++
						if !onlyReads(call.Name) {
							t.Errorf("%s became %s", slip, call.Name)
						}
					}
				}
			}
		}
	}
	if corrected < 500 {
		t.Errorf("only %d slips were corrected", corrected)
	}
}

func FuzzSlips(f *testing.F) {
	f.Add("readfile", "read_file")
	f.Fuzz(func(t *testing.T, a, b string) {
		if n := slips(a, b); n != slips(b, a) || n < 0 || n > maxSlip+1 || (n == 0) != (a == b) {
			t.Errorf("slips(%q, %q) = %d and %d", a, b, n, slips(b, a))
		}
	})
}

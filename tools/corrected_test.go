package tools

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/model"
)

// named is a tool with nothing but a name.
type named string

func (n named) Definition() model.ToolDef               { return model.ToolDef{Name: string(n)} }
func (n named) Plan(Call) (action.Action, error)        { return action.Action{}, nil }
func (n named) Run(context.Context, Call) (none Result) { return none }

// allNamed returns a registry with all tools in the table of names.
func allNamed() *Registry {
	var all []Tool
	for _, d := range dialects {
		if d.tool != useName {
			all = append(all, named(d.tool))
		}
	}
	return NewRegistry(all...)
}

// A name that can be a slip for one tool only is replaced by that tool's name, with a note that quotes the name as
// written. A name that may mean two tools, or a tool that does more than the name says, is refused.
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

// A single slip in the name of a read-only tool never calls a tool that changes something.
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

// schemed is a tool with only a name and a schema.
type schemed struct {
	named
	schema string
}

func (s schemed) Definition() model.ToolDef {
	return model.ToolDef{Name: string(s.named), Parameters: []byte(s.schema)}
}

const (
	shellSchema = `{"type":"object","properties":{"command":{"type":"string"},"wait":{"type":"string"},"targets":{"type":"array"}},"required":["command"]}`
	grepSchema  = `{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":"string"},"context":{"type":"integer"},"ignore_case":{"type":"boolean"}},"required":["pattern"]}`
	editSchema  = `{"type":"object","properties":{"path":{"type":"string"},"old_string":{"type":"string"},"new_string":{"type":"string"},"replace_all":{"type":"boolean"}},"required":["path","old_string","new_string"]}`
	otherSchema = `{"type":"object","properties":{"query":{"type":"string"},"queue":{"type":"string"},"recursive":{"type":"boolean"}},"required":["query"]}`
)

// An argument name that can be a slip for one argument only is corrected, with a note; the value stays. An argument
// that the tool can do without is corrected only for read-only tools, and never if it is a flag or names a place.
func TestSlipsInNamesOfArguments(t *testing.T) {
	deferred := NewDeferred(schemed{"db__find", otherSchema})
	r := NewRegistry(schemed{"run_shell", shellSchema}, schemed{"grep", grepSchema}, schemed{"edit_file", editSchema}, NewUseTool(deferred))
	for _, tt := range []struct{ tool, args, want, renamed string }{
		{"run_shell", `{"comand":"ls","why":"w"}`, `{"command":"ls","why":"w"}`, "comand command"},
		{"run_shell", `{"Command":"ls"}`, `{"command":"ls"}`, "Command command"},
		{"run_shell", `{"command_":"ls"}`, `{"command":"ls"}`, "command_ command"},
		{"edit_file", `{"file_pth":"a","old_strng":"b","newstring":"c"}`, `{"new_string":"c","old_string":"b","path":"a"}`, "file_pth path newstring new_string old_strng old_string"},
		{"grep", `{"patern":"x","contxt":3}`, `{"context":3,"pattern":"x"}`, "contxt context patern pattern"},
		{"use_tool", `{"name":"db__find","args":{"querry":"x"}}`, `{"name":"db__find","args":{"query":"x"}}`, "querry query"},
		{"use_tool", `{"tool_nam":"db__find","args":{"query":"x"}}`, `{"name":"db__find","args":{"query":"x"}}`, "tool_nam name"},

		{"run_shell", `{"command":"ls","comand":"rm -rf /"}`, "", ""}, // two commands
		{"run_shell", `{"comand":"ls","commandx":"rm"}`, "", ""},
		{"run_shell", `{"command":"ls","target":["web"]}`, "", ""}, // the target of the command
		{"run_shell", `{"command":"ls","waits":"1s"}`, "", ""},     // an optional argument with an effect
		{"edit_file", `{"path":"a","old_string":"b","new_string":"c","replace_al":true}`, "", ""},
		{"edit_file", `{"patch":"a","old_string":"b","new_string":"c"}`, "", ""}, // an argument of another tool
		{"grep", `{"pattern":"x","pathh":"/"}`, "", ""},
		{"run_shell", `{"comm` + strings.Repeat("_", 100) + `and":"ls"}`, "", ""},
		{"grep", `{"pattern":"x","ignore_cas":true}`, `{"pattern":"x"}`, ""}, // ignored, with a note
		{"use_tool", `{"name":"db__find","args":{"quere":"x"}}`, "", ""},     // may mean two
		{"use_tool", `{"name":"db__find","args":{"query":"x","recursiv":true}}`, "", ""},
	} {
		_, call, err := r.Resolve(Call{ID: "c1", Name: tt.tool, Arguments: tt.args})
		if err != nil {
			t.Errorf("%s %s: %v", tt.tool, tt.args, err)
			continue
		}
		want := tt.want
		if want == "" {
			want = tt.args // the tool itself refuses the call
		}
		var renamed []string
		for _, from := range slices.Sorted(maps.Keys(call.Renamed)) {
			renamed = append(renamed, from, call.Renamed[from])
		}
		if call.Arguments != want || strings.Join(renamed, " ") != tt.renamed || len(renamed)/2 != strings.Count(strings.Join(call.Notes, ";"), "it was taken for") {
			t.Errorf("%s %s became %s, %q, %q", tt.tool, tt.args, call.Arguments, renamed, call.Notes)
		}
	}
}

// A slip in the name of a flag or a place is never corrected, and neither is one in an optional argument of a tool with
// effects.
func TestSlipsInArgumentsNeverDoMore(t *testing.T) {
	r := NewRegistry(schemed{"run_shell", shellSchema}, schemed{"grep", grepSchema}, schemed{"edit_file", editSchema})
	may := map[string][]string{"run_shell": {"command"}, "grep": {"pattern", "context"}, "edit_file": {"path", "old_string", "new_string"}}
	corrected := 0
	for tool, good := range may {
		own, _ := r.Lookup(tool)
		for name := range propertiesOf(own.Definition()) {
			for i := range len(name) {
				for _, c := range "aest_" {
					for _, slip := range []string{name[:i] + string(c) + name[i+1:], name[:i] + string(c) + name[i:], name[:i] + name[i+1:]} {
						_, call, err := r.Resolve(Call{Name: tool, Arguments: string(JSON(map[string]any{slip: "x"}))})
						if err != nil {
							t.Fatal(err)
						}
						for _, to := range call.Renamed {
							corrected++
							if !slices.Contains(good, to) {
								t.Errorf("%s: %s became %s", tool, slip, to)
							}
						}
					}
				}
			}
		}
	}
	if corrected < 200 {
		t.Errorf("only %d slips were corrected", corrected)
	}
}

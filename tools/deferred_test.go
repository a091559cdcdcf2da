package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/model"
	"buddy/tools"
	"buddy/tools/toolstest"
)

type args = toolstest.Args

// remote is a tool with a schema of its own, such as other programs offer.
type remote struct {
	name, text, schema string
	got                []tools.Call
}

func (r *remote) Definition() model.ToolDef {
	return model.ToolDef{Name: r.name, Description: r.text, Parameters: json.RawMessage(r.schema)}
}

func (r *remote) Plan(call tools.Call) (action.Action, error) {
	if strings.Contains(call.Arguments, "bad") {
		return action.Action{}, tools.Invalid("number: expected integer")
	}
	return action.Action{Kind: action.Generic, Tool: r.name, Preview: call.Arguments}, nil
}

func (r *remote) Run(_ context.Context, call tools.Call) tools.Result {
	r.got = append(r.got, call)
	return tools.Result{Content: "ran " + call.Name + " " + call.Arguments}
}

func (r *remote) Parallel(tools.Call) bool { return r.name == "issue_read" }

func deferredBench(t *testing.T) (*toolstest.Bench, *remote, *tools.Deferred) {
	t.Helper()
	read := &remote{name: "issue_read", text: "Read an issue.", schema: `{"type":"object","properties":{"number":{"type":"integer"}}}`}
	d := tools.NewDeferred(&remote{name: "page_make", text: "Make a page for an issue.", schema: `{"properties":{"why":{}}}`}, read)
	return &toolstest.Bench{T: t, Tools: tools.NewRegistry(tools.NewToolSearch(d), tools.NewUseTool(d))}, read, d
}

func TestToolSearch(t *testing.T) {
	b, read, d := deferredBench(t)
	names := func(out toolstest.Output) (described, other []string) {
		for line := range strings.Lines(out.Text) {
			var def model.ToolDef
			if json.Unmarshal([]byte(line), &def) == nil {
				described = append(described, def.Name)
			} else {
				other = append(other, strings.TrimSpace(line))
			}
		}
		return described, other
	}
	tests := []struct {
		query            string
		described, other []string
	}{
		{"ISSUE", []string{"issue_read", "page_make"}, nil},
		{"page_make", []string{"page_make"}, nil},
		{"read nothing", []string{"issue_read"}, nil},
		{"", nil, []string{"issue_read", "page_make"}},
		{"zzz", nil, nil},
	}
	for _, tt := range tests {
		described, other := names(b.OK("tool_search", args{"query": tt.query}))
		if !reflect.DeepEqual(described, tt.described) || !reflect.DeepEqual(other, tt.other) {
			t.Errorf("tool_search(%q) = %v, %v, want %v, %v", tt.query, described, other, tt.described, tt.other)
		}
	}
	const want = `{"name":"issue_read","description":"Read an issue.","parameters":{"type":"object","properties":{"number":{"type":"integer"}}}}` + "\n"
	if got := b.OK("tool_search", args{"query": "issue_read"}).Text; got != want {
		t.Errorf("tool = %s, want %s", got, want)
	}
	for i := range 500 {
		d.Add(&remote{name: fmt.Sprintf("many_%03d_%s", i, strings.Repeat("x", 50)), schema: `{}`})
	}
	call, _ := b.Plan("tool_search", args{"query": "many"})
	if res := b.Run(call); len(res.Content) > 2*tools.OutputBytes || strings.Count(res.Content, "parameters") != 5 {
		t.Errorf("%d bytes: %.300s", len(res.Content), res.Content)
	}
	if note := b.OK("tool_search", args{"query": ""}).Note; !strings.Contains(note, "more match") {
		t.Errorf("names are left out without a word: %q", note)
	}
	d.Add(&remote{name: "long_one", text: strings.Repeat("x", tools.OutputBytes), schema: `{}`})
	if described, _ := names(b.OK("tool_search", args{"query": "long_one many"})); len(described) == 0 || described[0] != "long_one" {
		t.Errorf("the best one is not described because it is long: %v", described)
	}
	d.Add(&remote{name: "issue_read", text: "Other.", schema: `{}`})
	if slices.Contains(d.All(), tools.Tool(read)) {
		t.Error("the tool was not replaced")
	}
}

func TestUseToolIsTheTool(t *testing.T) {
	b, read, _ := deferredBench(t)
	call, err := b.Plan("use_tool", args{"name": "issue_read", "args": args{"number": 7}})
	if want := (action.Action{Kind: action.Generic, Tool: "issue_read", Preview: `{"number":7}`}); err != "" || !reflect.DeepEqual(call.Planned, want) {
		t.Errorf("Plan = %+v, %s, want %+v", call.Planned, err, want)
	}
	if res := b.Run(call); res.IsError || res.Content != `ran issue_read {"number":7}` || read.got[0].Planned.Tool != "issue_read" {
		t.Errorf("Run = %+v", res)
	}
	tool, _ := b.Tools.Lookup("use_tool")
	other := toolstest.CallOf("use_tool", args{"name": "page_make"})
	if p := tool.(tools.Parallel); !p.Parallel(call) || p.Parallel(other) || p.Parallel(toolstest.CallOf("use_tool", args{"name": "none"})) {
		t.Error("Parallel is not what the tool says")
	}
	for _, tt := range []struct {
		a    args
		want string
	}{
		{args{"name": "page_make"}, `{"why":"a test"}`}, // the reason is passed on
		{args{"name": "page_make", "args": args{"why": "own"}}, `{"why":"own"}`},
		{args{"name": "issue_read"}, `{}`},
		{args{"name": "issue_read", "args": `{"number": 8}`}, `{"number":8}`}, // encoded twice
		{args{"name": "issue_read", "args": nil}, `{}`},
	} {
		if call, err := b.Plan("use_tool", tt.a); err != "" || call.Planned.Preview != tt.want {
			t.Errorf("Plan(%v) = %+v, %s, want %s", tt.a, call.Planned, err, tt.want)
		}
	}
	b.Fails("use_tool", args{"name": "none"}, `invalid arguments: name: use_tool can't call a tool "none"`)
	b.Fails("use_tool", args{"name": "use_tool"}, "use_tool can't call a tool")
	b.Fails("use_tool", args{"name": "issue_read", "args": []int{1}}, "args: expected object, got array")
	b.Fails("use_tool", args{"name": "issue_read", "args": args{"bad": 1}}, "issue_read: invalid arguments: number: expected integer")
	if call, err := b.Plan("use_tool", args{"name": "page_make", "why": ""}); err != "" || call.Planned.Preview != `{}` {
		t.Errorf("without a reason: %+v, %s", call.Planned, err)
	}
	if direct, err := b.Tools.Lookup("issue_read"); err != nil || direct != tools.Tool(read) {
		t.Errorf("Lookup = %v, %v", direct, err)
	}
	if res := tool.(tools.Recoverer).Recover(t.Context(), call); !res.IsError || res.Content != tools.Interrupted {
		t.Errorf("Recover = %+v", res)
	}
}

package toolset

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/tmux"
	"buddy/tools"
	"buddy/tools/file"
	"buddy/tools/shell"
	"buddy/tools/target"
	"buddy/tools/web"
)

// offered returns the tools of a session on this machine, whose shell starts in cwd, and others.
func offered(t *testing.T, cwd string, others ...*target.Target) ([]tools.Tool, *tools.Deferred) {
	t.Helper()
	ws, err := file.NewWorkspace(t.TempDir(), func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	here := target.NewSession(&target.Target{Name: "local"}, shell.New(&tmux.Session{}, nil, "local", cwd, nil), ws)
	deferred := tools.NewDeferred()
	return New(target.NewSet(here, others, nil), web.NewClient(web.Options{}), deferred), deferred
}

// budgets are the size limits of the definitions sent with each request, in bytes of JSON.
var budgets = map[string]int{
	"run_shell": 550, "read_file": 350, "write_file": 300, "edit_file": 600, "apply_patch": 350, "glob": 300, "grep": 420,
	"fetch_url": 240, "web_search": 160, "todo": 400, "ask_user": 270, "agent": 380, "tool_search": 240, "use_tool": 240,
}

// Providers cache the names and their order, and the total size in each request is bounded.
func TestDefaultTools(t *testing.T) {
	all, deferred := offered(t, "")
	r := tools.NewRegistry(all...).Without(Unlisted...)
	var names []string
	sum := 0
	for _, def := range r.Definitions() {
		names = append(names, def.Name)
		data, err := json.Marshal(def)
		if err != nil {
			t.Fatal(err)
		}
		sum += len(data)
		t.Logf("%5d of %3d %s", len(data), budgets[def.Name], def.Name)
		if len(data) > budgets[def.Name] {
			t.Errorf("%s has %d bytes, %d are its budget", def.Name, len(data), budgets[def.Name])
		}
	}
	const want = "run_shell read_file write_file edit_file apply_patch glob grep fetch_url web_search todo ask_user agent tool_search use_tool"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("tools = %s, want %s", got, want)
	}
	if t.Logf("%5d in all", sum); sum > 4_500 { // with the system prompt and the frame of a request 7,000
		t.Errorf("the definitions have %d bytes", sum)
	}
	for _, name := range Unlisted {
		if _, err := r.Lookup(name); err != nil {
			t.Errorf("%s can't be called: %v", name, err)
		}
	}
	for _, tool := range append(all, deferred.All()...) {
		validExample(t, r, tool.Definition())
	}
}

// Deferred tools are found by their purpose and can be called at once.
func TestToolsInNoRequestAreFound(t *testing.T) {
	all, _ := offered(t, "")
	r := tools.NewRegistry(all...).Without(Unlisted...)
	search, err := r.Lookup("tool_search")
	if err != nil {
		t.Fatal(err)
	}
	for query, name := range map[string]string{"time": "time", "date": "time", "pane keys": "send-keys"} {
		data, err := json.Marshal(map[string]string{"query": query})
		if err != nil {
			t.Fatal(err)
		}
		if got := search.Run(t.Context(), tools.Call{Name: "tool_search", Arguments: string(data)}).Content; !strings.Contains(got, `{"name":"`+name+`",`) {
			t.Errorf("%q finds %.300s", query, got)
		}
		if tool, err := r.Lookup(name); err != nil || tool.Definition().Name != name {
			t.Errorf("%s can't be called: %v", name, err)
		}
	}
}

// validExample checks that the example in a tool's description fits its schema and can be planned.
func validExample(t *testing.T, r *tools.Registry, def model.ToolDef) {
	t.Helper()
	var schema struct{ Required []string }
	if err := json.Unmarshal(def.Parameters, &schema); err != nil || slices.Contains(schema.Required, "why") {
		t.Errorf("%s demands a reason: %v", def.Name, err)
	}
	_, example, ok := strings.Cut(def.Description, "Example: ")
	var values map[string]any
	if !ok {
		return
	}
	if err := json.Unmarshal([]byte(example), &values); err != nil {
		t.Errorf("the example of %s: %q, %v", def.Name, example, err)
	}
	for name := range values {
		if !tools.HasArgument(def, name) {
			t.Errorf("the example of %s has %s, the schema has not", def.Name, name)
		}
	}
	tool, call, err := r.Resolve(tools.Call{Name: def.Name, Arguments: example})
	if err == nil {
		_, err = tool.Plan(call)
	}
	if errors.Is(err, tools.ErrArguments) || len(call.Notes) > 0 {
		t.Errorf("the example of %s: %v, %v", def.Name, err, call.Notes)
	}
}

// The definitions have target arguments only if there are several targets, and only for tools that work on one.
func TestOnlySeveralTargetsAreNamed(t *testing.T) {
	all, _ := offered(t, "")
	one := tools.NewRegistry(all...)
	for _, d := range one.Definitions() {
		if strings.Contains(string(d.Parameters), `"target`) {
			t.Errorf("%s takes a target though there is one only", d.Name)
		}
	}
	all, _ = offered(t, "", &target.Target{Name: "a"})
	several := tools.NewRegistry(all...)
	more := 0
	for i, d := range several.Definitions() {
		if !json.Valid(d.Parameters) {
			t.Errorf("%s: %s", d.Name, d.Parameters)
		}
		about := !slices.Contains([]string{"fetch_url", "web_search", "time", "todo", "ask_user", "agent", "tool_search", "use_tool"}, d.Name)
		if about != strings.Contains(string(d.Parameters), `"target":{`) || (d.Name == "run_shell") != strings.Contains(string(d.Parameters), `"targets":{`) {
			t.Errorf("%s: %s", d.Name, d.Parameters)
		}
		more += len(d.Parameters) - len(one.Definitions()[i].Parameters)
	}
	if more > 500 {
		t.Errorf("several targets cost %d bytes of each request", more)
	}
}

package words

import (
	"slices"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/tools/toolset"
)

// Every row of words belongs to a tool.
func TestWordsBelongToTools(t *testing.T) {
	known := map[string]bool{"diagnostics": true, "code": true, "mcp_resources": true, "mcp_read": true}
	for _, name := range toolset.Names() {
		known[name] = true
	}
	for name := range tools {
		if !known[name] {
			t.Errorf("words for %s, which is no tool", name)
		}
	}
}

func TestCallsInWords(t *testing.T) {
	for _, tt := range []struct {
		call Call
		want string
	}{
		{Call{Name: "run_shell", Arguments: `{"command":"x"}`, Action: action.Action{Command: "go test ./...\nmake"}}, "go test ./... …"},
		{Call{Name: "run_shell", Arguments: `{"comma`}, "a command"},
		{Call{Name: "read_file", Arguments: `{"path":"a"}`, Action: action.Action{Path: "/w/sub/a.go"}, Cwd: "/w"}, "read sub/a.go"},
		{Call{Name: "read_file", Arguments: `{"path":"a.go"}`}, "read a.go"},
		{Call{Name: "read_file", Action: action.Action{Path: "/wider/a.go"}, Cwd: "/w"}, "read /wider/a.go"},
		{Call{Name: "grep", Arguments: `{"pattern":"func Tax"}`, Action: action.Action{Path: "/w"}, Cwd: "/w"}, "search func Tax"},
		{Call{Name: "grep", Arguments: `{"pattern":"x"}`, Action: action.Action{Path: "/w/sub"}, Cwd: "/w"}, "search x in sub"},
		{Call{Name: "apply_patch", Action: action.Action{Path: "/w/a", Paths: []string{"/w/a", "/w/b", "/w/c"}}, Cwd: "/w"}, "edit a and 2 more files"},
		{Call{Name: "fetch_url", Arguments: `{"url":"https://go.dev"}`}, "fetch https://go.dev"},
		{Call{Name: "use_tool", Arguments: `{"name":"exit_plan","args":{}}`, Action: action.Action{Tool: "exit_plan"}}, "propose the plan"},
		{Call{Name: "use_tool", Arguments: `{"name":"task_kill","args":"{\"id\":4}"}`}, "stop task #4"},
		{Call{Name: "use_tool", Arguments: `{"name":"db__find","args":{"table":"users","limit":3}}`, Action: action.Action{Kind: action.MCP, Tool: "db__find", Op: "db: find"}}, "db: find table: users · limit: 3"},
		{Call{Name: "use_tool", Arguments: `{"name":"mcp__db__find"`}, "db: find (unreadable arguments)"},
		{Call{Name: "use_tool", Arguments: `{"name":"use_tool","args":{}}`}, "use a tool use_tool"},
		{Call{Name: "mcp__db__find", Arguments: `{"table":`}, "db: find (unreadable arguments)"},
		{Call{Name: "deploy", Arguments: `{"to":{"host":"web","port":1},"why":"now"}`}, "deploy to: host: web …"},
		{Call{Name: "deploy", Action: action.Action{Path: "/w/a"}, Cwd: "/w"}, "deploy a"},
		{Call{}, "a tool without a name"},
		{Call{Name: "todo", Arguments: `{"items":[{"text":"reproduce","state":"completed"},{"text":"all","state":"pending"},{"text":"fix","state":"in_progress"}]}`}, "plan 1/3 · fix"},
		{Call{Name: "send-keys", Arguments: `{"pane":"%3","literal_text":"quit","enter":true}`, Action: action.Action{Command: "quit"}}, "type quit into pane %3"},
		{Call{Name: "capture-pane", Arguments: `{}`}, "view the shell pane"},
		{Call{Name: "agent", Arguments: `{"type":"explore","title":"the\ntax code"}`}, "agent explore the tax code"},
	} {
		if got := tt.call.Line(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.call, got, tt.want)
		}
	}
}

func TestLooked(t *testing.T) {
	if got, want := Looked(3, 2, 1), "Read 3 files, searched twice, listed 1 folder"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Looked(1, 0, 0); got != "Read 1 file" {
		t.Errorf("%q", got)
	}
}

// The words of any arguments are one line of bounded length in lists.
func TestWordsAreOneLine(t *testing.T) {
	long := strings.Repeat("x ", 1<<20)
	got := Call{Name: "deploy", Arguments: `{"text":"` + long + `"}`}.Line()
	if len(got) > 300 || strings.Contains(got, "\n") {
		t.Errorf("%d bytes: %.300q", len(got), got)
	}
	if got := (Call{Name: "a\nb", Arguments: "{\"x\\ny\":\"1\\n2\"}"}).Line(); got != "a b x y: 1 …" {
		t.Errorf("%q", got)
	}
}

// A session's plan is called the plan, not by its path.
func TestPlanIsNotCalledByItsPath(t *testing.T) {
	for path, want := range map[string]string{
		"/w/.buddyx/sessions/d841-0963-dcfb-a193/plan.md": "write the plan",
		"/w/docs/plan.md": "write docs/plan.md",
	} {
		c := Call{Name: "write_file", Action: action.Action{Kind: action.FileWrite, Path: path}, Cwd: "/w"}
		if got := c.Line(); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// The details say that /undo does not cover a command on another machine.
func TestUndoOfCommandsElsewhere(t *testing.T) {
	for target, want := range map[string]string{"local": "buddy doesn't know how to undo it.", "root@web-02 (ssh)": "/undo can't take it back: it runs on root@web-02 (ssh)."} {
		a := event.ApprovalAsked{Action: action.Action{Kind: action.Shell, Command: "make", Target: target}, Context: action.ApprovalContext{Risk: action.Medium, Production: true}}
		if got := Details(a); !slices.Contains(got, want) {
			t.Errorf("on %s: %q", target, got)
		}
	}
}

package acp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/agent/model/modeltest"
	"buddy/app/compose"
)

// helper is an MCP server on stdin and stdout: its tool env answers with a variable of its environment.
func helper() {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(in.Bytes(), &m)
		if m.ID == nil {
			continue
		}
		answer := `"error":{"code":-32601,"message":"unknown"}`
		switch m.Method {
		case "initialize":
			answer = `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"helper","version":"1"}}`
		case "tools/list":
			answer = `"result":{"tools":[{"name":"env","inputSchema":{"type":"object"}}]}`
		case "tools/call":
			text, _ := json.Marshal("it is " + os.Getenv("HELPER") + " " + strings.Join(os.Args[2:], " "))
			answer = fmt.Sprintf(`"result":{"content":[{"type":"text","text":%s}]}`, text)
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, answer)
	}
}

// A server of the editor runs for its session with its arguments and variables. Its calls need approval, its secrets do
// not reach the model, and neither the session's file nor other screens have its definition.
func TestServersOfTheEditor(t *testing.T) {
	dir := home(t)
	options := scripted(t,
		modeltest.Answer{modeltest.Call{ID: "a", Name: "use_tool", Arguments: `{"name":"mcp__My-helper__env","args":{}}`}},
		modeltest.Answer{modeltest.Text("Done.")}, modeltest.Answer{modeltest.Text("title")},
	)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := connect(t, options)
	e.respond = func(string, string) any { return allow(string(event.Once)) }
	id, _ := e.must("session/new", map[string]any{"cwd": dir, "mcpServers": []any{map[string]any{
		"name": "My helper", "command": exe, "args": []string{"mcp", "with args"}, "env": []any{map[string]string{"name": "HELPER", "value": "open"}, map[string]string{"name": "HELPER_TOKEN", "value": "opensesame"}},
	}}})["sessionId"].(string)
	if reason := e.prompt(id, textOf("go")); reason != "end_turn" {
		t.Errorf("stopped with %q", reason)
	}
	if got := strings.Join(e.of("tool_call_update"), "\n"); !strings.Contains(got, "it is open with args") {
		t.Errorf("the call got %s", got)
	}
	if len(e.asked) != 1 {
		t.Errorf("asked %v, want one approval", e.asked)
	}
	if text, err := os.ReadFile(fileOfSession(t, id)); err != nil || strings.Contains(string(text), "opensesame") {
		t.Errorf("the session has the server's variables: %v", err)
	}
	again := e.expect("keeps its MCP servers")
	e.must("session/load", map[string]any{"sessionId": id, "cwd": dir, "mcpServers": []any{map[string]any{"name": "x", "command": "x"}}})
	again()
}

// What can't be a server is refused with its name.
func TestServersOfAllTypes(t *testing.T) {
	all, err := serversOf([]mcpServer{
		{Name: "a b", Command: "x", Args: []string{"-y"}, Env: []nameValue{{"A", "1"}}},
		{Name: "__c__d", Type: "http", URL: "https://x", Headers: []nameValue{{"Authorization", "Bearer t"}}},
		{Name: strings.Repeat("e", 50), Type: "sse", URL: "https://y"},
	})
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	a, c, e := all[0], all[1], all[2]
	if a.Name != "a-b" || !reflect.DeepEqual(a.Command, []string{"x", "-y"}) || !reflect.DeepEqual(a.Env, []string{"A=1"}) || !a.Enabled || a.Trust {
		t.Errorf("%+v", a)
	}
	if c.Name != "c-d" || c.Type != "http" || c.URL != "https://x" || !reflect.DeepEqual(c.Headers, []string{"Authorization: Bearer t"}) {
		t.Errorf("%+v", c)
	}
	if len(e.Name) != maxServerName || e.Type != "sse" {
		t.Errorf("%+v", e)
	}
	for want, bad := range map[string][]mcpServer{
		`"日本"`:                               {{Name: "日本", Command: "x"}},
		`two servers are named "x"`:          {{Name: "x", Command: "x"}, {Name: "x", Command: "y"}},
		`the type "ws"`:                      {{Name: "x", Type: "ws", URL: "ws://x"}},
		"x: command names no program":        {{Name: "x", URL: "https://x"}},
		"y: has neither command nor url":     {{Name: "y", Type: "http", Command: "x"}},
		"z: headers: Host can't be set here": {{Name: "z", Type: "http", URL: "https://z", Headers: []nameValue{{"Host", "y"}}}},
		"v: env has an entry":                {{Name: "v", Command: "x", Env: []nameValue{{"B C", "y"}}}},
	} {
		if _, err := serversOf(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", bad, err, want)
		}
	}
}

// Each new session gets a worktree of its own, is listed for the folder of the repository, and is loaded where it works.
func TestWorktree(t *testing.T) {
	dir := home(t)
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	e := connect(t, &compose.Options{Model: "demo", Place: compose.Place{Worktree: compose.MadeUp}})
	e.respond = func(string, string) any { return allow(string(event.Once)) }
	said := e.expect("making the worktree")
	id := e.begin(dir)
	said()
	e.prompt(id, textOf("write one to a.txt"))
	if _, err := os.Lstat(filepath.Join(dir, "a.txt")); err == nil {
		t.Error("the session worked in the main checkout")
	}
	list, _ := e.must("session/list", map[string]any{"cwd": dir})["sessions"].([]any)
	if len(list) != 1 {
		t.Fatalf("%d sessions are listed", len(list))
	}
	tree, _ := list[0].(map[string]any)["cwd"].(string)
	if text, err := os.ReadFile(filepath.Join(tree, "a.txt")); !strings.Contains(string(text), "one") {
		t.Errorf("the worktree %s has %q, %v", tree, text, err)
	}
	e.must("session/close", map[string]any{"sessionId": id})
	e.must("session/load", map[string]any{"sessionId": id, "cwd": dir, "mcpServers": []any{}})
	e.prompt(id, textOf("write two to b.txt"))
	if _, err := os.Lstat(filepath.Join(tree, "b.txt")); err != nil {
		t.Errorf("the loaded session works elsewhere: %v", err)
	}
	unchanged := e.begin(dir)
	e.prompt(unchanged, textOf("explain yourself"))
	e.must("session/close", map[string]any{"sessionId": unchanged}) // which removes its worktree
	if list, _ := e.must("session/list", map[string]any{"cwd": dir})["sessions"].([]any); len(list) != 2 {
		t.Errorf("%d sessions are listed after the end of a worktree", len(list))
	}
	if _, err := e.call("session/new", map[string]any{"cwd": t.TempDir(), "mcpServers": []any{}}); err == nil || !strings.Contains(err.Error(), "git") {
		t.Errorf("outside of a repository: %v", err)
	}
}

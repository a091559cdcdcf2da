package compose

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/policy"
	"buddy/agent/redact"
	"buddy/app/project"
	"buddy/config"
	"buddy/features/mcp"
	"buddy/tools"
	"buddy/tools/file"
)

// sentTo returns the risk of a server call with these arguments.
func sentTo(t *testing.T, arguments string) action.Risk {
	t.Helper()
	server := config.NewMCPServer("a")
	server.URL = "https://a.example"
	p := &Program{Setup: Setup{Config: config.Config{MCP: []config.MCPServer{server}}, Target: "elsewhere"}}
	deferred := tools.NewDeferred()
	servers, err := p.newServers(deferred, redact.New("a value of the settings"))
	if err != nil {
		t.Fatal(err)
	}
	defer servers.Close()
	act, err := tools.NewUseTool(deferred).Plan(tools.Call{ID: "1", Name: "use_tool", Arguments: `{"name":"mcp__a__send","args":` + arguments + `}`})
	if err != nil || !strings.Contains(act.Preview, "seems to contain a secret") != (act.Risk != action.High) {
		t.Errorf("%s: %+v, %v", arguments, act, err)
	}
	return act.Risk
}

// A secret sent to a server raises the risk, whether it is in the settings or looks like one.
func TestSecretsInArgumentsOfServers(t *testing.T) {
	for _, arguments := range []string{
		`{"text":"it is a value of the settings."}`, `{"text":"a value of the set\u0074ings"}`, `{"deep":[{"x":"ghp_0123456789abcdefghijABCDEFGHIJ012345"}]}`,
		`{"text":"-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1234567890abcdefghijklmnop\n-----END RSA PRIVATE KEY-----"}`, `{"url":"https://ann:hunter2secret@example.com/"}`,
		`{"password":"hunter2-Very-Secret9"}`, `{"header":"Authorization: Bearer abcdefghijklmnop0123456789"}`,
	} {
		if risk := sentTo(t, arguments); risk != action.High {
			t.Errorf("%s: %s", arguments, risk)
		}
	}
	for _, arguments := range []string{`{}`, `{"text":"the settings have values"}`, `{"path":"/srv/docs/token.go","n":12345678901234567890}`} {
		if risk := sentTo(t, arguments); risk == action.High {
			t.Errorf("%s: %s", arguments, risk)
		}
	}
}

// The record of approved tools is among the files that no mode and no rule for other files lets a model change.
func TestPinsAreBuddysOwn(t *testing.T) {
	p := &Program{Setup: Setup{Config: config.Config{}}}
	pins := filepath.Join(mcpState(), "mcp.json")
	judge := policy.Policy{Workspace: "/", Home: "/home/ann", Own: p.own()}
	for _, a := range []action.Action{
		{Kind: action.FileWrite, Tool: "write_file", Path: pins},
		{Kind: action.FileDelete, Tool: "apply_patch", Path: pins},
		{Kind: action.Shell, Tool: "run_shell", Command: "echo {} > '" + pins + "'", Cwd: "/"},
		{Kind: action.Shell, Tool: "run_shell", Command: "rm -r '" + filepath.Dir(pins) + "'", Cwd: "/"},
		{Kind: action.MCP, Tool: "mcp__files__write_file", Preview: `{"path": "` + pins + `"}`},
	} {
		if v := judge.Judge(a, action.ModeAll); v.Decision != action.Ask || v.Rule != action.OwnKeys {
			t.Errorf("%s %s%s%s: %s because %q", a.Tool, a.Path, a.Command, a.Preview, v.Decision, v.Reason)
		}
	}
}

// The servers of a project on another target are listed with the reason why they do not run, and errors in the
// project's file are reported.
func TestServersOfAProjectElsewhere(t *testing.T) {
	dir := t.TempDir()
	there, err := file.NewWorkspace(dir, policy.Secret)
	if err != nil {
		t.Fatal(err)
	}
	mine := config.NewMCPServer("mine")
	mine.Command, mine.Enabled = []string{"x"}, false
	p := &Program{Setup: Setup{Config: config.Config{MCP: []config.MCPServer{mine}}, Target: "web-02"}, files: project.NewExtensions(there, false)}
	if p.Servers, err = p.newServers(tools.NewDeferred(), nil); err != nil {
		t.Fatal(err)
	}
	defer p.Servers.Close()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, ".mcp.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	statuses := func() ([]mcp.Status, error) {
		there, err := p.serversElsewhere()
		return append(p.Servers.List(), there...), err
	}
	if all, err := statuses(); err != nil || len(all) != 1 || all[0].Name != "mine" || all[0].Barred {
		t.Errorf("without a file: %+v, %v", all, err)
	}
	write(`{"mcpServers": {"db": {"command": "touch", "args": ["` + dir + `/ran", "${TOKEN}"]}, "docs": {"url": "https://docs.example"}}}`)
	all, err := statuses()
	if err != nil || len(all) != 3 {
		t.Fatalf("%+v, %v", all, err)
	}
	for i, name := range []string{"mine", "db", "docs"} {
		if s := all[i]; s.Name != name || i > 0 && (s.State != mcp.Off || !s.Barred || s.Error != "not run: the project is on web-02") {
			t.Errorf("%+v", s)
		}
	}
	if where := all[1].Where; !strings.Contains(where, "touch "+dir+"/ran ${TOKEN}") {
		t.Errorf("%q", where)
	}
	if err := p.Servers.Switch("db", true); err == nil {
		t.Error("one was switched on")
	}
	write(`{"mcpServers": [1]}`)
	if all, err := statuses(); err == nil || !strings.Contains(err.Error(), "on web-02") || len(all) != 1 {
		t.Errorf("a damaged file: %+v, %v", all, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("it ran here")
	}
}

// A server of the settings has priority over an editor's with the same name, and the credentials of an editor's server
// are secrets.
func TestServersOfAnEditor(t *testing.T) {
	server := func(name, command string) config.MCPServer {
		s := config.NewMCPServer(name)
		if command != "" {
			s.Command = []string{command}
		}
		return s
	}
	project := server("project", "")
	project.Outside = true
	own := server("own", "mine")
	sent := server("new", "theirs")
	sent.Env, sent.Headers = []string{"API_KEY=opensesame"}, []string{"Authorization: Bearer closesesame", "Accept: everything"}
	c := config.Config{MCP: []config.MCPServer{own, project}}
	addServers(&c, []config.MCPServer{server("own", "theirs"), server("project", "theirs"), sent})
	if len(c.MCP) != 3 || c.MCP[0].Command[0] != "mine" || c.MCP[2].Command[0] != "theirs" {
		t.Errorf("%+v", c.MCP)
	}
	if got := c.MCP[1]; got.Command[0] != "theirs" || got.Outside {
		t.Errorf("%+v", got)
	}
	p := &Program{Setup: Setup{Config: c}}
	if got := p.serverSecrets(); !slices.Contains(got, "opensesame") || !slices.Contains(got, "closesesame") || slices.Contains(got, "everything") {
		t.Errorf("secrets %q", got)
	}
}

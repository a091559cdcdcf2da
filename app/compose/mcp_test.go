package compose

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/policy"
	"buddy/agent/redact"
	"buddy/config"
	"buddy/extensions/mcp"
	"buddy/tools"
	"buddy/tools/file"
)

func TestVariablesOfServers(t *testing.T) {
	lookup := func(name string) (string, bool) {
		value, ok := map[string]string{"A": "a", "EMPTY": ""}[name]
		return value, ok
	}
	for _, tt := range []struct{ text, want, missing string }{
		{"x", "x", ""},
		{"${A}/${A}", "a/a", ""},
		{"${B:-b c}", "b c", ""},
		{"${A:-b}", "a", ""},
		{"${EMPTY:-b}", "b", ""},
		{"${EMPTY}", "", ""},
		{"${B}", "", "B"},
		{"${B:-}", "", ""},
		{"$A ${a b} $${A}", "$A ${a b} $a", ""},
		{"${A}${B}${C}", "a", "B C"},
	} {
		got, missing := fillVariables(tt.text, lookup)
		if got != tt.want || strings.Join(missing, " ") != tt.missing {
			t.Errorf("%q = %q, missing %q; want %q, missing %q", tt.text, got, missing, tt.want, tt.missing)
		}
	}
}

func TestEntriesOfOtherPrograms(t *testing.T) {
	lookup := func(name string) (string, bool) { return "t0ken", name == "TOKEN" }
	full := serverEntry{
		Command: "npx", Args: []string{"-y", "${TOKEN}"}, Env: map[string]string{"B": "b", "A": "${TOKEN}"}, Timeout: 1500, AlwaysLoad: true,
	}.server(lookup)
	if full.Transport != mcp.Stdio || strings.Join(full.Process.Command, " ") != "npx -y t0ken" || !slices.Equal(full.Process.Env, []string{"A=t0ken", "B=b"}) ||
		full.Timeout != 1500*time.Millisecond || !full.Always || full.Problem != "" {
		t.Errorf("%+v", full)
	}
	remote := serverEntry{URL: "https://x/${TOKEN}", Headers: map[string]string{"Authorization": "Bearer ${TOKEN}"}}.server(lookup)
	if remote.Transport != mcp.HTTP || remote.Endpoint.URL != "https://x/t0ken" || remote.Endpoint.Headers[0] != "Authorization: Bearer t0ken" {
		t.Errorf("%+v", remote)
	}
	for _, tt := range []struct {
		entry serverEntry
		want  string
	}{
		{serverEntry{URL: "http://x", HeadersHelper: "x"}, "headersHelper"},
		{serverEntry{URL: "ws://x", Type: "ws"}, `type "ws" is not supported`},
		{serverEntry{}, "it has neither command nor url"},
		{serverEntry{Type: "sse"}, "it has no url"},
		{serverEntry{Command: "x", Env: map[string]string{"A": "${NONE}"}}, "the variable NONE is not set"},
	} {
		if got := tt.entry.server(lookup).Problem; !strings.Contains(got, tt.want) {
			t.Errorf("%+v: %q, want %q", tt.entry, got, tt.want)
		}
	}
}

func TestImportedServers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "other.json")
	text := `{"mcpServers": {
		"gh": {"command": "gh-mcp", "args": ["-v"], "env": {"TOKEN": "${TOKEN}", "A": "b"}, "timeout": 20000},
		"docs": {"url": "https://x.example/mcp", "headers": {"Authorization": "Bearer ${DOCS}", "X-Team": "a"}},
		"dynamic": {"command": "${HOME}/x"}, "a b": {"command": "x"}, "none": {}}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := ServersIn(file)
	if err != nil {
		t.Fatal(err)
	}
	find := func(name string) ImportedServer {
		return all[slices.IndexFunc(all, func(i ImportedServer) bool { return i.Server.Name == name })]
	}
	if gh := find("gh"); gh.Problem != "" || gh.Server.Timeout != 20*time.Second || !slices.Equal(gh.Server.PassEnv, []string{"TOKEN"}) || !slices.Equal(gh.Server.Env, []string{"A=b"}) {
		t.Errorf("%+v", gh)
	}
	if docs := find("docs"); docs.Problem != "" || docs.Server.Bearer != "DOCS" || !slices.Equal(docs.Server.Headers, []string{"X-Team: a"}) {
		t.Errorf("%+v", docs)
	}
	for name, want := range map[string]string{"dynamic": "uses a variable", "a b": "not a name for a server", "none": "neither command nor url"} {
		if got := find(name).Problem; !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if _, err := ServersIn(file + "x"); err == nil {
		t.Error("a file that is not there was read")
	}
}

func TestServersOfThePerson(t *testing.T) {
	t.Setenv("MCP_TEST_TOKEN", "t0ken")
	c := config.NewMCPServer("a")
	c.Command, c.Env, c.PassEnv, c.Trust, c.Timeout = []string{"x"}, []string{"A=b"}, []string{"MCP_TEST_TOKEN", "MCP_TEST_UNSET"}, true, 20*time.Second
	if s := personServer(c); s.Transport != mcp.Stdio || !slices.Equal(s.Process.Env, []string{"A=b", "MCP_TEST_TOKEN=t0ken"}) || !s.Hints || s.Project || s.Timeout != 20*time.Second || s.Problem != "" {
		t.Errorf("%+v", s)
	}
	c = config.NewMCPServer("b")
	c.URL, c.Bearer, c.Enabled = "https://x", "MCP_TEST_TOKEN", false
	if s := personServer(c); s.Transport != mcp.HTTP || !slices.Equal(s.Endpoint.Headers, []string{"Authorization: Bearer t0ken"}) || !s.Off {
		t.Errorf("%+v", s)
	}
	c.Bearer = "MCP_TEST_UNSET"
	if s := personServer(c); s.Problem != "the variable MCP_TEST_UNSET (bearer_env) is not set" {
		t.Errorf("%+v", s)
	}
}

// The settings in docs/extensions.md are what it says.
func TestServersOfTheManual(t *testing.T) {
	page, err := os.ReadFile("../../docs/extensions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## MCP servers\n")
	_, example, _ := strings.Cut(section, "```toml\n")
	example, _, ok := strings.Cut(example, "```")
	if !ok {
		t.Fatal("there is no example")
	}
	file := filepath.Join(t.TempDir(), "buddy.toml")
	if err := os.WriteFile(file, []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, _, err := LoadConfig(&Options{Config: file})
	if err != nil {
		t.Fatal(err)
	}
	s := Setup{Config: c, Target: "elsewhere"}
	all, err := s.MCPServers()
	if err != nil || len(all) != 2 || all[0].Name != "notes" || all[0].Transport != mcp.Stdio || all[1].Transport != mcp.HTTP || !strings.Contains(all[1].Problem, "DOCS_TOKEN") {
		t.Errorf("%+v, %v", all, err)
	}
}

// sentTo returns how risky a call of a server that starts is with these arguments.
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
	if err != nil || !strings.Contains(act.Preview, "looks like a secret") != (act.Risk != action.High) {
		t.Errorf("%s: %+v, %v", arguments, act, err)
	}
	return act.Risk
}

// A secret that is sent to a server is pointed out, whether it is one of the settings or has the
// form of one.
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

// What is noted of approved tools lies among the files that no mode and no rule for other files
// lets a model change.
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

// The servers of a project on another target are listed with the reason why they do not run, and
// whatever is wrong with its file is said.
func TestServersOfAProjectElsewhere(t *testing.T) {
	dir := t.TempDir()
	there, err := file.NewWorkspace(dir, policy.Secret)
	if err != nil {
		t.Fatal(err)
	}
	mine := config.NewMCPServer("mine")
	mine.Command, mine.Enabled = []string{"x"}, false
	p := &Program{Setup: Setup{Config: config.Config{MCP: []config.MCPServer{mine}}, Target: "web-02"}, files: newExtensionFiles(there, false)}
	if p.Servers, err = p.newServers(tools.NewDeferred(), nil); err != nil {
		t.Fatal(err)
	}
	defer p.Servers.Close()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, ".mcp.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := p.MCPStatuses(); err != nil || len(all) != 1 || all[0].Name != "mine" || all[0].Barred {
		t.Errorf("without a file: %+v, %v", all, err)
	}
	write(`{"mcpServers": {"db": {"command": "touch", "args": ["` + dir + `/ran", "${TOKEN}"]}, "docs": {"url": "https://docs.example"}}}`)
	all, err := p.MCPStatuses()
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
	if all, err := p.MCPStatuses(); err == nil || !strings.Contains(err.Error(), "on web-02") || len(all) != 1 {
		t.Errorf("a damaged file: %+v, %v", all, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("it ran here")
	}
}

// An entry of a file of any program that switches a server off or limits its tools does so, and one whose limits are not
// understood starts nothing.
func TestLimitsOfServersInEveryForm(t *testing.T) {
	for text, want := range map[string]string{
		`"x": 1`:                                   "on",
		`"disabled": true`:                         "off",
		`"disabled": false`:                        "on",
		`"Disabled": "true"`:                       "off",
		`"enabled": false`:                         "off",
		`"enabled": true`:                          "on",
		`"enabled": true, "disabled": true`:        "off",
		`"enabled": "sometimes"`:                   "enabled: it is neither true nor false",
		`"disabled": null`:                         "disabled: it is neither true nor false",
		`"tools": ["*"]`:                           "on tools *",
		`"includeTools": ["read_*"]`:               "on tools read_*",
		`"enabled_tools": ["a", "b"]`:              "on tools a b",
		`"tools": []`:                              "on deny *",
		`"excludeTools": ["rm"]`:                   "on deny rm",
		`"disabled_tools": ["rm"], "deny": ["x*"]`: "on deny x* rm",
		`"disabledTools": "rm"`:                    "disabledTools: it is not a list of tools",
		`"tools": {"rm": false}`:                   "tools: it is not a list of tools",
		`"tools": ["a"], "includeTools": ["b"]`:    "tools: the tools are listed twice",
		`"readOnly": true`:                         "readOnly: it looks like a limit",
		`"disabled": true, "disabled": false`:      "disabled is in it twice",
		`"toolFilter": {"mode": "allow"}`:          "toolFilter: it looks like a limit",
		`"alwaysAllow": ["a"], "autoApprove": ["b"], "trust": true`: "on",
	} {
		var e serverEntry
		if err := json.Unmarshal([]byte(`{"command": "x", `+text+`}`), &e); err != nil {
			t.Fatal(text, err)
		}
		s := e.server(func(string) (string, bool) { return "", false })
		got := map[bool]string{false: "on", true: "off"}[s.Off]
		if len(s.Tools) > 0 {
			got += " tools " + strings.Join(s.Tools, " ")
		}
		if len(s.Deny) > 0 {
			got += " deny " + strings.Join(s.Deny, " ")
		}
		if s.Problem != "" {
			got = s.Problem
			if !strings.HasSuffix(got, NotUnderstood) {
				t.Errorf("%s: %s", text, got)
			}
		}
		if got != want && (s.Problem == "" || !strings.HasPrefix(got, want)) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		i := e.imported("x")
		if i.Problem != s.Problem || i.Problem == "" && (i.Server.Enabled == s.Off || !slices.Equal(i.Server.Tools, s.Tools) || !slices.Equal(i.Server.Deny, s.Deny)) {
			t.Errorf("%s: imported as %+v", text, i)
		}
	}
}

package project

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"buddy/config"
	"buddy/features/mcp"
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

// The settings in docs/extensions.md have the described effect.
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
	c, _, _, err := config.Load(config.Options{Config: file})
	if err != nil {
		t.Fatal(err)
	}
	s := Source{Config: c, Away: "elsewhere"}
	all, err := s.Servers()
	if err != nil || len(all) != 2 || all[0].Name != "notes" || all[0].Transport != mcp.Stdio || all[1].Transport != mcp.HTTP || !strings.Contains(all[1].Problem, "DOCS_TOKEN") {
		t.Errorf("%+v, %v", all, err)
	}
}

// An entry of any program's file that switches a server off or limits its tools does so, and one with unknown limits
// starts nothing.
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
		`"disabled": true, "disabled": false`:      "disabled is listed twice",
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

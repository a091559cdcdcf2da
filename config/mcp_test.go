package config

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestMCPServers(t *testing.T) {
	h := newHome(t)
	write(t, h.user, `[mcp.files]
command = ["npx", "-y", "files", "/srv"]
env = ["LEVEL=info"]
pass_env = ["TOKEN"]
trust_hints = true
deny = ["write*"]
timeout = 30
[mcp.docs]
url = "https://docs.example/mcp/"
headers = ["X-Team: shop"]
bearer_env = "DOCS_TOKEN"
enabled = false
`)
	c, index, _ := load(t, Options{})
	files, ok := c.MCPServer("files")
	if !ok || strings.Join(files.Command, " ") != "npx -y files /srv" || !files.Enabled || !files.Trust || files.Timeout != 30*time.Second || files.StartTimeout != time.Minute || files.Idle != 5*time.Minute {
		t.Errorf("files = %+v", files)
	}
	docs, ok := c.MCPServer("docs")
	if !ok || docs.URL != "https://docs.example/mcp" || docs.Enabled || docs.Bearer != "DOCS_TOKEN" {
		t.Errorf("docs = %+v", docs)
	}
	if got := index[Path("mcp", "docs", "url")]; got != h.user+":9" {
		t.Errorf("mcp.docs.url is at %q", got)
	}
}

func TestWrongMCPServers(t *testing.T) {
	h := newHome(t)
	for text, want := range map[string]string{
		"[mcp.a]\nenabled = true\n":                                        "mcp.a: has neither command nor url",
		"[mcp.a]\ncommand = [\"x\"]\nurl = \"http://x\"\n":                 "mcp.a: has both command and url",
		"[mcp.a]\ncommand = [\"x\"]\ntype = \"sse\"\n":                     "its type is not sse",
		"[mcp.a]\nurl = \"http://x\"\ntype = \"stdio\"\n":                  "its type is not stdio",
		"[mcp.a]\ncommand = [\"\"]\n":                                      "command names no program",
		"[mcp.a]\ncommand = [\"x\"]\nheaders = [\"A: b\"]\n":               "headers and bearer_env need a url",
		"[mcp.a]\nurl = \"http://x\"\nenv = [\"A=b\"]\n":                   "env, pass_env and cwd need a command",
		"[mcp.a__b]\ncommand = [\"x\"]\n":                                  "two underscores in a row",
		"[mcp.\"a b\"]\ncommand = [\"x\"]\n":                               `"a b" is not a name for a server`,
		"[mcp.a]\ncommand = [\"x\"]\nenv = [\"sk-secret\"]\n":              "is not NAME=value",
		"[mcp.a]\nurl = \"http://x\"\nheaders = [\"Mcp-Session-Id: 1\"]\n": "the protocol sets it",
		"[mcp.a]\nurl = \"ftp://x\"\n":                                     "has no http or https scheme",
		"[mcp.a]\ncommand = \"x\"\n":                                       "must be an array of strings",
	} {
		write(t, h.user, text)
		_, _, _, err := Load(Options{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestProjectSettingsDefineNoMCPServers(t *testing.T) {
	h := newHome(t)
	write(t, h.project, "[mcp.evil]\ncommand = [\"sh\", \"-c\", \"x\"]\n")
	dir, err := ResolveDir(".")
	if err != nil {
		t.Fatal(err)
	}
	print, err := Fingerprint(dir)
	if err != nil {
		t.Fatal(err)
	}
	store := NewTrustStore(t.TempDir())
	if err := store.Trust(dir, print); err != nil {
		t.Fatal(err)
	}
	c, _, notices := load(t, Options{Trust: &store})
	if len(c.MCP) != 0 || !c.Project.Trusted || !strings.Contains(strings.Join(notices, "\n"), "a project's file may not set them: mcp.evil.command") {
		t.Errorf("%+v, %q", c.MCP, notices)
	}
}

func TestAddAndRemoveMCPServer(t *testing.T) {
	h := newHome(t)
	before := "# mine\n[ui]\ntheme = \"light\"\n"
	write(t, h.user, before)
	s := NewMCPServer("files")
	s.Command, s.Env, s.Timeout, s.Trust = []string{"npx", "[x]", "a b"}, []string{"A=b"}, 20*time.Second, true
	if err := AddMCPServer(h.user, s); err != nil {
		t.Fatal(err)
	}
	c, _, _ := load(t, Options{})
	if got, _ := c.MCPServer("files"); strings.Join(got.Command, "|") != "npx|[x]|a b" || got.Timeout != 20*time.Second || !got.Trust || got.Env[0] != "A=b" {
		t.Errorf("read again: %+v", got)
	}
	if err := AddMCPServer(h.user, s); err == nil || !strings.Contains(err.Error(), `there is a server "files" already`) {
		t.Errorf("added twice: %v", err)
	}
	if found, err := RemoveMCPServer(h.user, "none"); found || err != nil {
		t.Errorf("removed what is not there: %v, %v", found, err)
	}
	if found, err := RemoveMCPServer(h.user, "files"); !found || err != nil {
		t.Errorf("removed: %v, %v", found, err)
	}
	if after, err := os.ReadFile(h.user); err != nil || strings.TrimSpace(string(after)) != strings.TrimSpace(before) {
		t.Errorf("the file is %q, %v", after, err)
	}
}

package compose

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"

	"buddy/agent/conversation"
	"buddy/agent/redact"
	"buddy/agent/reminder"
	"buddy/agent/turn"
	"buddy/app/slash"
	"buddy/app/version"
	"buddy/config"
	"buddy/extensions/mcp"
	"buddy/texts/proxies"
	"buddy/texts/searchpath"
	"buddy/tools"
	"buddy/tools/web"
)

// mcpState is the folder in which it is noted what servers do and what they were.
func mcpState() string { return filepath.Join(xdg.StateHome, "buddy", "mcp") }

// newServers returns the MCP servers of the session, not started. Without any nothing is read
// but the settings and the project's .mcp.json.
func (p *Program) newServers(deferred *tools.Deferred, secret *redact.Redactor) (*mcp.Servers, error) {
	all, err := p.MCPServers()
	if err != nil {
		return nil, err
	}
	return mcp.New(mcp.Options{
		Servers: all, Deferred: deferred, State: mcpState(), Version: version.Number, Publish: p.Live.Publish,
		HTTP:   serverClient(all),
		Secret: func(arguments string) bool { return secret.Text(arguments) != arguments },
		Open:   openBrowser, Login: serverLogin,
		Checked: starter{p}.checkedServer, Hold: starter{p}.holdServer, Env: starter{p}.startEnv(),
	}), nil
}

// serverClient returns what reaches servers at URLs: public addresses, and the hosts that the
// person configured or trusted.
func serverClient(all []mcp.Server) *http.Client {
	guarded := web.NewClient(web.Options{Proxy: proxies.FromEnvironment()})
	return &http.Client{Transport: guarded.Transport(localServers(all)...)}
}

// listings returns what the model is told of besides skills.
func listings(servers *mcp.Servers) []turn.Listing {
	return []turn.Listing{func() conversation.Listing {
		list := conversation.Listing{Kind: reminder.MCP, Head: mcp.ListingHead}
		for _, line := range servers.Listing() {
			list.Items = append(list.Items, conversation.ListingItem{Name: line.Server, Line: line.Text})
		}
		return list
	}}
}

// resources returns what reads the resources that prompts name, nil without a server.
func resources(servers *mcp.Servers) turn.Resources {
	if len(servers.List()) == 0 {
		return nil
	}
	return servers.Attach
}

// MCPServers returns the servers of the person's settings and of the project, the person's first.
// Those of a project that is not on this machine are left out.
func (s *Setup) MCPServers() ([]mcp.Server, error) {
	var all []mcp.Server
	for _, c := range s.Config.MCP {
		if len(c.Command) > 0 || c.URL != "" { // else it is about one of the project
			all = append(all, personServer(c))
		}
	}
	plugins, err := s.serversOfPlugins()
	if err != nil {
		return nil, err
	}
	all = append(all, plugins...)
	if s.Target != slash.ThisMachine {
		return all, nil
	}
	checks, _, err := s.checkParts()
	if err != nil {
		return nil, err
	}
	for _, c := range checks {
		if c.Kind != "mcp" {
			continue
		}
		one := projectServer(c)
		set, _ := s.Config.MCPServer(one.Name)
		one.Outside = set.Outside
		one.Held = one.Transport == mcp.Stdio && !one.Outside
		if slices.ContainsFunc(all, func(other mcp.Server) bool { return other.Name == one.Name }) {
			one.Problem = "another server of this name comes first"
			one.Name = "project:" + one.Name
		}
		all = append(all, one)
	}
	return all, nil
}

// personServer returns a server of the person's settings.
func personServer(c config.MCPServer) mcp.Server {
	s := mcp.Server{
		Name: c.Name, Transport: transportOf(c.Type, c.URL), Hints: c.Trust, Always: c.Always, Legacy: c.Era == "legacy", Off: !c.Enabled,
		Process:  mcp.Process{Command: c.Command, Env: slices.Clone(c.Env), Dir: c.Cwd},
		Endpoint: mcp.Endpoint{URL: c.URL, Headers: slices.Clone(c.Headers), Login: mcp.Login{ClientID: c.OAuth.ClientID, Port: c.OAuth.Port, Scopes: c.OAuth.Scopes}},
		Tools:    c.Tools, Deny: c.Deny, MCPTimes: c.MCPTimes,
	}
	for _, name := range c.PassEnv {
		if value, ok := os.LookupEnv(name); ok {
			s.Process.Env = append(s.Process.Env, name+"="+value)
		}
	}
	if c.OAuth.SecretEnv != "" {
		s.Endpoint.Login.Secret = os.Getenv(c.OAuth.SecretEnv) // without it the login fails and says so
	}
	if c.Bearer != "" {
		token := os.Getenv(c.Bearer)
		if token == "" {
			s.Problem = fmt.Sprintf("the variable %s (bearer_env) is not set", c.Bearer)
		}
		s.Endpoint.Headers = append(s.Endpoint.Headers, "Authorization: Bearer "+token)
		s.Endpoint.Variables = append(s.Endpoint.Variables, c.Bearer+" (bearer_env)")
	}
	return s
}

// transportOf returns how a server is talked to, of what its definition says.
func transportOf(kind, url string) mcp.Transport {
	if kind == "" && url != "" {
		kind = string(mcp.HTTP)
	}
	return mcp.Transport(cmp.Or(kind, string(mcp.Stdio)))
}

// trustFirst ends the problem of a server that waits for the person's trust.
const trustFirst = "(/trust, or: buddy trust)"

// projectServer returns a server of a project's .mcp.json. One that is not trusted, or can't be
// used, has a problem.
func projectServer(c PartCheck) mcp.Server {
	var e serverEntry
	var s mcp.Server
	if err := json.NewDecoder(bytes.NewReader([]byte(c.Definition))).Decode(&e); err != nil {
		s = mcp.Server{Transport: mcp.Stdio, Problem: jsonReason(err)}
	} else {
		s = e.server(os.LookupEnv)
	}
	s.Name, s.Project, s.Process.Dir = c.Name, true, c.Dir
	switch {
	case c.State.Err != nil:
		s.Problem = c.State.Err.Error()
	case c.State.Changed:
		s.Problem = "it changed since you trusted it " + trustFirst
	case !c.State.Trusted:
		s.Problem = "not trusted " + trustFirst
	}
	if err := config.CheckMCPName(c.Name); err != nil {
		s.Problem = err.Error()
	}
	return s
}

// localServers returns the hosts of servers at URLs that the person has configured, or trusted:
// these may be on this machine or in its network.
func localServers(all []mcp.Server) []string {
	var hosts []string
	for _, s := range all {
		if s.Transport != mcp.Stdio && s.Problem == "" {
			hosts = append(hosts, hostOf(s.Endpoint.URL))
		}
	}
	return hosts
}

// serverSecrets returns the values that servers get to identify themselves: they are taken out
// of what comes back.
func (p *Program) serverSecrets() []string {
	var all []string
	for _, c := range p.Config.MCP {
		for _, v := range c.Env {
			if name, value, _ := strings.Cut(v, "="); config.SecretVariable(name) {
				all = append(all, value)
			}
		}
		for _, name := range append(slices.Clone(c.PassEnv), c.Bearer, c.OAuth.SecretEnv) {
			if config.SecretVariable(name) || name == c.Bearer || name == c.OAuth.SecretEnv {
				all = append(all, os.Getenv(name))
			}
		}
	}
	if stored, err := config.Auth().Read(); err == nil { // unreadable ones occur in no text
		for _, t := range stored.Logins {
			all = append(all, t.Access, t.Refresh)
		}
	}
	return slices.DeleteFunc(all, func(v string) bool { return len(v) < 8 })
}

// hostOf returns the host of a URL, "" if it has none.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// openTime limits how long a browser may take to be started.
const openTime = 10 * time.Second

// openBrowser opens an address in the person's browser.
func openBrowser(address string) error {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	ctx, cancel := context.WithTimeout(context.Background(), openTime)
	defer cancel()
	return searchpath.Command(ctx, program, address).Run()
}

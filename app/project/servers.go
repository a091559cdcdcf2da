package project

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"

	"buddy/agent/action"
	"buddy/config"
	"buddy/features/mcp"
)

// Servers returns the servers of the user's settings and of the project, the user's first. The servers of a project on
// another machine are left out.
func (s *Source) Servers() ([]mcp.Server, error) {
	var all []mcp.Server
	for _, c := range s.Config.MCP {
		if len(c.Command) > 0 || c.URL != "" { // other sections are about servers of the project
			all = append(all, personServer(c))
		}
	}
	plugins, err := s.serversOfPlugins()
	if err != nil {
		return nil, err
	}
	all = append(all, plugins...)
	if s.Away != "" {
		return all, nil
	}
	checks, _, err := s.check()
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
			one.Problem = "another server with this name has priority"
			one.Name = "project:" + one.Name
		}
		all = append(all, one)
	}
	return all, nil
}

// personServer returns a server of the user's settings.
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
		s.Endpoint.Login.Secret = os.Getenv(c.OAuth.SecretEnv) // without it the login fails with an error
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

// transportOf returns the transport of a server's definition.
func transportOf(kind, url string) mcp.Transport {
	if kind == "" && url != "" {
		kind = string(mcp.HTTP)
	}
	return mcp.Transport(cmp.Or(kind, string(mcp.Stdio)))
}

// TrustFirst is the end of the problem text of a server that needs trust.
const TrustFirst = "(/trust, or run: buddy trust)"

// projectServer returns a server of a project's .mcp.json. A server that is untrusted or can't be used has a Problem.
func projectServer(c Check) mcp.Server {
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
		s.Problem = "it changed since you trusted it " + TrustFirst
	case !c.State.Trusted:
		s.Problem = "not trusted " + TrustFirst
	}
	if err := config.CheckMCPName(c.Name); err != nil {
		s.Problem = err.Error()
	}
	return s
}

// serverParts returns the servers of .mcp.json.
func serverParts(dir string) (found Found) {
	const file = ".mcp.json"
	var servers struct {
		All map[string]json.RawMessage `json:"mcpServers"`
	}
	if !found.read(dir, file, &servers) {
		return found
	}
	for _, name := range slices.Sorted(maps.Keys(servers.All)) {
		var one struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
			URL     string   `json:"url"`
		}
		if err := json.Unmarshal(servers.All[name], &one); err != nil {
			found.leaveOut(file, "server %q: %s", name, jsonReason(err))
			continue
		}
		var whole serverEntry
		if json.Unmarshal(servers.All[name], &whole) == nil && whole.limits.lost != "" { // other errors are in the list of servers
			found.leaveOut(file, "server %q: %s", name, whole.limits.lost)
			found.Problems[len(found.Problems)-1].Limits = true
		}
		p := Part{File: file, Runs: one.URL, When: "is contacted for its tools in every session here"}
		p.Kind, p.Name = "mcp", name
		if one.Command != "" {
			p.Runs, p.When = action.Quote(append([]string{one.Command}, one.Args...)), "starts with every session here"
		}
		definition := decoded(servers.All[name])
		found.add(dir, p, definition, definition)
	}
	return found
}

package acp

import (
	"slices"
	"strings"

	"buddy/config"
	"buddy/texts"
)

// serversOf converts the editor's MCP servers into settings. They need no more trust than the servers in the user's
// settings, because the editor runs as the user and could start these programs itself.
func serversOf(all []mcpServer) (settings []config.MCPServer, err error) {
	for _, one := range all {
		s := config.NewMCPServer(serverName(one.Name))
		if config.CheckMCPName(s.Name) != nil {
			return nil, failf(codeParams, "mcpServers: the name %q has neither letters from a to z nor digits", clip(one.Name))
		}
		switch one.Type {
		case "", "stdio":
			s.Command = append([]string{one.Command}, one.Args...)
		case "http", "sse":
			s.Type, s.URL = one.Type, one.URL
		default:
			return nil, failf(codeParams, "mcpServers: %s has the type %q, which is not supported (have: stdio, http, sse)", s.Name, clip(one.Type))
		}
		for _, v := range one.Env {
			s.Env = append(s.Env, v.Name+"="+v.Value)
		}
		for _, h := range one.Headers {
			s.Headers = append(s.Headers, h.Name+": "+h.Value)
		}
		if err := s.CheckSent(); err != nil {
			return nil, failf(codeParams, "mcpServers: %s: %v", s.Name, err)
		}
		if slices.ContainsFunc(settings, func(other config.MCPServer) bool { return other.Name == s.Name }) {
			return nil, failf(codeParams, "mcpServers: two servers are named %q", s.Name)
		}
		settings = append(settings, s)
	}
	return settings, nil
}

const maxServerName = 40

// otherThanName matches characters that server names in settings can't contain.
var otherThanName = texts.Regexp(`[^A-Za-z0-9._-]+|__+`)

// serverName turns the free-form name that an editor gives to a server into a name that settings accept.
func serverName(name string) string {
	name = strings.TrimLeft(otherThanName().ReplaceAllString(name, "-"), "._-")
	return name[:min(len(name), maxServerName)]
}

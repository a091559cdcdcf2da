package acp

import (
	"slices"
	"strings"

	"buddy/config"
	"buddy/texts"
)

// serversOf returns the MCP servers of the editor as settings. An editor is the person's own program, like a shell: it
// could start these programs itself, so they need no more trust than the servers in the person's settings.
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

// otherThanName matches what the name of a server in settings can't have.
var otherThanName = texts.Regexp(`[^A-Za-z0-9._-]+|__+`)

// serverName turns the name of a server, which editors write for people, into one that settings accept.
func serverName(name string) string {
	name = strings.TrimLeft(otherThanName().ReplaceAllString(name, "-"), "._-")
	return name[:min(len(name), maxServerName)]
}

package compose

import (
	"context"

	"buddy/agent/event"
	"buddy/app/slash"
	"buddy/app/version"
	"buddy/features/mcp"
)

// ServersHere returns the MCP servers that a session in this folder would have.
func ServersHere(f *Options) ([]mcp.Server, error) {
	c, _, _, err := LoadConfig(f)
	if err != nil {
		return nil, err
	}
	s := Setup{Config: c, Target: slash.ThisMachine}
	return s.Project().Servers()
}

// TryServers starts servers, waits until each is ready or has failed, ends them, and returns what
// became of them.
func TryServers(ctx context.Context, all []mcp.Server) []mcp.Status {
	ready := make(chan struct{})
	servers := mcp.New(mcp.Options{
		Servers: all, State: mcpState(), Version: version.Number, HTTP: serverClient(all), Login: serverLogin,
		Publish: func(e event.Event) {
			if _, ok := e.(event.MCPReady); ok {
				close(ready)
			}
		},
	})
	defer servers.Close()
	servers.Start()
	select {
	case <-ready:
	case <-ctx.Done():
	}
	return servers.List()
}

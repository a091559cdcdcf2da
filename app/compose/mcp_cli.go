package compose

import (
	"context"
	"errors"
	"fmt"
	"slices"

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

// serverHere returns the named MCP server of a session in this folder.
func serverHere(f *Options, name string) (mcp.Server, error) {
	all, err := ServersHere(f)
	if err != nil {
		return mcp.Server{}, err
	}
	i := slices.IndexFunc(all, func(one mcp.Server) bool { return one.Name == name })
	if i < 0 {
		return mcp.Server{}, fmt.Errorf("there is no MCP server %q; buddy mcp list shows the servers", name)
	}
	if all[i].Problem != "" {
		return mcp.Server{}, fmt.Errorf("%q: %s", name, all[i].Problem)
	}
	return all[i], nil
}

// TryServers starts the servers of a session in this folder, or only the named one, waits until each is ready or has
// failed, ends them, and returns their states.
func TryServers(ctx context.Context, f *Options, name string) ([]mcp.Status, error) {
	all, err := ServersHere(f)
	if err != nil {
		return nil, err
	}
	if name != "" {
		all = slices.DeleteFunc(all, func(one mcp.Server) bool { return one.Name != name })
	}
	if len(all) == 0 {
		return nil, errors.New("there is no MCP server with this name; buddy mcp list shows the servers")
	}
	return tryServers(ctx, all), nil
}

// tryServers starts servers, waits until each is ready or has failed, and ends them.
func tryServers(ctx context.Context, all []mcp.Server) []mcp.Status {
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

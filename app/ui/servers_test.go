package ui

import (
	"slices"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
)

// The header counts servers that are starting.
func TestServersThatStartAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.unwanted("starting")
		for _, name := range []string{"a", "b", "c"} {
			x.feed(event.MCPServer{Server: name, State: "starting"})
		}
		x.Want("3 of 3 servers starting")
		x.feed(event.MCPServer{Server: "a", State: "ready", Tools: 2})
		x.Want("2 of 3 servers starting")
		x.feed(event.MCPServer{Server: "b", State: "failed", Error: "no"}, event.MCPServer{Server: "c", State: "off"})
		x.unwanted("starting")
		x.feed(event.MCPServer{Server: "a", State: "starting"})
		x.Want("1 of 2 servers starting")
		x.feed(event.SessionResumed{Cwd: "/home/ann/shop", Target: "local", Model: "demo"})
		x.unwanted("starting") // another process has its own servers
	})
}

// Prompts of servers complete while the servers are ready.
func TestPromptsOfServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.Type("/mcp__")
		x.unwanted("mcp__docs__sum")
		x.feed(event.MCPServer{Server: "docs", State: "ready", Prompts: []event.CustomCommand{{Name: "mcp__docs__sum", Args: "what", Help: "Sums\x1b[31m up", Origin: "server docs"}}})
		x.Want("▸/mcp__docs__sum", "up · what (server docs)")
		x.Press("Tab")
		x.Type("it\n")
		x.Settle()
		if want := []string{"mcp__docs__sum it"}; !slices.Equal(x.ran, want) {
			t.Errorf("ran %q, want %q", x.ran, want)
		}
		x.feed(event.MCPServer{Server: "docs", State: "off"})
		x.Type("/mcp__")
		x.unwanted("mcp__docs__sum  ")
	})
}

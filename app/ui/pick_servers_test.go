package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/app/slash"
)

func testServers() []slash.Server {
	return []slash.Server{
		{Name: "docs", State: "starting", Kind: "http", On: true, Lines: []string{"docs  starting  http", "  https://docs.example/mcp"}},
		{Name: "files", State: "ready", Kind: "stdio", Tools: 14, On: true, Lines: []string{"files  ready  stdio", "  mcp__files__read_file", "    Reads a \x1b[31mfile."}},
		{Name: "gone", State: "failed", Kind: "stdio", Error: "it exited with status 3: no database", On: true, Lines: []string{"gone  failed", "  the end of its log:", "    no database"}},
		{Name: "resting", State: "off", Kind: "stdio", Lines: []string{"resting  off"}},
		{Name: "theirs", State: "off", Kind: "stdio", Error: "not run: the project is on web-02", Fixed: true, Lines: []string{"theirs  off"}},
	}
}

// The list shows the state of each server and follows it; each is shown whole, with what can be done
// with it.
func TestServerList(t *testing.T) {
	for _, size := range [][2]int{{120, 32}, {80, 24}, {40, 12}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, size[0], size[1])
				x.servers = testServers()
				x.Type("/mcp\n")
				x.Want("MCP servers · 5", "▸*docs", "files", "gone", "failed", "resting")
				if size[0] == 120 {
					x.Want("starting", "14", "it exited with status 3", "not run: the project is")
				}
				x.servers[0].State, x.servers[0].Tools = "ready", 3
				x.tell(event.MCPServer{Server: "docs", State: "ready", Tools: 3})
				x.Want("3")
				x.unwanted("starting")

				x.Press("Down", "Down")
				x.Want("gone: it exited with status 3")
				x.Press("Enter")
				if size[0] > 40 {
					x.Want("no database")
				}
				x.Want("gone is failed", "1  start it again", "2  switch it off", "3  leave it")
				x.decide("1")
				x.Want("MCP servers · 5")
				x.Type("resting\n")
				x.Want("resting is off", "1  switch it on", "2  leave it")
				x.decide("1")
				if want := []string{"restart gone", "on resting"}; !slices.Equal(x.mcp, want) {
					t.Errorf("did %q, want %q", x.mcp, want)
				}
				x.Press("Esc")
				x.Press("Esc")
				x.unwanted("MCP servers")
				x.tell(event.MCPServer{Server: "docs", State: "failed"}) // nobody reads the list any more
			})
		})
	}
}

// What can't be started says why, and hostile texts of servers do not reach the terminal.
func TestServersThatCantBeStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.servers = testServers()
		x.servers[1].Name = "evil\x1b[2J\u202e"
		x.Type("/mcp\n")
		x.Want("evil␛[2J")
		x.Press("End", "Enter")
		x.Want("theirs is off", "1  leave it as it is")
		x.unwanted("switch it")
		x.Press("Esc")
		x.Press("Esc")
		if x.servers = nil; len(x.mcp) > 0 {
			t.Errorf("did %q", x.mcp)
		}
		x.Type("/mcp\n")
		x.Want("none: buddy mcp add")
	})
}

// Texts that were withheld from the model are released only after all of them was on the screen.
func TestWithheldTextsOfServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		x.servers = testServers()[:1]
		x.servers[0].Withheld, x.servers[0].Lines = true, append(slices.Repeat([]string{"a line"}, 60), strings.Repeat("long ", 9)+"THE END")
		x.Type("/mcp\n\n")
		x.Want("docs is starting", "1  let the model read")
		x.decide("1")
		x.Want("not all of it")
		for range 20 {
			x.Press("PgDn")
		}
		x.Want("THE END")
		x.decide("1")
		if !slices.Equal(x.mcp, []string{"docs"}) {
			t.Errorf("did %q", x.mcp)
		}
	})
}

// While servers start the header counts them.
func TestServersThatStartAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.unwanted("starting")
		for _, name := range []string{"a", "b", "c"} {
			x.tell(event.MCPServer{Server: name, State: "starting"})
		}
		x.Want("3 of 3 servers starting")
		x.tell(event.MCPServer{Server: "a", State: "ready", Tools: 2})
		x.Want("2 of 3 servers starting")
		x.tell(event.MCPServer{Server: "b", State: "failed", Error: "no"}, event.MCPServer{Server: "c", State: "off"})
		x.unwanted("starting")
		x.tell(event.MCPServer{Server: "a", State: "starting"})
		x.Want("1 of 2 servers starting")
		x.tell(event.SessionResumed{Cwd: "/home/ann/shop", Target: "local", Model: "demo"})
		x.unwanted("starting") // another process has other servers
	})
}

// The prompts of servers are completed while these are ready.
func TestPromptsOfServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.Type("/mcp__")
		x.unwanted("mcp__docs__sum")
		x.tell(event.MCPServer{Server: "docs", State: "ready", Prompts: []event.CustomCommand{{Name: "mcp__docs__sum", Args: "what", Help: "Sums\x1b[31m up", Origin: "server docs"}}})
		x.Want("▸/mcp__docs__sum", "up · what (server docs)")
		x.Press("Tab")
		x.Type("it\n")
		if want := []string{"prompt mcp__docs__sum it"}; !slices.Equal(x.mcp, want) {
			t.Errorf("asked for %q, want %q", x.mcp, want)
		}
		x.took(event.Submit{Text: "prompt mcp__docs__sum it"}) // what the session answered
		x.tell(event.MCPServer{Server: "docs", State: "off"})
		x.Type("/mcp__")
		x.unwanted("mcp__docs__sum  ")
	})
}

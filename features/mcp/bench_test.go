package mcp

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"buddy/agent/settings"
	"buddy/tools"
)

// BenchmarkCall calls a tool over stdio as the model does, and with the library alone on the same connection. own-ns is
// the difference, buddy's own time; it may be a millisecond.
func BenchmarkCall(b *testing.B) {
	ready := make(chan struct{}, 1)
	deferred := tools.NewDeferred()
	all := New(Options{Servers: []Server{{Name: "good", Transport: Stdio, Process: Process{Command: []string{os.Args[0], "good"}}, MCPTimes: settings.MCPTimes{StartTimeout: longTime}}}, Deferred: deferred, State: b.TempDir()})
	all.Start()
	b.Cleanup(all.Close)
	go func() {
		if _, err := all.servers[0].await(b.Context()); err == nil {
			ready <- struct{}{}
		}
	}()
	select {
	case <-ready:
	case <-time.After(longTime):
		b.Fatalf("%+v", all.List())
	}
	c, err := all.servers[0].await(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	use := tools.NewUseTool(deferred)
	ours := func() {
		call := tools.Call{ID: "c", Name: "use_tool", Arguments: `{"name":"mcp__good__echo","args":{"text":"hello"}}`}
		if call.Planned, err = use.Plan(call); err != nil {
			b.Fatal(err)
		}
		if res := use.Run(b.Context(), call); res.Content != "hello" {
			b.Fatal(res.Content)
		}
	}
	theirs := func() {
		params := &sdk.CallToolParams{Name: "echo", Arguments: map[string]json.RawMessage{"text": json.RawMessage(`"hello"`)}}
		if _, err := c.session.CallTool(b.Context(), params); err != nil {
			b.Fatal(err)
		}
	}
	ours() // pins the definition
	var own, library time.Duration
	b.ReportAllocs()
	for b.Loop() {
		began := time.Now()
		ours()
		own += time.Since(began)
		began = time.Now()
		theirs()
		library += time.Since(began)
	}
	b.ReportMetric(float64(own-library)/float64(b.N), "own-ns")
}

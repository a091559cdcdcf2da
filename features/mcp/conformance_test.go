package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/tools"
)

// TestConformance runs the client scenarios of the protocol's conformance suite, installed by npm in the folder
// BUDDY_CONFORMANCE, with Node 22 or later.
func TestConformance(t *testing.T) {
	dir := os.Getenv("BUDDY_CONFORMANCE")
	if dir == "" {
		t.Skip("BUDDY_CONFORMANCE names no folder with the conformance suite")
	}
	node := filepath.Join(dir, "node_modules/.bin/node")
	suite := filepath.Join(dir, "node_modules/@modelcontextprotocol/conformance/dist/index.js")
	for _, scenario := range []string{"initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"} {
		t.Run(scenario, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), node, suite, "client", "--command", os.Args[0]+" conformance", "--scenario", scenario)
			cmd.Dir = t.TempDir()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// runConformance is the client under test: it calls each tool of a server once, and sends every form unchanged.
func runConformance(address string) int {
	ready := make(chan struct{}, 1)
	deferred := tools.NewDeferred()
	all := New(Options{
		Servers:  []Server{{Name: "suite", Transport: HTTP, Endpoint: Endpoint{URL: address}}},
		Deferred: deferred, State: filepath.Join(os.TempDir(), "buddy-conformance"), Version: "test",
		Publish: func(e event.Event) {
			if _, ok := e.(event.MCPReady); ok {
				ready <- struct{}{}
			}
		},
	})
	all.Start()
	defer all.Close()
	<-ready
	for _, tool := range deferred.All() {
		name := tool.Definition().Name
		if !strings.HasPrefix(name, "mcp__") {
			continue
		}
		use := tools.NewUseTool(deferred)
		call := tools.Call{ID: name, Name: "use_tool", Arguments: fmt.Sprintf(`{"name":%q,"args":%s}`, name, exampleArguments(tool.Definition().Parameters))}
		call.Ask = func(_ context.Context, q tools.Question) (string, error) { return q.Choices[0], nil }
		var err error
		if call.Planned, err = use.Plan(call); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if res := use.Run(context.Background(), call); res.IsError {
			fmt.Fprintln(os.Stderr, res.Content)
			return 1
		}
	}
	if all.List()[0].State != Ready {
		fmt.Fprintf(os.Stderr, "%+v\n", all.List())
		return 1
	}
	return 0
}

// exampleArguments returns arguments that fit a simple schema.
func exampleArguments(schema json.RawMessage) string {
	var s struct {
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(schema, &s) // without a schema there are no arguments
	args := make(map[string]any)
	for name, p := range s.Properties {
		args[name] = map[string]any{"number": 5, "integer": 5, "string": "x", "boolean": true}[p.Type]
	}
	return string(tools.JSON(args))
}

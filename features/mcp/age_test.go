package mcp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"buddy/agent/settings"
)

// A search fetches lists again once they are as old as their server allows, within limits.
func TestAgeOfLists(t *testing.T) {
	for _, tt := range []struct {
		name string
		ttl  int // milliseconds
		age  time.Duration
	}{
		{"none", 0, time.Minute},
		{"short", 10, time.Minute},
		{"between", 20 * 60 * 1000, 20 * time.Minute},
		{"long", 24 * 60 * 60 * 1000, time.Hour},
		{"huge", 1 << 60, time.Hour},
		{"negative", -1 << 60, time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tool := func(name string) (*sdk.Tool, sdk.ToolHandler) {
				return &sdk.Tool{Name: name, InputSchema: map[string]any{"type": "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
					return &sdk.CallToolResult{}, nil
				}
			}
			s := sdk.NewServer(&sdk.Implementation{Name: "aging", Version: "1"}, &sdk.ServerOptions{SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.TTLMs = tt.ttl }})
			s.AddTool(tool("first"))
			srv := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: true}))
			t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
			b := start(t, Server{Name: "aging", Transport: HTTP, Endpoint: Endpoint{URL: srv.URL}, MCPTimes: settings.MCPTimes{StartTimeout: longTime}})
			b.settled()
			one := b.all.servers[0]
			after := func(ago time.Duration) {
				one.mu.Lock()
				one.listed = time.Now().Add(-ago)
				one.mu.Unlock()
			}
			if one.listAge != tt.age {
				t.Errorf("they may be %v old, want %v", one.listAge, tt.age)
			}
			if after(tt.age - 10*time.Second); one.listsAreOld() {
				t.Error("lists are old before their age")
			}
			s.AddTool(tool("second")) // without a notification
			after(tt.age + 10*time.Second)
			b.until("fetched", func() bool { return strings.Contains(b.search(""), "mcp__aging__second") })
		})
	}
}

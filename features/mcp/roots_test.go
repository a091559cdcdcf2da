package mcp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"buddy/agent/settings"
	"buddy/tools"
)

// rootsServer returns a server whose tool returns the client's roots, or "none" if the client has no roots to list.
func rootsServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "roots", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "roots"}, func(_ context.Context, req *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		text := "none"
		if res, ok := req.Params.InputResponses["roots"].(*sdk.ListRootsResult); ok { // in old protocols the library asks during the call
			text = ""
			for _, r := range res.Roots {
				text += r.URI + " " + r.Name + "\n"
			}
		} else if can := req.Session.InitializeParams().Capabilities; can != nil && can.RootsV2 != nil {
			return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"roots": &sdk.ListRootsParams{}}}, nil, nil
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
	})
	return s
}

// Programs may list the workspace folders in every protocol; servers at a URL may not.
func TestRoots(t *testing.T) {
	srv := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return rootsServer() }, nil))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	program := Process{Command: []string{os.Args[0], "roots"}}
	limits := settings.MCPTimes{StartTimeout: longTime}
	for _, tt := range []struct {
		server Server
		want   string
	}{
		{Server{Name: "new", Transport: Stdio, Process: program}, "file:///home/ann/a%20%23b%25%3F file:///srv/%C3%A4"},
		{Server{Name: "old", Transport: Stdio, Process: program, Legacy: true}, "file:///home/ann/a%20%23b%25%3F file:///srv/%C3%A4"},
		{Server{Name: "url", Transport: HTTP, Endpoint: Endpoint{URL: srv.URL}, Legacy: true}, "none"},
	} {
		t.Run(tt.server.Name, func(t *testing.T) {
			tt.server.MCPTimes = limits
			b := &bench{t: t, deferred: tools.NewDeferred(), news: make(chan struct{}, 1)}
			b.all = New(Options{Servers: []Server{tt.server}, Deferred: b.deferred, State: t.TempDir(), Publish: b.publish, Folders: []string{"/home/ann/a #b%?", "/srv/ä"}})
			b.all.Start()
			t.Cleanup(b.all.Close)
			b.settled()
			res := b.call(prefix(tt.server.Name)+"roots", `{}`)
			var uris []string
			for line := range strings.Lines(res.Content) {
				uri, _, _ := strings.Cut(strings.TrimSpace(line), " ")
				uris = append(uris, uri)
			}
			if got := strings.Join(uris, " "); got != tt.want {
				t.Errorf("roots: %+v, want %q", res, tt.want)
			}
		})
	}
}

package compose

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"buddy/app/apptest"
	"buddy/features/mcp"
)

// TestServerThatWantsALogin: its state names the command that logs in; a server with a configured token shows the
// server's answer.
func TestServerThatWantsALogin(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	apptest.Project(t, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer server.Close()
	for _, c := range []struct {
		headers []string
		login   bool
	}{{nil, true}, {[]string{"Authorization: Bearer mine"}, false}} {
		one := mcp.Server{Name: "docs", Transport: mcp.HTTP, Endpoint: mcp.Endpoint{URL: server.URL, Headers: c.headers}}
		states := tryServers(t.Context(), []mcp.Server{one})
		if len(states) != 1 || states[0].State == mcp.Ready || strings.Contains(states[0].Error, "buddy mcp login docs") != c.login {
			t.Errorf("%q: %+v", c.headers, states)
		}
	}
	if err := loginAt(t.Context(), mcp.Server{Name: "files", Transport: mcp.Stdio}, nil); err == nil || !strings.Contains(err.Error(), "only log in to servers with a URL") {
		t.Error(err)
	}
}

// TestCallThatWantsMoreRights: a server that lists its tools may require another login for a call; the result of the
// call names it.
func TestCallThatWantsMoreRights(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	apptest.Project(t, nil)
	s := sdk.NewServer(&sdk.Implementation{Name: "docs", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "write", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{}, nil
	})
	next := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: true})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte(`"tools/call"`)) {
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="docs:write"`)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	err := callAll(t.Context(), mcp.Server{Name: "docs", Transport: mcp.HTTP, Endpoint: mcp.Endpoint{URL: server.URL}})
	if err == nil || !strings.Contains(err.Error(), "docs:write") || !strings.Contains(err.Error(), "buddy mcp login docs") {
		t.Error(err)
	}
}

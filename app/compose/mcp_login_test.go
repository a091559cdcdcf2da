package compose

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"buddy/extensions/mcp"
)

// TestServerThatWantsALogin: its state says which command logs in; one with a token in its settings says what the
// server answered.
func TestServerThatWantsALogin(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	partsProject(t, nil)
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
		states := TryServers(t.Context(), []mcp.Server{one})
		if len(states) != 1 || states[0].State == mcp.Ready || strings.Contains(states[0].Error, "buddy mcp login docs") != c.login {
			t.Errorf("%q: %+v", c.headers, states)
		}
	}
	if err := LoginAtServer(t.Context(), mcp.Server{Name: "files", Transport: mcp.Stdio}, nil); err == nil || !strings.Contains(err.Error(), "only servers at a URL") {
		t.Error(err)
	}
}

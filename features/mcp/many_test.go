package mcp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"buddy/agent/settings"
	"buddy/tools"
)

// With fifty servers, ten of which never answer, only a call waits for them: the screen and the prompt get their data
// before any server has answered.
func TestNothingWaitsForServers(t *testing.T) {
	one := goodServer()
	answers, never := make(chan struct{}), make(chan struct{})
	behind := func(gate chan struct{}) string {
		next := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return one }, &sdk.StreamableHTTPOptions{Stateless: true})
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body) // without reading, the end of the client is not noticed
			r.Body = io.NopCloser(bytes.NewReader(body))
			select {
			case <-gate:
				next.ServeHTTP(w, r)
			case <-r.Context().Done():
			}
		}))
		t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
		return srv.URL
	}
	good, mute := behind(answers), behind(never)
	var servers []Server
	for i := range 50 {
		s := Server{Name: fmt.Sprintf("good%02d", i), Transport: HTTP, Endpoint: Endpoint{URL: good}, MCPTimes: settings.MCPTimes{StartTimeout: longTime}}
		if i%5 == 4 {
			s.Name, s.Endpoint.URL, s.StartTimeout = fmt.Sprintf("mute%02d", i), mute, 2*longTime
		}
		servers = append(servers, s)
	}
	b := start(t, servers...)
	if n := len(b.all.Listing()); n != 50 {
		t.Errorf("%d servers are listed", n)
	}
	if all, problems := b.all.Attach(t.Context(), []string{"no server is named, ann@example.org"}); len(all)+len(problems) > 0 {
		t.Errorf("%v, %v", all, problems)
	}
	if names, commands := b.all.Names(""), b.all.Commands(); len(names)+len(commands) > 0 {
		t.Errorf("%v, %v", names, commands)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel() // ends the search
	if found := b.searchUntil(late, "echo"); !strings.Contains(found, "still starting") {
		t.Errorf("%s", found)
	}
	for _, st := range b.all.List() {
		if st.State != Starting {
			t.Errorf("%s is %s", st.Name, st.State)
		}
	}
	close(answers)
	b.until("all that answer are ready", func() bool {
		n := 0
		for _, st := range b.all.List() {
			if st.State == Ready {
				n++
			}
		}
		return n == 40
	})
}

// Without servers nothing is started, offered or written.
func TestWithoutServersNothingHappens(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	deferred := tools.NewDeferred()
	all := New(Options{Deferred: deferred, State: state})
	all.Start()
	all.Close()
	if _, err := os.Stat(state); err == nil || len(deferred.All()) > 0 || len(all.Listing()) > 0 {
		t.Errorf("%v, %d tools, %v", err, len(deferred.All()), all.Listing())
	}
}

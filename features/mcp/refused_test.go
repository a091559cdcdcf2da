package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"

	"buddy/agent/event"
	"buddy/agent/settings"
	"buddy/tools"
)

// gate serves the good server while its status is 0; other statuses are sent as answers and counted.
type gate struct {
	status, refused, executed atomic.Int64
	next                      atomic.Pointer[http.Handler]
}

func newGate(t *testing.T) (*gate, string) {
	g := &gate{}
	g.forget()
	srv := httptest.NewServer(g)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return g, srv.URL
}

// forget makes all sessions unknown.
func (g *gate) forget() {
	one := goodServer()
	one.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method == "tools/call" {
				g.executed.Add(1)
			}
			return next(ctx, method, req)
		}
	})
	var next http.Handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return one }, nil)
	g.next.Store(&next)
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status := g.status.Load(); status != 0 {
		g.refused.Add(1)
		http.Error(w, "no", int(status))
		return
	}
	(*g.next.Load()).ServeHTTP(w, r)
}

// overLogin is an expired login.
type overLogin struct{}

func (overLogin) TokenSource(context.Context) (oauth2.TokenSource, error) { return nil, nil } //nolint:nilnil // no token

func (overLogin) Authorize(_ context.Context, _ *http.Request, resp *http.Response) error {
	_ = resp.Body.Close()
	return errors.New("not logged in: " + LoginHint + "remote")
}

// unreachable is a login whose issuer is not reachable.
type unreachable struct{ overLogin }

func (unreachable) Authorize(_ context.Context, _ *http.Request, resp *http.Response) error {
	_ = resp.Body.Close()
	return errors.New("https://issuer.example: connection refused")
}

// A server that rejects the credentials is not retried, and the reason names what the person can change. After that
// change the next call works.
func TestRefusedIsNoOutage(t *testing.T) {
	for _, tt := range []struct {
		name  string
		set   func(*Server)
		login auth.OAuthHandler
		want  string
		state State
	}{
		{"a variable", func(s *Server) {
			s.Endpoint.Headers, s.Endpoint.Variables = []string{"Authorization: Bearer old"}, []string{"TOKEN_X (bearer_env)"}
		}, nil, "the value of TOKEN_X (bearer_env)", Failed},
		{"a header", func(s *Server) { s.Endpoint.Headers = []string{"authorization: Bearer old"} }, overLogin{}, "Authorization header", Failed},
		{"a login", func(*Server) {}, overLogin{}, "not logged in: buddy mcp login remote", Failed},
		{"a login or a variable", func(s *Server) { s.Endpoint.Headers, s.Endpoint.Variables = []string{"X-Key: old"}, []string{"KEY_X"} }, overLogin{}, "buddy mcp login remote, or the value of KEY_X is wrong", Failed},
		{"an issuer that is away is an outage", func(*Server) {}, unreachable{}, "connection refused", Waiting},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, url := newGate(t)
			g.status.Store(http.StatusUnauthorized)
			def := Server{Name: "remote", Transport: HTTP, Endpoint: Endpoint{URL: url}, MCPTimes: settings.MCPTimes{StartTimeout: longTime}}
			tt.set(&def)
			b := &bench{t: t, deferred: tools.NewDeferred(), news: make(chan struct{}, 1)}
			b.all = New(Options{Servers: []Server{def}, Deferred: b.deferred, State: t.TempDir(), Publish: b.publish, Login: func(Server) auth.OAuthHandler { return tt.login }})
			t.Cleanup(b.all.Close)
			b.all.Start()
			b.settled()
			if st := b.status("remote"); st.State != tt.state || !strings.Contains(st.Error, tt.want) {
				t.Errorf("%s: %s", st.State, st.Error)
			}
			if tt.state != Failed {
				return
			}
			asked := g.refused.Load()
			if res := b.call("mcp__remote__echo", `{"text":"x"}`); !res.IsError || !strings.Contains(res.Content, tt.want) || g.refused.Load() == asked {
				t.Errorf("call: %q, %d requests after %d", res.Content, g.refused.Load(), asked)
			}
			g.status.Store(0)
			if res := b.call("mcp__remote__echo", `{"text":"hello"}`); res.IsError || res.Content != "hello" {
				t.Errorf("call after the change: %+v", res)
			}
			if n := b.count(func(e event.Event) bool { _, ok := e.(event.Warning); return ok }); n > 1 {
				t.Errorf("%d warnings", n)
			}
		})
	}
}

// A call retries a server that was down at the start, whether it is waiting or was given up.
func TestCallTriesAServerThatWasDown(t *testing.T) {
	g, url := newGate(t)
	g.status.Store(http.StatusServiceUnavailable)
	b := start(t, Server{Name: "remote", Transport: HTTP, Endpoint: Endpoint{URL: url}, MCPTimes: settings.MCPTimes{StartTimeout: longTime}})
	b.settled()
	if st := b.status("remote"); st.State != Waiting {
		t.Fatalf("%+v", st)
	}
	g.status.Store(0)
	if res := b.call("mcp__remote__echo", `{"text":"hello"}`); res.IsError || res.Content != "hello" {
		t.Errorf("%+v", res)
	}
	gone := Server{Name: "gone", Transport: Stdio, Process: Process{Command: []string{"/nonexistent/server"}}, MCPTimes: settings.MCPTimes{StartTimeout: longTime}}
	b = start(t, gone)
	b.settled()
	if res := b.call("mcp__gone__echo", `{}`); !res.IsError || !strings.Contains(res.Content, "/nonexistent/server") || !strings.Contains(res.Content, "each call tries") {
		t.Errorf("%+v", res)
	}
}

// A call in a session that the server no longer knows is sent again in a new session.
func TestUnknownSessionIsRenewedWithinTheCall(t *testing.T) {
	g, url := newGate(t)
	b := start(t, Server{Name: "remote", Transport: HTTP, Endpoint: Endpoint{URL: url}, MCPTimes: settings.MCPTimes{StartTimeout: longTime}})
	b.settled()
	for i := range 3 {
		text := fmt.Sprint("call ", i)
		if res := b.call("mcp__remote__echo", fmt.Sprintf(`{"text":%q}`, text)); res.IsError || res.Content != text {
			t.Errorf("%+v", res)
		}
		g.forget()
	}
	if n := g.executed.Load(); n != 3 {
		t.Errorf("%d calls were executed, want 3", n)
	}
}

// A request that the server accepted may have been executed: it is not sent again.
func TestOnlyWhatWasNotExecutedIsSentAgain(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answers []int
		session bool
		want    bool
	}{
		{"not found in a session", []int{404}, true, true},
		{"not found without a session", []int{404}, false, false},
		{"taken, then not found", []int{202, 404}, true, false},
		{"an error of the server", []int{500}, true, false},
		{"nothing", nil, true, false},
	} {
		r := &running{}
		for _, status := range tt.answers {
			r.answered(status, tt.session)
		}
		if got := r.notExecuted(); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// A search waits for a server that starts, unless it asks for a tool that is already known.
func TestSearchWaitsForAServerThatStarts(t *testing.T) {
	release := make(chan struct{})
	one := goodServer()
	next := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return one }, &sdk.StreamableHTTPOptions{Stateless: true})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-release
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	b := start(t, Server{Name: "remote", Transport: HTTP, Endpoint: Endpoint{URL: srv.URL}, MCPTimes: settings.MCPTimes{StartTimeout: longTime}})
	if found := b.search("mcp_read"); !strings.Contains(found, `"name":"mcp_read"`) || !strings.Contains(found, "still starting") {
		t.Errorf("%s", found)
	}
	got := make(chan string)
	go func() { got <- b.search("again") }()
	close(release)
	if found := <-got; !strings.Contains(found, `"name":"mcp__remote__echo"`) {
		t.Errorf("%s", found)
	}
}

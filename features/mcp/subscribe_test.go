package mcp

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"buddy/agent/settings"
)

// newspaper returns a server with resources that change when its tool is called; with subscriptions, it reports that.
func newspaper() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "paper", Version: "1"}, &sdk.ServerOptions{
		SubscribeHandler: func(_ context.Context, req *sdk.SubscribeRequest) error {
			if req.Params.URI == "mem://refused" {
				return fmt.Errorf("not this one")
			}
			return nil
		},
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	for _, uri := range []string{"mem://front", "mem://sports", "mem://refused"} {
		s.AddResource(&sdk.Resource{URI: uri, Name: "page"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{}, nil
		})
	}
	type page struct {
		URI string `json:"uri"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "print"}, func(ctx context.Context, _ *sdk.CallToolRequest, in page) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{}, nil, s.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: in.URI})
	})
	sdk.AddTool(s, &sdk.Tool{Name: "stop"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		os.Exit(1)
		return nil, nil, nil
	})
	return s
}

// A subscription reports changes in all protocols until it ends.
func TestSubscriptions(t *testing.T) {
	one := newspaper()
	srv := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return one }, nil))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	program := Process{Command: []string{os.Args[0], "newspaper"}}
	for _, server := range []Server{
		{Name: "new", Transport: Stdio, Process: program},
		{Name: "old", Transport: Stdio, Process: program, Legacy: true},
		{Name: "url", Transport: HTTP, Endpoint: Endpoint{URL: srv.URL}, Legacy: true},
	} {
		t.Run(server.Name, func(t *testing.T) {
			server.MCPTimes = settings.MCPTimes{StartTimeout: longTime}
			b := start(t, server)
			b.settled()
			name := server.Name
			print := func(uri string) {
				if res := b.call(prefix(name)+"print", `{"uri":"`+uri+`"}`); res.IsError {
					t.Fatalf("print: %+v", res)
				}
			}
			// In the present protocol, the answer comes when the subscription ends.
			if err := b.all.Subscribe(t.Context(), name, "mem://refused"); server.Legacy && (err == nil || !strings.Contains(err.Error(), "not this one")) {
				t.Errorf("refused: %v", err)
			}
			if err := b.all.Subscribe(t.Context(), name, "mem://none"); err == nil || !strings.Contains(err.Error(), "has no resource") {
				t.Errorf("none: %v", err)
			}
			if err := b.all.Subscribe(t.Context(), name, "mem://front"); err != nil {
				t.Fatal(err)
			}
			b.until("reported", func() bool { // the server may still be registering the subscription
				print("mem://sports")
				print("mem://front")
				return b.status(name).Changed == 1
			})
			if got := b.all.subs.takeChanged(); !slices.Equal(got, []string{name + ":mem://front"}) {
				t.Errorf("changed: %q", got)
			}
			if err := b.all.Unsubscribe(t.Context(), name, "mem://front"); err != nil {
				t.Errorf("unsubscribe: %v", err)
			}
			print("mem://front")
			if got := b.all.subs.takeChanged(); len(got) > 0 || b.status(name).Changed != 0 {
				t.Errorf("after the end: %q, %+v", got, b.status(name))
			}
		})
	}
}

// A server that starts again gets the subscriptions of its earlier connection.
func TestSubscriptionOutlivesARestart(t *testing.T) {
	b := start(t, Server{Name: "paper", Transport: Stdio, Legacy: true, Process: Process{Command: []string{os.Args[0], "newspaper"}}, MCPTimes: settings.MCPTimes{StartTimeout: longTime}})
	b.settled()
	if err := b.all.Subscribe(t.Context(), "paper", "mem://front"); err != nil {
		t.Fatal(err)
	}
	_ = b.call("mcp__paper__stop", `{}`)
	b.until("started again", func() bool { return b.status("paper").State == Ready })
	b.until("reported", func() bool {
		_ = b.call("mcp__paper__print", `{"uri":"mem://front"}`)
		return b.status("paper").Changed == 1
	})
	b.all.Replace(nil, nil)
	if all := b.all.subs.of("paper"); len(all) > 0 {
		t.Errorf("without the server: %v", all)
	}
}

// The model gets each change once, five names at a time, in one line without escape sequences.
func TestChangesAreReportedInOneLine(t *testing.T) {
	var s subscriptions
	for i := range maxSubscriptions {
		n := resourceName{"a", fmt.Sprintf("mem://%02d\x1b[2J\n", i)}
		if err := s.add(n); err != nil {
			t.Fatal(err)
		}
		for range 1000 {
			s.change(n)
		}
	}
	if err := s.add(resourceName{"a", "mem://more"}); err == nil {
		t.Error("there is no limit")
	}
	s.change(resourceName{"a", "mem://unknown"})
	for i := range maxSubscriptions / maxReported {
		line := changedLine(s.takeChanged())
		if first := fmt.Sprintf(": a:mem://%02d, ", i*maxReported); !strings.Contains(line, first) || strings.Count(line, "mem://") != maxReported || strings.ContainsAny(line, "\x1b\n") {
			t.Errorf("line %d: %q", i, line)
		}
	}
	if line := changedLine(s.takeChanged()); line != "" {
		t.Errorf("again: %q", line)
	}
}

// A server without subscriptions, and one that is off, say so.
func TestNoSubscriptions(t *testing.T) {
	b := start(t, hostileServer("good"))
	b.settled()
	if err := b.all.Subscribe(t.Context(), "good", "mem://x"); err == nil || !strings.Contains(err.Error(), "does not support subscriptions") {
		t.Errorf("good: %v", err)
	}
	if err := b.all.Switch("good", false); err != nil {
		t.Fatal(err)
	}
	b.until("off", func() bool { return b.status("good").State == Off })
	if err := b.all.Subscribe(t.Context(), "good", "mem://x"); err == nil || !strings.Contains(err.Error(), "is off") {
		t.Errorf("off: %v", err)
	}
	if err := b.all.Unsubscribe(t.Context(), "good", "mem://x"); err == nil {
		t.Error("a subscription that does not exist has ended")
	}
}

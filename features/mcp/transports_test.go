package mcp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"buddy/agent/settings"
	"buddy/tools"
)

// goodServer returns a server of the library with one of everything.
func goodServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "good", Version: "1"}, &sdk.ServerOptions{Instructions: "Ask echo for anything."})
	type text struct {
		Text string `json:"text"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: "Says it again."}, func(_ context.Context, _ *sdk.CallToolRequest, in text) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: in.Text}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "ask", Description: "Asks the user."}, func(_ context.Context, req *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		res, answered := req.Params.InputResponses["which"].(*sdk.ElicitResult)
		if !answered { // in old protocols the library asks during the call
			return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"which": &sdk.ElicitParams{Mode: "form", Message: "Which?", RequestedSchema: map[string]any{
				"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}, "required": []string{"name"},
			}}}}, nil, nil
		}
		name, _ := res.Content["name"].(string)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: res.Action + " " + name}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "parts", Description: "Returns one of each kind."}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "one"}, &sdk.ImageContent{MIMEType: "image/png", Data: []byte("\xff\xd8\xffjpeg")}, &sdk.ImageContent{MIMEType: "image/png", Data: []byte("none")}, &sdk.AudioContent{MIMEType: "audio/wav", Data: []byte("wav")},
			&sdk.ResourceLink{URI: "mem://a", Name: "a"}, &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "mem://b", Text: "inside"}},
		}}, nil, nil
	})
	s.AddResource(&sdk.Resource{URI: "mem://guide", Name: "guide", MIMEType: "text/plain"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "mem://guide", Text: "the guide"}}}, nil
	})
	s.AddPrompt(&sdk.Prompt{Name: "greet", Arguments: []*sdk.PromptArgument{{Name: "who", Required: true}}}, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: "Greet " + req.Params.Arguments["who"]}}}}, nil
	})
	return s
}

func runGoodServer() {
	_ = goodServer().Run(context.Background(), &sdk.StdioTransport{})
}

// overHTTP serves the good server and expects a header of its client.
func overHTTP(t *testing.T, handler http.Handler) (url string, refused *atomic.Int64) {
	refused = &atomic.Int64{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t0ken" {
			refused.Add(1)
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return srv.URL, refused
}

// All transports and protocol versions behave the same.
func TestTransports(t *testing.T) {
	one := goodServer()
	get := func(*http.Request) *sdk.Server { return one }
	streamable, refused := overHTTP(t, sdk.NewStreamableHTTPHandler(get, nil))
	stateless, _ := overHTTP(t, sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{Stateless: true}))
	sse, _ := overHTTP(t, sdk.NewSSEHandler(get, nil))
	at := func(transport Transport, url string) Server {
		return Server{Transport: transport, Endpoint: Endpoint{URL: url, Headers: []string{"Authorization: Bearer t0ken"}}, MCPTimes: settings.MCPTimes{StartTimeout: longTime}}
	}
	program := Server{Transport: Stdio, Process: Process{Command: []string{os.Args[0], "good"}}, MCPTimes: settings.MCPTimes{StartTimeout: longTime}}
	for _, tt := range []struct {
		name        string
		server      Server
		legacy, old bool // start with the handshake; speak an old protocol
	}{
		{"stdio", program, false, false},
		{"stdio-legacy", program, true, true},
		{"http", at(HTTP, stateless), false, false},
		{"http-session", at(HTTP, streamable), false, true},
		{"http-legacy", at(HTTP, streamable), true, true},
		{"sse", at(SSE, sse), false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.server.Name, tt.server.Legacy = tt.name, tt.legacy
			b := start(t, tt.server)
			b.settled()
			st := b.status(tt.name)
			if st.State != Ready || len(st.Tools) != 3 || st.Resources != 1 || len(st.Prompts) != 1 || st.Prompts[0] != prefix(tt.name)+"greet" {
				t.Fatalf("%+v", st)
			}
			if old := st.Protocol <= legacyVersion; old != tt.old {
				t.Errorf("protocol %s", st.Protocol)
			}
			name := prefix(tt.name)
			if res := b.call(name+"echo", `{"text":"hello"}`); res.IsError || res.Content != "hello" {
				t.Errorf("echo: %+v", res)
			}
			if res := b.call(name+"parts", `{}`); len(res.Images) != 1 || !strings.HasPrefix(res.Content, "one\n[picture, image/jpeg, 7 bytes") || !strings.Contains(res.Content, "[picture of type image/png, 4 bytes, not shown: ") || res.Images[0].Check() != nil || !strings.Contains(res.Content, "[audio, audio/wav, 3 bytes") ||
				!strings.Contains(res.Content, "[resource mem://a a") || !strings.HasSuffix(res.Content, "mem://b:\ninside\n[7 lines]") {
				t.Errorf("parts: %+v", res)
			}
			if res := b.call("mcp_read", `{"server":"`+tt.name+`","uri":"mem://guide"}`); !strings.Contains(res.Content, "the guide") {
				t.Errorf("mcp_read: %+v", res)
			}
			if res := b.call("mcp_resources", `{"query":"GUIDE"}`); !strings.Contains(res.Content, "mem://guide") {
				t.Errorf("mcp_resources: %+v", res)
			}
			if text, err := b.all.Prompt(t.Context(), name+"greet", []string{"the", "world"}); err != nil || text != "Greet the world" {
				t.Errorf("prompt: %q, %v", text, err)
			}
			if text := b.all.Listing()[0].Text; !strings.Contains(text, "3 tools "+name+"{ask,echo,parts}\n  It says: Ask echo for anything.") {
				t.Errorf("listing: %q", text)
			}
			asksThePerson(t, b, name+"ask")
		})
	}
	if refused.Load() != 0 {
		t.Errorf("%d requests had no token", refused.Load())
	}
}

// asksThePerson checks that a question of the server reaches the person, and is declined without one.
func asksThePerson(t *testing.T, b *bench, tool string) {
	t.Helper()
	if res := b.call(tool, `{}`); res.Content != "decline " {
		t.Errorf("with nobody there: %+v", res)
	}
	use, call := b.planned(tool, `{}`)
	call.Ask = func(_ context.Context, q tools.Question) (string, error) {
		switch {
		case !strings.Contains(b.status(q.From).Name, q.From):
			t.Errorf("it is asked from %q", q.From)
		case strings.HasPrefix(q.Text, "Which?") && q.Choices[0] == "Send":
			return "Send", nil
		case strings.HasPrefix(q.Text, "Which?"):
			return q.Choices[0], nil
		}
		return "ann", nil
	}
	if res := use.Run(t.Context(), call); res.Content != "accept ann" {
		t.Errorf("answered: %+v", res)
	}
}

func TestHTTPServerThatIsNotThere(t *testing.T) {
	b := start(t, Server{Name: "gone", Transport: HTTP, Endpoint: Endpoint{URL: "http://127.0.0.1:1/mcp"}, MCPTimes: settings.MCPTimes{StartTimeout: longTime}})
	b.settled()
	if st := b.status("gone"); st.State != Waiting || !strings.Contains(st.Error, "connection refused") {
		t.Errorf("%+v", st)
	}
}

func TestTokensStayWithTheirServer(t *testing.T) {
	var stolen atomic.Int64
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			stolen.Add(1)
		}
	}))
	t.Cleanup(thief.Close)
	lure := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	t.Cleanup(lure.Close)
	b := start(t, Server{Name: "lure", Transport: HTTP, Endpoint: Endpoint{URL: lure.URL, Headers: []string{"Authorization: Bearer t0ken"}}, MCPTimes: settings.MCPTimes{StartTimeout: longTime}})
	b.settled()
	if st := b.status("lure"); st.State != Waiting || stolen.Load() != 0 {
		t.Errorf("%d requests with the token went to another server: %+v", stolen.Load(), st)
	}
}

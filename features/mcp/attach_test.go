package mcp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/agent/settings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// library is a server with some resources.
func library(t *testing.T) Server {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "library", Version: "1"}, nil)
	for uri, text := range map[string]string{"mem://guide": "the guide", "mem://why?": "why not", "mem://long": strings.Repeat("0123456789abcdef", attachedSize/8)} {
		s.AddResource(&sdk.Resource{URI: uri, Name: "a " + strings.TrimPrefix(uri, "mem://")}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, Text: text}}}, nil
		})
	}
	s.AddPrompt(&sdk.Prompt{Name: "sum up", Description: "Sums\nup.", Arguments: []*sdk.PromptArgument{{Name: "what", Required: true}, {Name: "for whom"}}},
		func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return &sdk.GetPromptResult{}, nil
		})
	srv := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return Server{Name: "docs", Transport: HTTP, Endpoint: Endpoint{URL: srv.URL}, MCPTimes: settings.MCPTimes{StartTimeout: longTime}}
}

func TestResourcesThatPromptsName(t *testing.T) {
	b := start(t, library(t), Server{Name: "broken", Transport: Stdio, Problem: "the variable TOKEN is not set"})
	b.settled()
	for _, tt := range []struct{ prompt, names, problem string }{
		{"nothing here, ann@docs:mem://guide or mail docs:mem://guide", "", ""},
		{"see @docs:mem://guide.", "docs:mem://guide", ""},
		{"see (@docs:mem://guide), @docs:mem://guide", "docs:mem://guide", ""},
		{"is it @docs:mem://why?", "docs:mem://why?", ""},
		{"@other:mem://guide @docs @docs: @README.md", "", ""},
		{"@docs:mem://gone", "", "@docs:mem://gone was not attached: "},
		{"@broken:x", "", "@broken:x was not attached: the MCP server broken is off"},
	} {
		all, problems := b.all.Attach(t.Context(), []string{tt.prompt})
		var names []string
		for _, a := range all {
			names = append(names, a.Name)
		}
		text := strings.Join(problems, "|")
		if strings.Join(names, " ") != tt.names || !strings.HasPrefix(text, tt.problem) || tt.problem == "" && text != "" || strings.Contains(text, "\n") {
			t.Errorf("%q: %q, %q; want %q, %q", tt.prompt, names, problems, tt.names, tt.problem)
		}
	}
	all, problems := b.all.Attach(t.Context(), []string{"@docs:mem://long"})
	if len(all) != 1 || len(problems) > 0 || len(all[0].Text) > attachedSize+100 || !strings.Contains(all[0].Text, "[only the first 65536 bytes") {
		t.Errorf("%d, %q", len(all), problems)
	}
	many := "@docs:1 @docs:2 @docs:3 @docs:4 @docs:5 @docs:6 @docs:7 @docs:8 @docs:9 @docs:10"
	if _, problems = b.all.Attach(t.Context(), []string{many}); len(problems) != maxAttached+1 || !strings.Contains(problems[maxAttached], "a prompt may name at most 8 resources") {
		t.Errorf("%q", problems)
	}
}

func TestNamesForCompletion(t *testing.T) {
	b := start(t, library(t))
	b.settled()
	for query, want := range map[string][]string{
		"":                  {"docs:mem://guide", "docs:mem://long", "docs:mem://why?"},
		"DOC":               {"docs:mem://guide", "docs:mem://long", "docs:mem://why?"},
		"docs:mem://g":      {"docs:mem://guide"},
		"a lo":              {"docs:mem://long"},
		"nothing like that": nil,
	} {
		got := b.all.Names(query)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	if all := b.all.Commands(); len(all) != 1 || all[0].Name != "mcp__docs__sum_up" || all[0].Args != "what [for whom]" || all[0].Help != "Sums up." || all[0].Origin != "server docs" {
		t.Errorf("%+v", all)
	}
}

// A server that adds prompts and tools while it runs publishes their new numbers.
func TestChangedListsAreMadeKnown(t *testing.T) {
	s := sdk.NewServer(&sdk.Implementation{Name: "growing", Version: "1"}, nil)
	prompt := func(name string) {
		s.AddPrompt(&sdk.Prompt{Name: name}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return &sdk.GetPromptResult{}, nil
		})
	}
	prompt("first")
	srv := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	b := start(t, Server{Name: "growing", Transport: HTTP, Endpoint: Endpoint{URL: srv.URL}, MCPTimes: settings.MCPTimes{StartTimeout: longTime}})
	b.settled()
	known := func() (last event.MCPServer) {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, e := range b.events {
			if e, ok := e.(event.MCPServer); ok {
				last = e
			}
		}
		return last
	}
	if e := known(); e.State != string(Ready) || len(e.Prompts) != 1 {
		t.Fatalf("%+v", e)
	}
	prompt("second")
	b.until("known", func() bool { e := known(); return e.State == string(Ready) && len(e.Prompts) == 2 })
}

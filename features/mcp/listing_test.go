package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"buddy/agent/settings"
	"buddy/tools"
)

// common has the tools of three widespread servers.
var common = map[string]string{
	"everything": "echo get-annotated-message get-env get-resource-links get-resource-reference get-structured-content get-sum get-tiny-image gzip-file-as-resource " +
		"toggle-simulated-logging toggle-subscriber-updates trigger-long-running-operation trigger-elicitation-request trigger-url-elicitation simulate-research-query",
	"filesystem": "read_file read_text_file read_media_file read_multiple_files write_file edit_file create_directory list_directory list_directory_with_sizes " +
		"directory_tree move_file search_files get_file_info list_allowed_directories",
	"memory": "create_entities create_relations add_observations delete_entities delete_observations delete_relations read_graph search_nodes open_nodes",
}

// commonServer serves tools with these names over HTTP.
func commonServer(t *testing.T, name, names, instructions string) Server {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: name, Version: "1"}, &sdk.ServerOptions{Instructions: instructions})
	for n := range strings.FieldsSeq(names) {
		s.AddTool(&sdk.Tool{Name: n, Description: strings.Repeat("What it does in some words. ", 12), InputSchema: map[string]any{"type": "object"}},
			func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return &sdk.CallToolResult{}, nil
			})
	}
	srv := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return Server{Name: name, Transport: HTTP, Endpoint: Endpoint{URL: srv.URL}, MCPTimes: settings.MCPTimes{StartTimeout: longTime}}
}

// The listing of three servers has at most 600 bytes, and a search finds every tool and the full instructions.
func TestListingIsShort(t *testing.T) {
	instructions := "# Everything Server – Server Instructions\n\n" + strings.Repeat("- Use one tool before another one, and never the third.\n", 30) + "The end."
	b := start(t, commonServer(t, "everything", common["everything"], instructions), commonServer(t, "filesystem", common["filesystem"], ""),
		commonServer(t, "memory", common["memory"], ""))
	b.settled()
	text := "<system-reminder>\n" + ListingHead
	for _, line := range b.all.Listing() {
		text += "\n" + line.Text
	}
	text += "\n</system-reminder>"
	sent, err := json.Marshal(map[string]string{"role": "user", "content": text})
	if err != nil || len(sent) > 600 {
		t.Errorf("%d bytes, want at most 600: %s", len(sent), sent)
	}
	for _, want := range []string{"15 tools mcp__everything__{echo,", "14 tools mcp__filesystem__{", "9 tools mcp__memory__{", "(tool_search everything has all)"} {
		if !strings.Contains(text, want) {
			t.Errorf("the listing has no %q:\n%s", want, text)
		}
	}
	for server, names := range common {
		for name := range strings.FieldsSeq(names) {
			if got := b.search(server + " " + name); !strings.Contains(got, `"name":"`+plainName(server, name)+`"`) {
				t.Errorf("a search for %s of %s: %s", name, server, got)
			}
		}
	}
	if got := b.search("everything"); !strings.Contains(got, "The end.") || !strings.Contains(got, "not the user's") {
		t.Errorf("a search for the server: %s", got)
	}
	if got := b.search("echo"); strings.Contains(got, "The end.") {
		t.Errorf("a search that does not name the server has its text: %s", got)
	}
	if got := b.search(""); strings.Count(got, "mcp__") != 38 {
		t.Errorf("an empty search names %d tools", strings.Count(got, "mcp__"))
	}
}

// search returns the result of tool_search.
func (b *bench) search(query string) string {
	b.t.Helper()
	return b.searchUntil(context.Background(), query)
}

func (b *bench) searchUntil(ctx context.Context, query string) string {
	b.t.Helper()
	res := tools.NewToolSearch(b.deferred).Run(ctx, tools.Call{ID: "s", Name: "tool_search", Arguments: string(tools.JSON(map[string]string{"query": query}))})
	return res.Content
}

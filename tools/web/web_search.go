package web

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/tools"
)

//go:embed web_search.md
var webSearchText string

type searchArgs struct {
	Query string `json:"query"`
	Why   string `json:"why,omitempty" schema:"-"`
}

type webSearch struct {
	client *Client
	tools.Typed[searchArgs]
}

// NewWebSearch returns the tool web_search, which returns the first results of the client's search engine.
func NewWebSearch(client *Client) tools.Tool {
	return tools.New(&webSearch{client: client}, "web_search", webSearchText)
}

func (*webSearch) Parallel(tools.Call) bool { return true }

// maxQuery is the size limit of a query, in bytes.
const maxQuery = 500

func (t *webSearch) PlanArgs(args searchArgs) (action.Action, error) {
	if len(args.Query) > maxQuery {
		return action.Action{}, tools.Invalid("query: longer than %d bytes", maxQuery)
	}
	u, err := t.client.SearchURL(args.Query)
	if err != nil {
		return action.Action{}, tools.Failed(err)
	}
	act := planGet(t.Name(), u, args.Why) // also for an engine that gets a POST: a search changes nothing there
	act.Preview = args.Query
	return act, nil
}

func (t *webSearch) RunArgs(ctx context.Context, call tools.Call, args searchArgs) tools.Result {
	u, err := plannedURL(call)
	if err != nil {
		return tools.Failure(err)
	}
	hits, err := t.client.Search(ctx, u, args.Query)
	if err != nil {
		return tools.Failure(err)
	}
	if len(hits) == 0 {
		return tools.Success("", "nothing was found")
	}
	res := tools.Success(listHits(hits))
	res.Outcome = texts.Plural(len(hits), "result")
	return res
}

func listHits(hits []Hit) string {
	var b strings.Builder
	for i, h := range hits {
		fmt.Fprintf(&b, "%d. %s\n   %s\n", i+1, texts.ClipBytes(h.Title, 200), texts.ClipBytes(h.URL, 1000))
		if h.Snippet != "" {
			fmt.Fprintf(&b, "   %s\n", texts.ClipBytes(h.Snippet, 400))
		}
	}
	return b.String()
}

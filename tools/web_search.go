package tools

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"buddy/agent/action"
	"buddy/tools/web"
)

//go:embed web_search.md
var webSearchText string

type searchArgs struct {
	Query string `json:"query"`
	Why   string `json:"why,omitempty" schema:"-"`
}

// searchPayload is what the model gets.
type searchPayload struct {
	Count   int    `json:"count"`
	Results string `json:"results"`
	Note    string `json:"note,omitempty"`
}

type webSearch struct {
	client *web.Client
	Schema
}

// NewWebSearch returns the tool web_search: at most 8 results of DuckDuckGo (D18).
func NewWebSearch(client *web.Client) Tool {
	return &webSearch{client, define[searchArgs]("web_search", webSearchText)}
}

func (*webSearch) Parallel(Call) bool { return true }

// maxQuery is how long a query may be, in bytes.
const maxQuery = 500

func (t *webSearch) Plan(call Call) (action.Action, error) {
	args, err := decode[searchArgs](call)
	if err != nil {
		return action.Action{}, err
	}
	if len(args.Query) > maxQuery {
		return action.Action{}, invalid("query: longer than %d bytes", maxQuery)
	}
	u, err := t.client.SearchURL(args.Query)
	if err != nil {
		return action.Action{}, failed(err)
	}
	act := planGet(t.Name(), u, args.Why)
	act.Preview = args.Query
	return act, nil
}

func (t *webSearch) Run(ctx context.Context, call Call) Result {
	if _, err := decode[searchArgs](call); err != nil {
		return failure(err)
	}
	u, err := plannedURL(call)
	if err != nil {
		return failure(err)
	}
	hits, err := t.client.Search(ctx, u)
	if err != nil {
		return failure(err)
	}
	payload := searchPayload{Count: len(hits), Results: listHits(hits)}
	if len(hits) == 0 {
		payload.Note = "nothing was found"
	}
	return success(payload, payload.Results+payload.Note)
}

func listHits(hits []web.Hit) string {
	var b strings.Builder
	for i, h := range hits {
		fmt.Fprintf(&b, "%d. %s\n   %s\n", i+1, clip(h.Title, 200), clip(h.URL, 1000))
		if h.Snippet != "" {
			fmt.Fprintf(&b, "   %s\n", clip(h.Snippet, 400))
		}
	}
	return b.String()
}

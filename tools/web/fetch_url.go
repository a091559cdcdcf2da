package web

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/tools"
)

//go:embed fetch_url.md
var fetchURLText string

type fetchArgs struct {
	URL    string `json:"url"`
	Offset int    `json:"offset,omitempty" min:"0"`
	Why    string `json:"why,omitempty" schema:"-"`
}

type fetchURL struct {
	client *Client
	tools.Typed[fetchArgs]

	mu   sync.Mutex // guards the field below
	last fetched    // the last page, so that all its parts come from one text
}

// fetched is a page that was fetched.
type fetched struct {
	asked string // the URL in the call
	page  Page
	text  string
}

// NewFetchURL returns the tool fetch_url, which returns a web page as text, at most one page size per call.
func NewFetchURL(client *Client) tools.Tool {
	return tools.New(&fetchURL{client: client}, "fetch_url", fetchURLText)
}

func (*fetchURL) Parallel(tools.Call) bool { return true }

func (t *fetchURL) PlanArgs(args fetchArgs) (action.Action, error) {
	u, local, err := t.client.CheckLocal(args.URL)
	if err != nil {
		return action.Action{}, tools.Invalid("url: %v", err)
	}
	act := planGet(t.Name(), u, args.Why)
	if local != nil {
		act.Local, act.Risk = true, action.Medium
		act.Preview += "\n" + local.Error()
	}
	return act, nil
}

// planGet returns the plan of a tool that fetches a page.
func planGet(tool string, u *url.URL, why string) action.Action {
	return action.Action{
		Kind: action.Network, Tool: tool, Target: "local", URL: u.String(), Host: u.Hostname(), Method: http.MethodGet,
		Preview: "GET " + u.String(), Why: why, Risk: action.Low,
	}
}

// plannedURL returns the approved URL.
func plannedURL(call tools.Call) (*url.URL, error) {
	u, err := url.Parse(call.Planned.URL)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%w: the call of %s was not planned", tools.ErrExecution, call.Name)
	}
	return u, nil
}

func (t *fetchURL) RunArgs(ctx context.Context, call tools.Call, args fetchArgs) tools.Result {
	u, err := plannedURL(call)
	if err != nil {
		return tools.Failure(err)
	}
	f, known := t.known(u.String())
	if args.Offset == 0 || !known {
		call.Say("GET " + u.String() + "\n")
		get := t.client.Get
		if call.Planned.Local {
			get = t.client.GetLocal
		}
		if f.page, err = get(ctx, u); err != nil {
			return tools.Failure(err)
		}
		call.Say(fmt.Sprintf("%d, %d bytes\n", f.page.Status, len(f.page.Body)))
		if f.text, err = f.page.Text(); err != nil {
			return tools.Failure(err)
		}
		f.asked = u.String()
		t.mu.Lock()
		t.last = f
		t.mu.Unlock()
	}
	return f.part(args.Offset, call.PageBytes())
}

// known returns the last fetched page, if it is the requested one.
func (t *fetchURL) known(asked string) (fetched, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last.asked != asked {
		return fetched{}, false
	}
	return t.last, true
}

// part returns at most the given number of bytes of the text, from offset on.
func (f fetched) part(offset, most int) tools.Result {
	if offset > 0 && offset >= len(f.text) {
		return tools.Failure(tools.Invalid("offset: %d, but the text has %d bytes", offset, len(f.text)))
	}
	rest := f.text[offset:]
	text := tools.Head(rest, most)
	var at, status, redirected, cut string
	if f.page.URL != f.asked {
		at = f.page.URL
	}
	if f.page.Status != http.StatusOK {
		status = fmt.Sprintf("status %d", f.page.Status)
	}
	if f.page.Location != "" {
		redirected = fmt.Sprintf("it redirects to %s, which was not followed; fetch that if it is right", texts.ClipBytes(f.page.Location, 2000))
	}
	if len(text) < len(rest) {
		cut = fmt.Sprintf("bytes %d-%d of %d; continue with offset %d", offset, offset+len(text), len(f.text), offset+len(text))
		text += tools.Truncated
	} else if f.page.Cut {
		cut = fmt.Sprintf("the page is longer than the %d bytes that are read", MaxBody)
	}
	res := tools.Success(text, at, status, redirected, cut)
	res.Outcome = texts.Plural(strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1, "line")
	return res
}

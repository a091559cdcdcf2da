package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"buddy/texts"
)

// engine is a search engine with a JSON API.
type engine struct {
	name  string
	base  string // URL of the server, "" if the settings must name it
	path  string
	most  int    // maximum number of results of one request, 0 if the API has no such limit
	query string // name of the query in the URL; "" means a POST with JSON
	count string // name of the number of results in the URL or the JSON, "" if the API has none
	more  url.Values
	key   http.Header // header of the key, with the text before it; nil if the engine has no keys
}

// engines maps names in the settings to engines.
var engines = map[string]engine{
	// https://docs.searxng.org/dev/search_api: GET /search with q and format.
	"searxng": {name: "SearXNG", path: "/search", query: "q", more: url.Values{"format": {"json"}}},
	// https://api.search.brave.com/app/documentation/web-search/query: q, count up to 20, and text_decorations, which
	// otherwise puts markup into snippets. The key is in X-Subscription-Token.
	"brave": {
		name: "Brave Search", base: "https://api.search.brave.com", path: "/res/v1/web/search", most: 20,
		query: "q", count: "count", more: url.Values{"text_decorations": {"false"}},
		key: http.Header{"X-Subscription-Token": {""}},
	},
	// https://docs.tavily.com/documentation/api-reference/endpoint/search: POST of query and max_results up to 20, the
	// key as a bearer token.
	"tavily": {
		name: "Tavily", base: "https://api.tavily.com", path: "/search", most: 20,
		count: "max_results", key: http.Header{"Authorization": {"Bearer "}},
	},
}

// engineClient returns the client for search engines. The server may be on this machine or in the local network if the
// settings name it, because only the user's own settings can. The client follows no redirection, so that no other host
// gets the key.
func (c *Client) engineClient() *http.Client {
	var local []string
	if u, err := url.Parse(c.opts.Search.URL); err == nil && u.Host != "" {
		local = append(local, u.Hostname())
	}
	return &http.Client{
		Transport: c.Transport(local...), Timeout: Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// searchKey returns the key, empty if the engine needs none.
func (s Search) searchKey() (string, error) {
	if s.Key == nil {
		return "", nil
	}
	return s.Key()
}

// engineURL returns the URL of a search.
func (c *Client) engineURL(e engine, query string) (*url.URL, error) {
	if _, err := c.opts.Search.searchKey(); err != nil {
		return nil, err
	}
	u, _, err := c.CheckLocal(cmp.Or(c.opts.Search.URL, e.base) + e.path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.name, err)
	}
	if e.query == "" {
		return u, nil
	}
	all := url.Values{e.query: {query}}
	if e.count != "" {
		all.Set(e.count, strconv.Itoa(c.results(e)))
	}
	maps.Copy(all, e.more)
	u.RawQuery = all.Encode()
	return u, nil
}

// results returns the number of results to request from an engine.
func (c *Client) results(e engine) int {
	if e.most == 0 {
		return c.opts.Search.Hits
	}
	return min(c.opts.Search.Hits, e.most)
}

// engineRequest returns the request of a search.
func (c *Client) engineRequest(ctx context.Context, e engine, u *url.URL, query string) (*http.Request, error) {
	key, err := c.opts.Search.searchKey()
	if err != nil {
		return nil, err
	}
	method, body := http.MethodGet, io.Reader(http.NoBody)
	if e.query == "" {
		data, err := json.Marshal(map[string]any{"query": query, e.count: c.results(e)})
		if err != nil {
			return nil, err
		}
		method, body = http.MethodPost, bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "application/json")
	if e.query == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, before := range e.key {
		req.Header.Set(name, before[0]+key)
	}
	return req, nil
}

// askEngine returns the results of a search engine with an API. Its errors name the engine, the cause and what to do.
func (c *Client) askEngine(ctx context.Context, e engine, u *url.URL, query string) ([]Hit, error) {
	req, err := c.engineRequest(ctx, e, u, query)
	if err != nil {
		return nil, err
	}
	at := e.name + " at " + u.Host
	res, err := c.search.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; %s", at, cause(ctx, err), e.check())
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, MaxBody+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: after %d bytes: %w; search again later", at, len(body), cause(ctx, err))
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s %s", at, c.refusal(e, res, body))
	case len(body) > MaxBody:
		return nil, fmt.Errorf("%s answers with more than the %d bytes that are read; %s", at, MaxBody, e.check())
	}
	hits, err := parseHits(body, c.opts.Search.Hits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; %s", at, err, e.check())
	}
	return hits, nil
}

// check returns what to do about a server that can't be reached or does not speak the engine's protocol.
func (e engine) check() string {
	if e.base == "" {
		return "check that it runs and that search_url in [tools] is its address"
	}
	return "check the network, or search again later"
}

// refusal returns why an engine refuses a search, and what to do. It repeats no text of the server, which may contain
// the key.
func (c *Client) refusal(e engine, res *http.Response, body []byte) string {
	status := res.StatusCode
	switch {
	case e.key == nil && status == http.StatusForbidden:
		// https://docs.searxng.org/dev/search_api: 403 means that search.formats lacks the format; it has only html by
		// default (https://docs.searxng.org/admin/settings/settings_search.html).
		return "refuses to answer with JSON (status 403); add json to formats under search in its settings.yml and restart it"
	case e.key != nil && (status == http.StatusUnauthorized || status == http.StatusForbidden || wrongToken(status, body)):
		return fmt.Sprintf("refuses the key in %s (status %d); check the key, then start buddy again", c.opts.Search.KeyName, status)
	case status == http.StatusTooManyRequests, status == 432, status == 433:
		// Tavily answers with 432 and 433 when a limit of the plan is reached.
		when := "later"
		if wait := untilReset(res.Header); wait > 0 {
			when = "in " + wait.String()
		}
		return fmt.Sprintf("accepts no more searches for now (status %d); search again %s, or choose another search_engine in [tools]", status, when)
	case status/100 == 3:
		return fmt.Sprintf("redirects to %q (status %d), which is not followed; %s", texts.ClipBytes(res.Header.Get("Location"), 300), status, e.check())
	}
	return fmt.Sprintf("answers with status %d; %s", status, e.check())
}

// wrongToken reports whether an answer means that Brave does not know the key: it answers with 422 and this code
// (https://github.com/bigmoostache/context-pilot/pull/191).
func wrongToken(status int, body []byte) bool {
	return status == http.StatusUnprocessableEntity && bytes.Contains(body, []byte("SUBSCRIPTION_TOKEN_INVALID"))
}

// untilReset returns how long an engine asks to wait, 0 if it does not say. Brave lists the remaining searches of each
// limit in X-RateLimit-Remaining and the seconds until its reset in X-RateLimit-Reset
// (https://api.search.brave.com/app/documentation/web-search/response-headers).
func untilReset(h http.Header) time.Duration {
	seconds := func(s string) int {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 0 || n > maxReset {
			return 0
		}
		return n
	}
	wait := seconds(h.Get("Retry-After"))
	left := strings.Split(h.Get("X-RateLimit-Remaining"), ",")
	for i, reset := range strings.Split(h.Get("X-RateLimit-Reset"), ",") {
		if i < len(left) && strings.TrimSpace(left[i]) == "0" {
			wait = max(wait, seconds(reset))
		}
	}
	return time.Duration(wait) * time.Second
}

// maxReset is the longest believed time until a reset, in seconds: a year.
const maxReset = 366 * 24 * 3600

// answer is the part of the engines' answers that is used. SearXNG and Tavily have results, Brave has web unless
// nothing was found (https://api.search.brave.com/app/documentation/web-search/responses).
type answer struct {
	Type    string    `json:"type"`
	Results *[]result `json:"results"`
	Web     *struct {
		Results []result `json:"results"`
	} `json:"web"`
}

type result struct {
	Title       string `json:"title"`
	URL         string `json:"url"`
	Content     string `json:"content"`     // of SearXNG and Tavily
	Description string `json:"description"` // of Brave
}

// parseHits returns at most the given number of results.
func parseHits(body []byte, most int) ([]Hit, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, errors.New("the answer is not the JSON of a search")
	}
	var found []result
	switch {
	case a.Results != nil:
		found = *a.Results
	case a.Web != nil:
		found = a.Web.Results
	case a.Type != "search":
		return nil, errors.New("the answer is not the JSON of a search")
	}
	var hits []Hit
	for _, r := range found {
		if hits = addHit(hits, r.Title, r.URL, cmp.Or(r.Content, r.Description)); len(hits) == most {
			break
		}
	}
	return hits, nil
}

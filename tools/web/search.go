package web

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"buddy/texts"

	"github.com/PuerkitoBio/goquery"
)

// DefaultHits is the maximum number of search results unless the options set another.
const DefaultHits = 8

const duckDuckGo = "https://html.duckduckgo.com/html/"

// Search configures the search engine.
type Search struct {
	Engine string // searxng, brave or tavily; anything else means DuckDuckGo's page without scripts
	URL    string // of the server, empty for the engine's own; SearXNG has none of its own
	Hits   int    // maximum number of results; 0 means DefaultHits
	// KeyName says where the key is stored, for errors.
	KeyName string
	// Key returns the key, empty if the engine needs none; its error says what is missing. A nil function means no key.
	// It is a function, so that no formatting of options prints the key.
	Key func() (string, error)
}

// Hit is one result of a search.
type Hit struct {
	Title   string
	URL     string
	Snippet string // may be empty
}

// ErrLayout means that the page of results was not understood: there may be results, and a later search may work.
var ErrLayout = errors.New("the page of results has an unknown layout; no results could be read")

// ErrChallenge means that the search engine demands proof that the user is human. Callers should wait, or search less
// often.
var ErrChallenge = errors.New("the search engine refuses automatic searches for now")

// SearchURL returns the URL that Search fetches. Its error names the missing setting, such as the engine's key.
func (c *Client) SearchURL(query string) (*url.URL, error) {
	if e, ok := engines[c.opts.Search.Engine]; ok {
		return c.engineURL(e, query)
	}
	base := c.opts.Search.URL
	if base == "" {
		base = duckDuckGo
	}
	return c.Check(base + "?" + url.Values{"q": {query}}.Encode())
}

// Search returns the results of a search; u is what SearchURL returned for the query. If it returns neither hits nor an
// error, there are no results.
func (c *Client) Search(ctx context.Context, u *url.URL, query string) ([]Hit, error) {
	if e, ok := engines[c.opts.Search.Engine]; ok {
		return c.askEngine(ctx, e, u, query)
	}
	page, err := c.Get(ctx, u)
	if err != nil {
		return nil, err
	}
	text, err := page.utf8()
	if err != nil {
		return nil, ErrLayout
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(text))
	if err != nil {
		return nil, ErrLayout
	}
	if doc.Find("#challenge-form, .anomaly-modal__modal, .anomaly-modal__title").Length() > 0 {
		return nil, ErrChallenge
	}
	hits := results(doc, c.opts.Search.Hits)
	if len(hits) == 0 {
		hits = bareLinks(doc, c.opts.Search.Hits)
	}
	switch {
	case len(hits) > 0:
		return hits, nil
	case page.Status/100 != 2:
		return nil, fmt.Errorf("%s answers with status %d", u.Host, page.Status)
	case doc.Find(".no-results, .result--no-result").Length() > 0:
		return nil, nil
	default:
		return nil, ErrLayout
	}
}

// results parses the known layout. most limits the results.
func results(doc *goquery.Document, most int) []Hit {
	var hits []Hit
	doc.Find(".result").Not(".result--ad").EachWithBreak(func(_ int, s *goquery.Selection) bool {
		link := s.Find("a.result__a").First()
		hits = add(hits, link, s.Find(".result__snippet").First().Text())
		return len(hits) < most
	})
	return hits
}

// bareLinks collects links to other sites from anywhere on the page, if they lead there through the search engine. most
// limits the links.
func bareLinks(doc *goquery.Document, most int) []Hit {
	var hits []Hit
	doc.Find(`a[href*="uddg="]`).EachWithBreak(func(_ int, link *goquery.Selection) bool {
		hits = add(hits, link, "")
		return len(hits) < most
	})
	return hits
}

// add appends a result of the page.
func add(hits []Hit, link *goquery.Selection, snippet string) []Hit {
	return addHit(hits, link.Text(), target(link.AttrOr("href", "")), snippet)
}

// addHit appends a result unless it lacks a title, its address is not a web page, or it is a duplicate.
func addHit(hits []Hit, title, address, snippet string) []Hit {
	title = texts.OneLine(title)
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || title == "" {
		return hits
	}
	address = u.String()
	if slices.ContainsFunc(hits, func(h Hit) bool { return h.URL == address }) {
		return hits
	}
	return append(hits, Hit{Title: title, URL: address, Snippet: texts.OneLine(snippet)})
}

// target returns the final destination of a link of the page of results, "" for an advertisement.
func target(href string) string {
	u, err := url.Parse(href)
	if err != nil {
		return ""
	}
	if to := u.Query().Get("uddg"); to != "" {
		if u, err = url.Parse(to); err != nil {
			return ""
		}
	}
	if u.Hostname() == "duckduckgo.com" && u.Path == "/y.js" {
		return ""
	}
	return u.String()
}

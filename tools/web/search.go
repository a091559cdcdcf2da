package web

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"buddy/texts"

	"github.com/PuerkitoBio/goquery"
)

// DefaultHits is the maximum number of search results unless the options set another.
const DefaultHits = 8

const duckDuckGo = "https://html.duckduckgo.com/html/"

// Hit is one result of a search.
type Hit struct {
	Title   string
	URL     string
	Snippet string // may be empty
}

// ErrLayout means that the page of results was not understood; there may be results. A later search may work.
var ErrLayout = errors.New("the page of results has an unknown layout; no results could be read")

// ErrChallenge means that the search engine demands proof that the user is human. Callers should wait, or search less
// often.
var ErrChallenge = errors.New("the search engine refuses automatic searches for now")

// SearchURL returns the URL that Search fetches.
func (c *Client) SearchURL(query string) (*url.URL, error) {
	base := c.opts.SearchURL
	if base == "" {
		base = duckDuckGo
	}
	return c.Check(base + "?" + url.Values{"q": {query}}.Encode())
}

// Search returns the results of the search engine at u, a URL of SearchURL. If it returns neither hits nor an error,
// there are no results.
func (c *Client) Search(ctx context.Context, u *url.URL) ([]Hit, error) {
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
	hits := results(doc, c.opts.Hits)
	if len(hits) == 0 {
		hits = bareLinks(doc, c.opts.Hits)
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

// bareLinks collects links that lead out through the search engine, anywhere on the page. most limits them.
func bareLinks(doc *goquery.Document, most int) []Hit {
	var hits []Hit
	doc.Find(`a[href*="uddg="]`).EachWithBreak(func(_ int, link *goquery.Selection) bool {
		hits = add(hits, link, "")
		return len(hits) < most
	})
	return hits
}

// add appends a result unless it is empty, an advertisement, or a duplicate.
func add(hits []Hit, link *goquery.Selection, snippet string) []Hit {
	target := target(link.AttrOr("href", ""))
	title := texts.OneLine(link.Text())
	if target == "" || title == "" {
		return hits
	}
	for _, h := range hits {
		if h.URL == target {
			return hits
		}
	}
	return append(hits, Hit{Title: title, URL: target, Snippet: texts.OneLine(snippet)})
}

// target returns the final destination of a link of the page of results, or "".
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
	host := u.Hostname()
	if u.Scheme != "http" && u.Scheme != "https" || host == "" || host == "duckduckgo.com" && u.Path == "/y.js" {
		return ""
	}
	return u.String()
}

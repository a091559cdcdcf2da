package web

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/PuerkitoBio/goquery"
)

// MaxHits is how many results a search gives.
const MaxHits = 8

const duckDuckGo = "https://html.duckduckgo.com/html/"

// Hit is one result of a search.
type Hit struct {
	Title   string
	URL     string
	Snippet string // may be empty
}

// ErrLayout says that the page of results was not understood, which is not the same as
// that there are none. Another search may work later.
var ErrLayout = errors.New("the page of results is not what it used to be; results could not be read")

// ErrChallenge says that the search engine wants to see a person. Wait, or search less.
var ErrChallenge = errors.New("the search engine refuses automatic searches for now")

// SearchURL returns what Search fetches.
func (c *Client) SearchURL(query string) (*url.URL, error) {
	base := c.opts.SearchURL
	if base == "" {
		base = duckDuckGo
	}
	return c.Check(base + "?" + url.Values{"q": {query}}.Encode())
}

// Search returns what the search engine finds at u, which is of SearchURL. No hits and
// no error mean that there is nothing.
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
	hits := results(doc)
	if len(hits) == 0 {
		hits = bareLinks(doc)
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

// results reads the layout that we know.
func results(doc *goquery.Document) []Hit {
	var hits []Hit
	doc.Find(".result").Not(".result--ad").EachWithBreak(func(_ int, s *goquery.Selection) bool {
		link := s.Find("a.result__a").First()
		hits = add(hits, link, s.Find(".result__snippet").First().Text())
		return len(hits) < MaxHits
	})
	return hits
}

// bareLinks reads links that lead away through the engine, wherever they stand.
func bareLinks(doc *goquery.Document) []Hit {
	var hits []Hit
	doc.Find(`a[href*="uddg="]`).EachWithBreak(func(_ int, link *goquery.Selection) bool {
		hits = add(hits, link, "")
		return len(hits) < MaxHits
	})
	return hits
}

// add appends a result unless it is none, an advertisement, or there already.
func add(hits []Hit, link *goquery.Selection, snippet string) []Hit {
	target := target(link.AttrOr("href", ""))
	title := strings.Join(strings.Fields(link.Text()), " ")
	if target == "" || title == "" {
		return hits
	}
	for _, h := range hits {
		if h.URL == target {
			return hits
		}
	}
	return append(hits, Hit{Title: title, URL: target, Snippet: strings.Join(strings.Fields(snippet), " ")})
}

// target returns where a link of the page of results leads in the end, or "".
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

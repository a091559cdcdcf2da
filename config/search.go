package config

import (
	"errors"
	"fmt"
)

// The search engines of web_search.
const (
	DuckDuckGo = "duckduckgo"

	searXNG = "searxng"
	brave   = "brave"
	tavily  = "tavily"
)

// Search holds the settings of web searches.
type Search struct {
	Engine string
	URL    string // of the SearXNG server
	KeyEnv string // variable with the key; "" means the engine's usual one
	Hits   int    // maximum number of results
}

// searchKeys has, by engine, the usual variable with its key, and where people get a key.
var searchKeys = map[string]struct{ variable, page string }{
	brave:  {"BRAVE_API_KEY", "https://api-dashboard.search.brave.com"},
	tavily: {"TAVILY_API_KEY", "https://app.tavily.com"},
}

// KeyName returns the variable with the engine's key, "" if the engine has no keys.
func (s Search) KeyName() string {
	usual, ok := searchKeys[s.Engine]
	if ok && s.KeyEnv != "" {
		return s.KeyEnv
	}
	return usual.variable
}

// Server returns the address of the person's own server, "" for the other engines: they have only one address, so
// search_url can't send their key elsewhere.
func (s Search) Server() string {
	if s.Engine != searXNG {
		return ""
	}
	return s.URL
}

// Key returns the key from the environment, empty if the engine has no keys. The error says what the engine lacks: its
// address or a valid key.
func (s Search) Key() (string, error) {
	if s.Engine == searXNG && s.URL == "" {
		return "", errors.New(`the search engine searxng has no address: set search_url in [tools], such as "http://localhost:8888"`)
	}
	name := s.KeyName()
	if name == "" {
		return "", nil
	}
	key := keyOf(name)
	if key == "" {
		return "", fmt.Errorf("the search engine %s has no key: set the variable %s to a key from %s and start buddy again", s.Engine, name, searchKeys[s.Engine].page)
	}
	key, err := cleanKey(key)
	if err != nil {
		return "", fmt.Errorf("the search engine %s: the key in %s %w; set it again and restart buddy", s.Engine, name, err)
	}
	return key, nil
}

// orEmpty returns a check that also accepts "", the default.
func orEmpty(check func(string, *file) (string, error)) func(string, *file) (string, error) {
	return func(v string, f *file) (string, error) {
		if v == "" {
			return "", nil
		}
		return check(v, f)
	}
}

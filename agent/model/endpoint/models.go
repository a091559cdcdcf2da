package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// ErrKey means that the server refused the request because of a missing or wrong key.
var ErrKey = errors.New("the server needs a valid API key")

// Models asks a server for its models, for at most listWait. The names are untrusted. The error is ErrKey if the key is
// missing or wrong.
func Models(ctx context.Context, c Config) ([]string, error) {
	e, err := New(c)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.base+"/models", http.NoBody)
	if err != nil {
		return nil, withoutURL(err)
	}
	switch {
	case c.Key == "":
	case c.API == "anthropic":
		req.Header.Set("X-Api-Key", c.Key)
	default:
		req.Header.Set("Authorization", "Bearer "+c.Key)
	}
	if c.API == "anthropic" {
		req.Header.Set("Anthropic-Version", "2023-06-01")
	}
	return e.list(req)
}

// list sends a request for the list of models.
func (e *Endpoint) list(req *http.Request) ([]string, error) {
	e.dress(req)
	resp, err := e.client.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // its URL may hold a password
		}
		return nil, fmt.Errorf("%s could not be reached: %w", e.shown, err)
	}
	defer func() { _ = resp.Body.Close() }() // it was read, or is not needed
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, ErrKey
	default:
		return nil, fmt.Errorf("%s lists no models: %s", e.shown, http.StatusText(resp.StatusCode))
	}
	var list struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(io.LimitReader(resp.Body, listLimit)).Decode(&list); err != nil {
		return nil, fmt.Errorf("%s lists no models: its answer is not JSON", e.shown)
	}
	var names []string
	for _, m := range list.Data {
		if m.ID != "" {
			names = append(names, m.ID)
		}
	}
	return names, nil
}

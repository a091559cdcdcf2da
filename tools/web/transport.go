package web

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Transport returns a round tripper for requests other than those of Get. It connects to public addresses, and to the
// hosts in local, which the user has configured and which may be on this machine or in the local network. It reuses
// connections and sets no limits of time or size.
func (c *Client) Transport(local ...string) http.RoundTripper {
	return &guarded{local: local, next: withScheme{&http.Transport{
		DialContext: c.dial, ForceAttemptHTTP2: true, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: maxHeader,
	}}}
}

// guarded marks requests to hosts that may be local.
type guarded struct {
	local []string
	next  http.RoundTripper
}

func (g *guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	host := r.URL.Hostname()
	if slices.ContainsFunc(g.local, func(l string) bool { return strings.EqualFold(l, host) }) {
		r = r.WithContext(context.WithValue(r.Context(), localKey{}, host))
	}
	return g.next.RoundTrip(r)
}

package endpoint

import (
	"net/http"
	"net/url"
)

// SetProxy replaces what the environment says, which the standard library reads only once.
func (e *Endpoint) SetProxy(proxy func(*http.Request) (*url.URL, error)) {
	e.client.Transport.(*http.Transport).Proxy = proxy
}

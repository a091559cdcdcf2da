// Package proxies chooses the proxy for a URL from the environment. Unlike net/http, it also supports ALL_PROXY, as
// curl and most other programs do.
//
//	transport := &http.Transport{Proxy: proxies.ForRequest(proxies.FromEnvironment())}
//
// A URL's proxy is HTTPS_PROXY or HTTP_PROXY, depending on its scheme, otherwise ALL_PROXY; none is used for this
// machine and hosts in NO_PROXY. The names may be in lower case. Proxies are URLs with http, https, socks5 or
// socks5h.
package proxies

import (
	"cmp"
	"net/http"
	"net/url"
	"os"
	"slices"

	"golang.org/x/net/http/httpproxy"
)

// Variables lists the names of the variables, for display.
const Variables = "HTTPS_PROXY, HTTP_PROXY or ALL_PROXY"

// FromEnvironment reads the environment once and returns a function that returns the proxy for a URL, nil for none.
func FromEnvironment() func(*url.URL) (*url.URL, error) {
	c := httpproxy.FromEnvironment()
	all := cmp.Or(os.Getenv("ALL_PROXY"), os.Getenv("all_proxy"))
	c.HTTPProxy, c.HTTPSProxy = cmp.Or(c.HTTPProxy, all), cmp.Or(c.HTTPSProxy, all)
	return c.ProxyFunc()
}

// ForRequest converts a function such as the one from FromEnvironment for [http.Transport].
func ForRequest(of func(*url.URL) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) { return of(r.URL) }
}

// Known reports whether a proxy has a supported protocol.
func Known(proxy *url.URL) bool {
	return slices.Contains([]string{"http", "https", "socks5", "socks5h"}, proxy.Scheme)
}

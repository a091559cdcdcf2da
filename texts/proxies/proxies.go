// Package proxies reads from the environment which proxy a URL is reached through: HTTPS_PROXY or HTTP_PROXY, else
// ALL_PROXY, and none for the hosts in NO_PROXY and on this machine. Each may also be written in small letters.
//
//	transport := &http.Transport{Proxy: proxies.ForRequest(proxies.FromEnvironment())}
//
// It is what net/http has, with ALL_PROXY, which curl and most other programs read. Proxies are URLs with http, https,
// socks5 or socks5h.
package proxies

import (
	"cmp"
	"net/http"
	"net/url"
	"os"
	"slices"

	"golang.org/x/net/http/httpproxy"
)

// Variables names them, for what people are told.
const Variables = "HTTPS_PROXY, HTTP_PROXY or ALL_PROXY"

// FromEnvironment returns a function that returns the proxy for a URL, nil for none. It reads the environment once, now.
func FromEnvironment() func(*url.URL) (*url.URL, error) {
	c := httpproxy.FromEnvironment()
	all := cmp.Or(os.Getenv("ALL_PROXY"), os.Getenv("all_proxy"))
	c.HTTPProxy, c.HTTPSProxy = cmp.Or(c.HTTPProxy, all), cmp.Or(c.HTTPSProxy, all)
	return c.ProxyFunc()
}

// ForRequest makes of such a function what [http.Transport] takes.
func ForRequest(of func(*url.URL) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) { return of(r.URL) }
}

// Known reports whether a proxy is of a kind that can be spoken to.
func Known(proxy *url.URL) bool {
	return slices.Contains([]string{"http", "https", "socks5", "socks5h"}, proxy.Scheme)
}

package doctor

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"buddy/config"
	"buddy/texts/proxies"
)

// checkNetwork lists the proxies on the way to servers, and reports missing files of certificate authorities.
func checkNetwork(getenv func(string) string) Finding {
	for name, paths := range map[string][]string{"SSL_CERT_FILE": {getenv("SSL_CERT_FILE")}, "SSL_CERT_DIR": filepath.SplitList(getenv("SSL_CERT_DIR"))} {
		for _, path := range paths {
			if path == "" {
				continue
			}
			if _, err := os.Stat(path); err != nil {
				return Finding{"network", Weak, fmt.Sprintf("%s: %v: servers' certificates can't be checked", name, err), "set it to an existing file or folder, or unset " + name}
			}
		}
	}
	through := proxies.FromEnvironment()
	var all []string
	for _, scheme := range []string{"https", "http"} {
		at, err := through(&url.URL{Scheme: scheme, Host: "example.com"})
		switch {
		case err == nil && at == nil:
		case err != nil || !proxies.Known(at): // the error's text may hold a password
			return Finding{"network", Broken, "the proxy for " + scheme + " is not a URL with http, https, socks5 or socks5h", "check " + proxies.Variables}
		default:
			all = append(all, fmt.Sprintf("%s through %s://%s", scheme, at.Scheme, at.Host))
		}
	}
	if all == nil {
		return Finding{"network", Fine, "no proxy", ""}
	}
	return Finding{"network", Fine, "proxies: " + strings.Join(all, ", "), ""}
}

// checkSearch says which search engine is used and whether it lacks its address or key. It makes no request.
func checkSearch(s config.Search) Finding {
	if _, err := s.Key(); err != nil {
		return Finding{"web search", Broken, err.Error(), ""}
	}
	if at := s.Server(); at != "" {
		return Finding{"web search", Fine, s.Engine + " at " + at, ""}
	}
	return Finding{"web search", Fine, s.Engine, ""}
}

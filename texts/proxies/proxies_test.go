package proxies

import (
	"net/url"
	"testing"
)

func TestProxyOfTheEnvironment(t *testing.T) {
	for _, tt := range []struct {
		name, to, want string
		env            map[string]string
	}{
		{"none", "https://example.com", "", nil},
		{"for https", "https://example.com", "http://a:1", map[string]string{"HTTPS_PROXY": "http://a:1", "HTTP_PROXY": "http://b:1", "ALL_PROXY": "http://c:1"}},
		{"for http", "http://example.com", "http://b:1", map[string]string{"HTTPS_PROXY": "http://a:1", "HTTP_PROXY": "http://b:1", "ALL_PROXY": "http://c:1"}},
		{"for all", "https://example.com", "socks5://c:1", map[string]string{"ALL_PROXY": "socks5://c:1"}},
		{"for all, in small letters", "http://example.com", "socks5h://c:1", map[string]string{"all_proxy": "socks5h://c:1"}},
		{"without a scheme", "https://example.com", "http://c:1", map[string]string{"ALL_PROXY": "c:1"}},
		{"but for a host", "https://in.example.com", "", map[string]string{"ALL_PROXY": "http://c:1", "NO_PROXY": "example.com"}},
		{"this machine", "http://127.0.0.1:8080", "", map[string]string{"ALL_PROXY": "http://c:1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"} {
				t.Setenv(name, tt.env[name])
			}
			to, err := url.Parse(tt.to)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if p, err := FromEnvironment()(to); err != nil {
				t.Fatal(err)
			} else if p != nil {
				got = p.String()
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

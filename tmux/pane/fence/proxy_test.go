package fence

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"buddy/texts"
	"buddy/tmux/pane/fence/inside"
)

func TestAddressesOfTheInternet(t *testing.T) {
	for text, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700:4700::1111": true, "::ffff:8.8.8.8": true,
		"127.0.0.1": false, "127.9.9.9": false, "0.0.0.0": false, "10.0.0.1": false, "172.16.3.4": false, "192.168.1.1": false, "169.254.169.254": false,
		"100.64.0.1": false, "192.0.0.8": false, "198.18.0.1": false, "224.0.0.1": false, "240.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "::ffff:127.0.0.1": false, "::7f00:1": false, "fe80::1": false, "fe80::1%eth0": false, "fd00::1": false, "fec0::1": false, "ff02::1": false,
		"64:ff9b::7f00:1": false, "2002:7f00:1::": false, "2001:0:7f00::1": false,
	} {
		if got := public(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: public %v, want %v", text, got, want)
		}
	}
}

// testProxy is a proxy with a table of names, whose connections all lead to one server.
func testProxy(t *testing.T, server string, hosts ...string) *httptest.Server {
	t.Helper()
	p := newProxy(hosts, internet)
	p.lookup = func(_ context.Context, _, host string) ([]netip.Addr, error) {
		at, ok := map[string]string{"good.example.com": "8.8.8.8", "inner.example.com": "127.0.0.1", "cloud.example.com": "169.254.169.254"}[strings.ToLower(host)]
		if !ok {
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}
		return []netip.Addr{netip.MustParseAddr(at)}, nil
	}
	p.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if !strings.HasPrefix(address, "8.8.8.8:") {
			t.Errorf("connected to %s", address)
		}
		return new(net.Dialer).DialContext(ctx, network, server)
	}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return s
}

// TestProxyPassesListedNames: plain requests and CONNECT reach only a listed name at an internet address.
func TestProxyPassesListedNames(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "hello "+r.Host) }))
	t.Cleanup(server.Close)
	at := strings.TrimPrefix(server.URL, "http://")
	proxy := testProxy(t, at, "good.example.com", "inner.example.com", "*.example.com")
	there, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(there), DisableKeepAlives: true}}
	for address, want := range map[string]string{
		"http://good.example.com/": "hello good.example.com", "http://GOOD.example.com:80/": "hello",
		"http://inner.example.com/": "has no public internet address", "http://cloud.example.com/": "no public internet address",
		"http://bad.example.org/": "is not among allow_hosts", "http://example.com/": "is not among allow_hosts", "http://evilexample.com/": "is not among allow_hosts",
		"http://good.example.com:22/": "only 443 and 80", "http://127.0.0.1:80/": "is not among allow_hosts", "http://[::1]/": "is not among allow_hosts",
	} {
		res, err := client.Get(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if !strings.Contains(string(body), want) {
			t.Errorf("%s: %d %s, want %q", address, res.StatusCode, body, want)
		}
	}
	for address, want := range map[string]int{"good.example.com:443": 200, "inner.example.com:443": 403, "bad.example.org:443": 403, "8.8.8.8:443": 403} {
		c, err := net.Dial("tcp", there.Host)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, "CONNECT "+address+" HTTP/1.1\r\nHost: "+address+"\r\n\r\n")
		in := bufio.NewReader(c)
		res, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect})
		if err != nil || res.StatusCode != want {
			t.Errorf("CONNECT %s: %v, %v; want %d", address, res, err, want)
		}
		if want == http.StatusOK { // the server's response is passed through
			_, _ = io.WriteString(c, "GET / HTTP/1.0\r\nHost: through\r\n\r\n")
			if b, _ := io.ReadAll(in); !strings.Contains(string(b), "hello through") {
				t.Errorf("through the tunnel: %s", b)
			}
		}
		_ = c.Close()
	}
}

// On macOS the proxy's port is visible on the whole machine: only requests with the command's password are served, and
// programs send it because it is in the proxy address of their environment.
func TestProxyWithPassword(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "hello"+r.Header.Get("Proxy-Authorization"))
	}))
	t.Cleanup(server.Close)
	at := strings.TrimPrefix(server.URL, "http://")
	served := testProxy(t, at, "good.example.com")
	served.Config.Handler.(*proxy).word = "w0rd"
	for user, want := range map[string]string{"": "407 ", proxyUser + ":wrong@": "407 ", proxyUser + ":w0rd@": "200 hello"} {
		env := inside.Through([]string{"HTTP_PROXY=http://old"}, user+strings.TrimPrefix(served.URL, "http://"))
		there, err := url.Parse(texts.Lookup(env)("HTTP_PROXY"))
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(there), DisableKeepAlives: true}}
		r, err := client.Get("http://good.example.com/")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if got := r.Status[:4] + string(body); err != nil || !strings.HasPrefix(got, want) || strings.Contains(got, "Basic ") {
			t.Errorf("%q: %v %q", user, err, got)
		}
	}
}

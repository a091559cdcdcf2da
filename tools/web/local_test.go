package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"buddy/tools"
	"buddy/tools/toolstest"

	"buddy/texts/proxies/proxiestest"
)

// Which addresses a person may approve as local, and which are refused without a question.
func TestCheckLocal(t *testing.T) {
	c := NewClient(Options{})
	for raw, want := range map[string]string{
		"https://go.dev/":                  "",
		"http://localhost:8080/":           "localhost is a name of the local network",
		"http://127.0.0.1:8080/":           "this machine",
		"http://[::1]/":                    "this machine",
		"http://10.1.2.3/":                 "private",
		"http://[fd00::1]/":                "private",
		"http://printer.local/":            "a name of the local network",
		"http://169.254.169.254/":          "refused",
		"http://[fd00:ec2::254]/":          "refused",
		"http://100.100.100.200/":          "refused",
		"http://168.63.129.16/":            "refused",
		"http://metadata.google.internal/": "refused",
		"http://2130706433/":               "refused",
		"http://127.1/":                    "refused",
		"http://0.0.0.0/":                  "refused",
		"http://[64:ff9b::7f00:1]/":        "refused",
		"http://[2002:a00:1::]/":           "refused",
		"http://224.0.0.1/":                "refused",
	} {
		_, local, err := c.CheckLocal(raw)
		switch {
		case want == "refused" && err == nil, want != "refused" && err != nil, want == "" && local != nil:
			t.Errorf("CheckLocal(%s) = %v, %v, want %q", raw, local, err, want)
		case want != "" && want != "refused" && (local == nil || !strings.Contains(local.Error(), want)):
			t.Errorf("CheckLocal(%s) = %v, want %q", raw, local, want)
		}
		if _, err := c.Check(raw); (err == nil) != (want == "") {
			t.Errorf("Check(%s) = %v", raw, err)
		}
	}
}

// An approved local address is fetched, marked as local in the plan, and does not redirect to another host; without the
// approval the dialler refuses it.
func TestGetLocal(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the other server was asked") }))
	defer other.Close()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/other":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/metadata":
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
		case "/same":
			http.Redirect(w, r, "/", http.StatusFound)
		default:
			fmt.Fprint(w, "the server under development")
		}
	}))
	defer srv.Close()
	c := NewClient(Options{})
	b := toolstest.Bench{T: t, Tools: tools.NewRegistry(NewFetchURL(c))}
	call, problem := b.Plan("fetch_url", toolstest.Args{"url": srv.URL})
	if act := call.Planned; problem != "" || !act.Local || act.Host != "127.0.0.1" || !strings.Contains(act.Preview, "the address 127.0.0.1 is not public: this machine") {
		t.Errorf("Plan = %+v, %s", act, problem)
	}
	for path, want := range map[string]string{"/": "the server under development", "/same": "the server under development", "/other": "which was not followed"} {
		if got := b.OK("fetch_url", toolstest.Args{"url": srv.URL + path}); !strings.Contains(fmt.Sprint(got), want) {
			t.Errorf("%s = %v, want %q", path, got, want)
		}
	}
	b.Fails("fetch_url", toolstest.Args{"url": srv.URL + "/metadata"}, "the address 169.254.169.254 is not public")
	u, _ := url.Parse(srv.URL)
	if _, err := c.Get(t.Context(), u); err == nil || !strings.Contains(err.Error(), "is not public: this machine") {
		t.Errorf("without an approval: %v", err)
	}
}

// The approval of a name covers only the addresses that such a name may have.
func TestLocalNamesHaveLocalAddresses(t *testing.T) {
	c := NewClient(Options{})
	for _, tt := range []struct {
		host, address string
		want          bool
	}{
		{"localhost", "127.0.0.1:80", true},
		{"localhost", "10.0.0.1:80", false},
		{"printer.local", "10.0.0.1:80", true},
		{"printer.local", "127.0.0.1:80", false},
		{"printer.local", "169.254.169.254:80", false},
		{"10.0.0.1", "10.0.0.1:80", true},
		{"", "10.0.0.1:80", false},
	} {
		if err := c.checkDial(tt.address, tt.host); (err == nil) != tt.want {
			t.Errorf("%s at %s: %v", tt.host, tt.address, err)
		}
	}
}

// A proxy gets the checked address, and never a name that leads to the local network or can't be looked up.
func TestProxy(t *testing.T) {
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth()
		asked = append(asked, r.Method+" "+r.Host+" "+user+":"+password)
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close() //nolint:errcheck // the answer is out
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\n\r\n")
		if r, err := http.ReadRequest(rw.Reader); err == nil && r.Host == "site.example.com" {
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nby the proxy")
		}
	}))
	defer proxy.Close()
	through := func(*url.URL) (*url.URL, error) {
		u, err := url.Parse(proxy.URL)
		u.User = url.UserPassword("ann", "s3cret")
		return u, err
	}
	for _, tt := range []struct {
		raw    string
		answer [4]byte
		want   string
		asked  string
	}{
		{"http://site.example.com/", [4]byte{93, 184, 215, 14}, "by the proxy", "CONNECT 93.184.215.14:80 ann:s3cret"},
		{"http://site.example.com/", [4]byte{10, 0, 0, 1}, "the address 10.0.0.1 is not public: private", ""},
		{"https://site.example.com/", [4]byte{169, 254, 169, 254}, "is not public: local to the link", ""},
	} {
		asked = nil
		c := NewClient(Options{Proxy: through})
		c.dialer.Resolver = nameServer(t, tt.answer)
		page, err := get(t, c, tt.raw)
		if got := string(page.Body) + fmt.Sprint(err); !strings.Contains(got, tt.want) || strings.Join(asked, " ") != tt.asked || strings.Contains(got, "s3cret") {
			t.Errorf("%s at %s: %s, the proxy was asked for %q", tt.raw, netip.AddrFrom4(tt.answer), got, asked)
		}
	}
	// Approved local hosts bypass the proxy.
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "direct") }))
	defer srv.Close()
	asked = nil
	u, _ := url.Parse(srv.URL)
	if page, err := NewClient(Options{Proxy: through}).GetLocal(t.Context(), u); err != nil || string(page.Body) != "direct" || asked != nil {
		t.Errorf("local: %s, %v, %q", page.Body, err, asked)
	}
	ftp := func(*url.URL) (*url.URL, error) { return url.Parse("ftp://ann:s3cret@proxy.example:1080") }
	if _, err := get(t, NewClient(Options{Proxy: ftp}), "https://go.dev/"); err == nil || !strings.Contains(err.Error(), `the proxy proxy.example:1080 is of the kind "ftp"`) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("ftp: %v", err)
	}
}

// A SOCKS proxy also gets the checked address.
func TestSocksProxy(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "by the proxy") }))
	defer site.Close()
	for _, tt := range []struct {
		name, to string
		answer   [4]byte
		want     string
		asked    []string
	}{
		{"a public address", site.Listener.Addr().String(), [4]byte{93, 184, 215, 14}, "by the proxy<nil>", []string{"93.184.215.14:80 ann:s3cret"}},
		{"a private address", site.Listener.Addr().String(), [4]byte{10, 0, 0, 1}, "the address 10.0.0.1 is not public: private", nil},
		{"refused", "", [4]byte{93, 184, 215, 14}, "connection refused", []string{"93.184.215.14:80 ann:s3cret"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			proxy := proxiestest.Socks(t, tt.to)
			c := NewClient(Options{Proxy: func(*url.URL) (*url.URL, error) { return url.Parse("socks5h://ann:s3cret@" + proxy.Addr) }})
			c.dialer.Resolver = nameServer(t, tt.answer)
			page, err := get(t, c, "http://site.example.com/")
			if got := string(page.Body) + fmt.Sprint(err); !strings.Contains(got, tt.want) || !slices.Equal(proxy.Asked(), tt.asked) || strings.Contains(got, "s3cret") {
				t.Errorf("%s, the proxy was asked for %q", got, proxy.Asked())
			}
		})
	}
}

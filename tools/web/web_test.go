package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

func TestCheck(t *testing.T) {
	tests := []struct{ raw, want, err string }{
		{"https://go.dev/doc/#top", "https://go.dev/doc/", ""},
		{"http://EXAMPLE.com.:8080/a?b=c", "http://example.com:8080/a?b=c", ""},
		{"https://bücher.example/", "https://xn--bcher-kva.example/", ""},
		{"https://[2606:4700::1111]:8443/", "https://[2606:4700::1111]:8443/", ""},
		{"https://8.8.8.8", "https://8.8.8.8", ""},
		{"https://a.ok.example/", "https://a.ok.example/", ""},

		{"ftp://example.com/", "", "must begin with https:// or http://"},
		{"file:///etc/passwd", "", "must begin with https://"},
		{"example.com", "", "must begin with https://"},
		{"http:example.com", "", "has no host"},
		{"https:///x", "", "has no host"},
		{"https://u:p@example.com/", "", "with a name or password in it"},
		{"https://exa mple.com/", "", "a space or a control character"},
		{"https://example.com/\x1b[2J", "", "a space or a control character"},
		{"https://example.com:99999/", "", "has the port 99999"},
		{"https://example.com:0/", "", "has the port 0"},
		{"https://" + strings.Repeat("a", maxURL), "", "longer than 4000 bytes"},
		{"https://ex_ample!.com/", "", "is not the name of a host"},

		{"http://localhost/", "", "a name of the local network"},
		{"http://LOCALHOST./", "", "a name of the local network"},
		{"http://a.localhost/", "", "a name of the local network"},
		{"http://printer.local/", "", "a name of the local network"},
		{"http://metadata.google.internal/", "", "a name of the local network"},
		{"http://127.0.0.1/", "", "this machine"},
		{"http://127.8.8.8/", "", "this machine"},
		{"http://127.1/", "", "an address in an unusual form"},
		{"http://2130706433/", "", "an address in an unusual form"},
		{"http://0x7f000001/", "", "an address in an unusual form"},
		{"http://0177.0.0.1/", "", "an address in an unusual form"},
		{"http://0.0.0.0/", "", "unspecified"},
		{"http://0.1.2.3/", "", "unspecified"},
		{"http://10.0.0.1/", "", "private"},
		{"http://172.16.3.4/", "", "private"},
		{"http://192.168.1.1/", "", "private"},
		{"http://169.254.169.254/latest/meta-data", "", "local to the link"},
		{"http://168.63.129.16/", "", "metadata"},
		{"http://100.100.100.200/", "", "shared by a provider's customers"},
		{"http://224.0.0.1/", "", "local to the link"},
		{"http://239.1.1.1/", "", "multicast"},
		{"http://255.255.255.255/", "", "reserved"},
		{"http://192.0.0.192/", "", "reserved"},
		{"http://[::1]/", "", "this machine"},
		{"http://[::]/", "", "unspecified"},
		{"http://[fe80::1]/", "", "local to the link"},
		{"http://[fe80::1%25eth0]/", "", "has a zone"},
		{"http://[fd00:ec2::254]/", "", "metadata"},
		{"http://[ff02::1]/", "", "local to the link"},
		{"http://[::ffff:127.0.0.1]/", "", "this machine"},
		{"http://[::ffff:10.0.0.1]/", "", "private"},
		{"http://[::127.0.0.1]/", "", "reserved"},
		{"http://[64:ff9b::7f00:1]/", "", "this machine"},
		{"http://[2002:a00:1::]/", "", "private"},
		{"http://[2001:0:1::1]/", "", "reserved"},
	}
	c := NewClient(Options{})
	for _, tt := range tests {
		u, err := c.Check(tt.raw)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("Check(%.100q) = %v, %v, want error %q", tt.raw, u, err, tt.err)
			}
			continue
		}
		if err != nil || u.String() != tt.want {
			t.Errorf("Check(%q) = %v, %v, want %s", tt.raw, u, err, tt.want)
		}
	}
}

// No form of an address that is not public gets through.
func FuzzCheckAddr(f *testing.F) {
	f.Add([]byte{127, 0, 0, 1})
	f.Add([]byte{10, 1, 2, 3})
	f.Add([]byte{8, 8, 8, 8})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) != 4 {
			return
		}
		v4 := netip.AddrFrom4([4]byte(raw))
		c := NewClient(Options{})
		want := c.checkAddr(v4) == nil
		if want && (v4.IsPrivate() || v4.IsLoopback() || v4.IsMulticast() || v4.IsLinkLocalUnicast() || v4.IsUnspecified()) {
			t.Errorf("%s is allowed", v4)
		}
		mapped := netip.AddrFrom16(v4.As16())
		nat := netip.MustParseAddr(fmt.Sprintf("64:ff9b::%02x%02x:%02x%02x", raw[0], raw[1], raw[2], raw[3]))
		for _, other := range []netip.Addr{mapped, nat} {
			if got := c.checkAddr(other) == nil; got != want {
				t.Errorf("%s is allowed: %v, %s: %v", v4, want, other, got)
			}
		}
	})
}

// serve starts a server and returns a client that may fetch from it.
func serve(t *testing.T, o Options, h http.HandlerFunc) (*Client, string) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	o.Loopback = true
	return NewClient(o), srv.URL
}

func get(t *testing.T, c *Client, raw string) (Page, error) {
	t.Helper()
	u, err := c.Check(raw)
	if err != nil {
		t.Fatal(err)
	}
	return c.Get(t.Context(), u)
}

func TestGetRedirects(t *testing.T) {
	c, base := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		to := map[string]string{
			"/same": "/end", "/loop": "/loop", "/other": "http://other.example/x", "/private": "http://10.0.0.1/",
			"/file": "file:///etc/passwd", "/port": "http://127.0.0.1:1/", "/user": "http://a:b@other.example/",
		}[r.URL.Path]
		if to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		fmt.Fprint(w, "the end")
	})
	tests := []struct{ path, body, location, err string }{
		{"/same", "the end", "", ""},
		{"/other", "", "http://other.example/x", ""},
		{"/port", "", "http://127.0.0.1:1/", ""},
		{"/loop", "", "", "more than 5 redirections"},
		{"/private", "", "", "private"},
		{"/file", "", "", "must begin with https://"},
		{"/user", "", "", "with a name or password"},
	}
	for _, tt := range tests {
		page, err := get(t, c, base+tt.path)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("Get(%s) = %+v, %v, want error %q", tt.path, page, err, tt.err)
			}
			continue
		}
		if err != nil || page.Location != tt.location || tt.body != "" && string(page.Body) != tt.body {
			t.Errorf("Get(%s) = %+v, %v", tt.path, page, err)
		}
	}
	if page, err := get(t, c, base+"/same"); err != nil || page.URL != base+"/end" {
		t.Errorf("Get = %+v, %v", page, err)
	}
}

func TestSameSite(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{"http://a.example/", "https://a.example/x", true},
		{"http://a.example/", "https://www.a.example/", true},
		{"http://www.a.example:80/", "http://a.example/", true},
		{"https://a.example/", "http://a.example/", false},
		{"https://a.example/", "https://b.example/", false},
		{"https://a.example/", "https://b.a.example/", false},
		{"https://a.example/", "https://a.example:8443/", false},
	}
	for _, tt := range tests {
		a, _ := url.Parse(tt.a)
		b, _ := url.Parse(tt.b)
		if got := sameSite(a, b); got != tt.want {
			t.Errorf("sameSite(%s, %s) = %v", tt.a, tt.b, got)
		}
	}
}

// nameServer answers every question with one address.
func nameServer(t *testing.T, answer [4]byte) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) == 0 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.Additionals = true, nil
			if q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type}, Body: &dnsmessage.AResource{A: answer},
				}}
			}
			if out, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(out, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// A public name with a private address is refused when it is dialled.
func TestRebinding(t *testing.T) {
	for _, addr := range [][4]byte{{127, 0, 0, 1}, {10, 0, 0, 1}, {169, 254, 169, 254}, {0, 0, 0, 0}} {
		c := NewClient(Options{})
		c.dialer.Resolver = nameServer(t, addr)
		_, err := get(t, c, "http://rebind.example.com/")
		if err == nil || !strings.Contains(err.Error(), "is not public") || !strings.HasPrefix(err.Error(), "rebind.example.com: ") {
			t.Errorf("%v: %v", addr, err)
		}
	}
}

func TestGetIsBounded(t *testing.T) {
	c, base := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			zeros := make([]byte, 1<<20)
			for range 100 {
				if _, err := z.Write(zeros); err != nil {
					return
				}
			}
			_ = z.Close()
		case "/exact":
			_, _ = w.Write(bytes.Repeat([]byte("x"), MaxBody))
		case "/header":
			w.Header().Set("X", strings.Repeat("x", 2*maxHeader))
		case "/reset":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("some"))
		case "/gone":
			http.Error(w, "not here", http.StatusNotFound)
		}
	})
	if page, err := get(t, c, base+"/bomb"); err != nil || len(page.Body) != MaxBody || !page.Cut {
		t.Errorf("bomb: %d bytes, %v, %v", len(page.Body), page.Cut, err)
	}
	if page, err := get(t, c, base+"/exact"); err != nil || len(page.Body) != MaxBody || page.Cut {
		t.Errorf("exact: %d bytes, %v, %v", len(page.Body), page.Cut, err)
	}
	if _, err := get(t, c, base+"/header"); err == nil {
		t.Error("a long header was read")
	}
	if _, err := get(t, c, base+"/reset"); err == nil || !strings.Contains(err.Error(), "after 4 bytes: unexpected EOF") {
		t.Errorf("reset: %v", err)
	}
	if page, err := get(t, c, base+"/gone"); err != nil || page.Status != 404 || string(page.Body) != "not here\n" {
		t.Errorf("gone: %+v, %v", page, err)
	}
}

func TestGetTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClient(Options{})
		c.http.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		if _, err := get(t, c, "https://slow.example/"); err == nil || err.Error() != "slow.example: no whole answer within 20s" {
			t.Errorf("Get = %v", err)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestText(t *testing.T) {
	const html = `<!doctype html><html><head><title>A
 Page</title><style>p{}</style><script>alert(1)</script></head><body>
<h2>Part</h2><p>One <b>two</b> <a href="/x?y=1">link</a> <a href="next">n</a> <a href="//c.example/">c</a><img src="data:image/png;base64,AAAA"></p>
<pre><code class="language-go">x := 1 &lt; 2
</code></pre><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table><noscript>no</noscript></body></html>`
	tests := []struct{ name, kind, body, want string }{
		{"html", "text/html; charset=utf-8", html, "# A Page\n\n## Part\n\nOne **two** [link](https://h.example/x?y=1) [n](https://h.example/dir/next) [c](https://c.example/)\n\n```go\nx := 1 < 2\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"},
		{"lists", "text/html", "<p>x</p><ul><li>a<li><p>b <b> </b><i>c </i>d</p><ol><li>e<li>f<br>g</ol><li><ul><li>h</ul></ul>y", "x\n\n- a\n\n- b *c* d\n  1. e\n  2. f\n     g\n- - h\n\ny\n"},
		{"spaces that do not break", "text/html", "<b>Price:</b>&nbsp;5 EUR, 10&nbsp;<i>km</i>, <i>a</i>&#x3000;<i>b</i>", "**Price:** 5 EUR, 10 *km*, *a* *b*\n"},
		{"quote", "text/html", "a<blockquote><p>b<p>c</blockquote>d", "a\n\n> b\n>\n> c\n\nd\n"},
		{"layout table", "text/html", "<table><tr><td>a<table><tr><td>b|c</td></tr></table></td><td>d</td></tr></table>", "a\n\n| b\\|c |\n|---|\n\nd\n"},
		{"nothing in it", "text/html", "<h2></h2><b></b><a href=x><img src=y></a><ul><li></ul>z", "z\n"},
		{"links", "text/html", "<a href='javascript:x'>j</a> <a href='#top'>t</a> <a href='mailto:a@b'>m</a> <img alt='an image' src='/i.png'>", "j t [m](mailto:a@b) ![an image](https://h.example/i.png)\n"},
		{"html without a type", "", "<html><body><p>x</p></body></html>", "x\n"},
		{"latin1", "text/html; charset=iso-8859-1", "<p>caf\xe9</p>", "café\n"},
		{"charset in the page", "text/html", "<meta charset=windows-1252><p>caf\xe9 \x80</p>", "café €\n"},
		{"wrong charset", "text/plain; charset=iso-8859-1", "café", "café"},
		{"json", "application/json", `{"a":"<b>"}`, `{"a":"<b>"}`},
		{"text", "text/plain", "<p>no html</p>", "<p>no html</p>"},
		{"odd type", "text/plain;;;", "x", "x"},
		{"empty", "text/html", "", "\n"},
		{"hostile text", "text/plain", "\x1b[2J", "\x1b[2J"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Page{URL: "https://h.example/dir/page", Type: tt.kind, Body: []byte(tt.body)}.Text()
			if err != nil || got != tt.want {
				t.Errorf("Text = %q, %v, want %q", got, err, tt.want)
			}
		})
	}
	for _, p := range []Page{
		{URL: "u", Type: "image/png", Body: []byte("\x89PNG")},
		{URL: "u", Type: "application/pdf", Body: []byte("%PDF\x00")},
		{URL: "u", Body: []byte("a\x00b")},
	} {
		if got, err := p.Text(); err == nil || !strings.Contains(err.Error(), "u is not text: ") {
			t.Errorf("Text = %q, %v", got, err)
		}
	}
}

// Pages designed to take long or grow large are converted in bounded time and size.
func TestTextOfHostilePages(t *testing.T) {
	for name, page := range map[string]string{
		"nested":        strings.Repeat("<div>", MaxBody/5),
		"bold":          "<div>" + strings.Repeat("<b> </b>x", MaxBody/10),
		"signs":         strings.Repeat("*_`[", MaxBody/4),
		"table":         "<table>" + strings.Repeat("<tr><td>a<td>b<td>c</tr>", MaxBody/24),
		"wide table":    "<table><tr>" + strings.Repeat("<td>a", 100_000),
		"deep quotes":   strings.Repeat("<blockquote>", 400) + strings.Repeat("a<br>", 400_000),
		"deep lists":    strings.Repeat("<ul><li>", 200) + strings.Repeat("a<br>", 400_000),
		"quotes":        strings.Repeat("<blockquote>", 19) + strings.Repeat("a<br>", 400_000),
		"code":          "<pre>" + strings.Repeat("`", MaxBody-10),
		"attributes":    "<p " + strings.Repeat("a", MaxBody/2) + ">",
		"entities":      strings.Repeat("&amp;", MaxBody/5),
		"tables in one": strings.Repeat("<table><tr><td>", 160) + strings.Repeat("a<br>", 200_000),
	} {
		began := time.Now()
		text, err := Page{URL: "https://h.example/", Type: "text/html", Body: []byte(page)}.Text()
		if took := time.Since(began); err != nil || took > time.Minute || len(text) > 2*MaxBody {
			t.Errorf("%s: %v, %d bytes, %v", name, took, len(text), err)
		} else {
			t.Logf("%s: %v, %d bytes", name, took, len(text))
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("text/html", []byte("<ul><li>a<table><tr><td><pre>x"))
	f.Add("text/html; charset=utf-16", []byte("\xff\xfe<\x00"))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		text, err := Page{URL: "https://h.example/", Type: kind, Body: body}.Text()
		if err != nil && text != "" || !bytes.Equal([]byte(text), bytes.ToValidUTF8([]byte(text), nil)) {
			t.Errorf("Text = %q, %v", text, err)
		}
	})
}

func TestSearch(t *testing.T) {
	tests := []struct {
		file   string
		status int
		want   []Hit
		err    error
	}{
		{"results.html", 200, []Hit{
			{"The Go Programming Language", "https://go.dev/", "Build simple, secure, scalable systems with Go."},
			{"Effective Go - The Go Programming Language", "https://go.dev/doc/effective_go?a=1&b=2", "Introduction, formatting, names & more."},
			{"Go by Example", "https://gobyexample.com/", ""},
		}, nil},
		{"none.html", 200, nil, nil},
		{"links.html", 200, []Hit{{"Go", "https://go.dev/", ""}}, nil},
		{"layout.html", 200, nil, ErrLayout},
		{"challenge.html", 202, nil, ErrChallenge},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			c, u := searchServer(t, tt.file, tt.status)
			got, err := c.Search(t.Context(), u, "go language")
			if fmt.Sprint(got) != fmt.Sprint(tt.want) || !errors.Is(err, tt.err) {
				t.Errorf("Search = %+v, %v, want %+v, %v", got, err, tt.want, tt.err)
			}
		})
	}
	for _, layout := range []string{`<div class="result"><a class="result__a" href="https://h.example/%d">t</a></div>`, `<a href="/l/?uddg=https://h.example/%d">t</a>`} {
		c, u := searchServer(t, layout, 200)
		if got, err := c.Search(t.Context(), u, "go language"); err != nil || len(got) != 8 || got[7].URL != "https://h.example/8" {
			t.Errorf("Search = %d hits of 20 like %s, %v", len(got), layout, err)
		}
	}
	c, u := searchServer(t, `<div class="result"><a class="result__a" href="https://h.example/%d">t</a></div>`, 200)
	c.opts.Search.Hits = 15
	if got, err := c.Search(t.Context(), u, "go language"); err != nil || len(got) != 15 {
		t.Errorf("Search = %d hits, %v, want the 15 of the options", len(got), err)
	}
	c, u = searchServer(t, "layout.html", 503)
	if _, err := c.Search(t.Context(), u, "go language"); err == nil || !strings.Contains(err.Error(), "answers with status 503") {
		t.Errorf("Search = %v", err)
	}
	if u, err := NewClient(Options{}).SearchURL("a b&c"); err != nil || u.String() != "https://html.duckduckgo.com/html/?q=a+b%26c" {
		t.Errorf("SearchURL = %v, %v", u, err)
	}
}

// searchServer answers with a file, or with 20 results of a layout.
func searchServer(t *testing.T, file string, status int) (*Client, *url.URL) {
	t.Helper()
	var page []byte
	if strings.HasPrefix(file, "<") {
		for i := range 20 {
			page = fmt.Appendf(page, file, i+1)
		}
	} else {
		var err error
		if page, err = os.ReadFile("testdata/" + file); err != nil {
			t.Fatal(err)
		}
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("q") != "go language" {
			t.Errorf("asked for %s", r.URL)
		}
		w.WriteHeader(status)
		_, _ = w.Write(page)
	}))
	t.Cleanup(srv.Close)
	c := NewClient(Options{Loopback: true, Search: Search{URL: srv.URL + "/html/"}})
	u, err := c.SearchURL("go language")
	if err != nil {
		t.Fatal(err)
	}
	return c, u
}

func BenchmarkText(b *testing.B) {
	page := "<html><body>" + strings.Repeat(`<div><h3>Title</h3><p>Some <b>text</b> with a <a href="/x">link</a>.</p><ul><li>a</li><li>b</li></ul></div>`, 2000) + "</body></html>"
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (Page{URL: "https://h.example/", Type: "text/html", Body: []byte(page)}).Text(); err != nil {
			b.Fatal(err)
		}
	}
}

// Package web fetches web pages for a model. It only connects to public addresses, unless the user has approved
// another one, and limits the size and the time.
//
//	c := web.NewClient(web.Options{})
//	u, err := c.Check("https://go.dev/doc/") // no network yet
//	page, err := c.Get(ctx, u)
//	text, err := page.Text()                 // Markdown, if it is HTML
//
// A host name is checked first, and each of its addresses again when it is dialled, so that no answer of a name
// server leads into the local network. A redirect to another site is not followed but reported, because it needs its
// own approval.
//
// The package does not use html-to-markdown (2.5.2), which takes 67 s and makes 400 MB from a table of 400 KB, takes
// 13 s for 25 KB of nested quotes, and keeps links to javascript:.
package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

const (
	// MaxBody is the maximum number of bytes read of a page.
	MaxBody = 2 << 20
	// Timeout bounds one request, with its redirections and all of its body.
	Timeout = 20 * time.Second

	maxRedirects = 5
	maxHeader    = 64 << 10
	userAgent    = "Mozilla/5.0 (compatible; buddy)"
)

// Options configure what may be fetched.
type Options struct {
	// Loopback allows this machine's own addresses, for a server under development.
	Loopback bool
	// Proxy returns the proxy for a public URL, nil for none; a nil function means no proxy for any URL.
	Proxy  func(*url.URL) (*url.URL, error)
	Search Search
}

// Client fetches pages. Create it with NewClient; it is safe for concurrent use.
type Client struct {
	opts   Options
	http   *http.Client
	search *http.Client // for search engines with an API
	dialer *net.Dialer
}

// NewClient returns a client. It keeps no connections between requests.
func NewClient(o Options) *Client {
	o.Search.Hits = cmp.Or(o.Search.Hits, DefaultHits)
	c := &Client{opts: o}
	c.dialer = &net.Dialer{Timeout: 10 * time.Second, ControlContext: func(ctx context.Context, _, address string, _ syscall.RawConn) error {
		return c.checkDial(address, localHost(ctx))
	}}
	c.http = &http.Client{
		Transport: withScheme{&http.Transport{
			// Transport.Proxy is not set, because with it the proxy would look up names, and nobody would check their
			// addresses.
			DialContext: c.dial, ForceAttemptHTTP2: true, DisableKeepAlives: true,
			TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: maxHeader,
		}},
		CheckRedirect: c.redirect,
	}
	c.search = c.engineClient()
	return c
}

// schemeKey is the context key of a request's scheme.
type schemeKey struct{}

// withScheme passes the scheme of a request to the dialler, because the proxy depends on the scheme.
type withScheme struct{ http.RoundTripper }

func (s withScheme) RoundTrip(r *http.Request) (*http.Response, error) {
	return s.RoundTripper.RoundTrip(r.WithContext(context.WithValue(r.Context(), schemeKey{}, r.URL.Scheme)))
}

// localKey is the context key of GetLocal's host.
type localKey struct{}

// localHost returns the approved local host, "" if none was approved.
func localHost(ctx context.Context) string {
	host, _ := ctx.Value(localKey{}).(string)
	return host
}

// Page is the response to a request.
type Page struct {
	URL      string // after redirections
	Status   int
	Type     string // Content-Type as sent
	Body     []byte // at most MaxBody
	Cut      bool   // Body was cut
	Location string // target of a redirection that was not followed
}

// GetLocal fetches a page from this machine or the local network, which the user has approved. It uses no proxy.
func (c *Client) GetLocal(ctx context.Context, u *url.URL) (Page, error) {
	return c.Get(context.WithValue(ctx, localKey{}, u.Hostname()), u)
}

// Get fetches a page. Any status is a valid response. The error names the host and the cause.
func (c *Client) Get(ctx context.Context, u *url.URL) (Page, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Page{}, fmt.Errorf("%s: %w", u.Host, err)
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "text/markdown, text/html;q=0.9, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5")
	res, err := c.http.Do(req)
	if err != nil {
		return Page{}, fmt.Errorf("%s: %w", u.Host, cause(ctx, err))
	}
	defer func() { _ = res.Body.Close() }()
	page := Page{URL: res.Request.URL.String(), Status: res.StatusCode, Type: res.Header.Get("Content-Type")}
	if to, err := res.Location(); err == nil && res.StatusCode/100 == 3 {
		page.Location = to.String()
	}
	page.Body, err = io.ReadAll(io.LimitReader(res.Body, MaxBody+1))
	if err != nil {
		return Page{}, fmt.Errorf("%s: after %d bytes: %w", u.Host, len(page.Body), cause(ctx, err))
	}
	if page.Cut = len(page.Body) > MaxBody; page.Cut {
		page.Body = page.Body[:MaxBody]
	}
	return page, nil
}

// cause unwraps the errors of net/http.
func cause(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no whole answer within %s", Timeout)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if refused, ok := errors.AsType[*refusedError](err); ok {
		return refused
	}
	return err
}

// redirect decides whether to follow a redirection.
func (c *Client) redirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirections", maxRedirects)
	}
	to, local, err := c.CheckLocal(req.URL.String())
	if err == nil && localHost(req.Context()) == "" {
		err = local
	}
	if err != nil {
		return fmt.Errorf("a redirection leads to an address that is not allowed: %w", err)
	}
	if !sameSite(via[0].URL, to) {
		return http.ErrUseLastResponse
	}
	return nil
}

// sameSite reports whether the approval of a also covers b, which needs the same host, with or without www, and must be
// no less secure.
func sameSite(a, b *url.URL) bool {
	if a.Scheme == "https" && b.Scheme == "http" {
		return false
	}
	bare := func(u *url.URL) string { return strings.TrimPrefix(u.Hostname(), "www.") }
	return bare(a) == bare(b) && (a.Port() == b.Port() || a.Port() == "" && b.Port() == "443" || a.Port() == "80" && b.Port() == "")
}

// mediaType returns the type of a page without parameters, in lower case.
func (p Page) mediaType() string {
	kind, _, err := mime.ParseMediaType(p.Type)
	if err != nil || kind == "" {
		kind, _, _ = mime.ParseMediaType(http.DetectContentType(p.Body))
	}
	return kind
}

// checkDial returns an error if an address is neither public nor one to which the approved local host may lead.
func (c *Client) checkDial(address, approved string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return refuse("%q is not an address", address)
	}
	err = c.checkAddr(at.Addr())
	if approved == "" || !isLocal(err) {
		return err
	}
	own := approved == "localhost" || strings.HasSuffix(approved, ".localhost")
	if _, notAddr := netip.ParseAddr(approved); notAddr != nil && own != at.Addr().Unmap().IsLoopback() {
		return err // an approved network name must not lead to this machine, nor vice versa
	}
	return nil
}

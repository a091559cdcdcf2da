package fence

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Limits of the proxy.
const (
	proxyMost    = 64               // connections at a time
	proxyHeld    = 16               // connections that wait for an answer at a time
	proxyConnect = 20 * time.Second // to look a name up and connect
	proxyHead    = 30 * time.Second // for the head of a request
)

// reserved lists the networks, besides private ones, that are not on the public internet, or whose addresses can lead
// into a private network (IANA's registries of special-purpose addresses).
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("fec0::/10"), netip.MustParsePrefix("::/96"),
}

// public reports whether ip is a public internet address.
func public(ip netip.Addr) bool {
	ip = ip.Unmap()
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && ip.Zone() == "" && !slices.ContainsFunc(reserved, func(n netip.Prefix) bool { return n.Contains(ip) })
}

// Ask asks the user whether a command may reach a host outside the settings. It returns nil if the user allows it, else
// the reason for the refusal, at the latest when ctx ends.
type Ask func(ctx context.Context, host, port string) error

// ErrNobody means that there was nobody to ask about a host.
var ErrNobody = errors.New("nobody was asked")

// network connects a proxy to the internet.
type network struct {
	lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
}

var internet = network{net.DefaultResolver.LookupNetIP, new(net.Dialer).DialContext}

// proxy passes the requests of one sandboxed command on to hosts that the settings or the user allow. It runs outside
// of the sandbox.
type proxy struct {
	network
	hosts []string            // names, or *. and a domain
	word  string              // the command's password; "" if no other program can connect
	ask   atomic.Pointer[Ask] // nil: nobody is asked
	open  chan struct{}       // holds a token for each connection
	held  chan struct{}       // holds a token for each connection that waits for an answer
}

func newProxy(hosts []string, at network) *proxy {
	return &proxy{network: at, hosts: hosts, open: make(chan struct{}, proxyMost), held: make(chan struct{}, proxyHeld)}
}

// serve answers connections until l is closed.
func (p *proxy) serve(l net.Listener) {
	s := &http.Server{Handler: p, ReadHeaderTimeout: proxyHead, MaxHeaderBytes: 64 << 10}
	_ = s.Serve(l)
	_ = s.Close()
}

// allows reports whether the settings allow a host.
func (p *proxy) allows(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return slices.ContainsFunc(p.hosts, func(name string) bool {
		domain, star := strings.CutPrefix(name, "*.")
		return host == name || star && strings.HasSuffix(host, "."+domain)
	})
}

// permit returns nil if a command may connect to a host, else the reason. For a host outside the settings, it waits
// until the user has answered.
func (p *proxy) permit(ctx context.Context, host, port string) error {
	listed := p.allows(host)
	unlisted := fmt.Errorf("%q is not among allow_hosts of [sandbox]", host)
	switch {
	case port != "443" && port != "80" && listed:
		return fmt.Errorf("port %s: only 443 and 80 are allowed", port)
	case listed:
		return nil
	case port != "443" && port != "80":
		return unlisted
	}
	ask, name := p.ask.Load(), strings.ToLower(strings.TrimSuffix(host, "."))
	if ask == nil || !askable(name) {
		return unlisted
	}
	select {
	case p.held <- struct{}{}:
		defer func() { <-p.held }()
	default:
		return fmt.Errorf("%w, and %d connections are already waiting for an answer", unlisted, proxyHeld)
	}
	if err := (*ask)(ctx, name, port); err != nil {
		if errors.Is(err, ErrNobody) {
			return unlisted
		}
		return fmt.Errorf("%w; %w", unlisted, err)
	}
	return nil
}

// askable reports whether buddy may ask the user about a host: the host must have an internet name in plain letters,
// and be neither an address nor a name of this machine or the local network. The name is not looked up, because its
// name server would see any data that the command encoded in the name.
func askable(name string) bool {
	labels := strings.Split(name, ".")
	last := labels[len(labels)-1]
	if len(name) > 253 || len(labels) < 2 || slices.Contains([]string{"localhost", "local", "internal", "lan", "home", "arpa"}, last) || !strings.ContainsAny(last, "abcdefghijklmnopqrstuvwxyz") {
		return false
	}
	return !slices.ContainsFunc(labels, func(l string) bool {
		return l == "" || len(l) > 63 || l[0] == '-' || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") != ""
	})
}

// connect connects to an allowed host, at an internet address that it has checked. asking ends when nobody waits for
// the user's answer any more.
func (p *proxy) connect(ctx, asking context.Context, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err == nil {
		err = p.permit(asking, host, port)
	}
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, proxyConnect)
	defer stop()
	all, err := p.lookup(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	err = fmt.Errorf("%q has no public internet address", host)
	for _, ip := range all {
		if !public(ip) {
			continue
		}
		c, one := p.dial(ctx, "tcp", net.JoinHostPort(ip.Unmap().String(), port))
		if one == nil {
			return c, nil
		}
		err = one
	}
	return nil, err
}

// ServeHTTP passes on a request.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if header := r.Header.Get("Proxy-Authorization"); p.word != "" && subtle.ConstantTimeCompare([]byte(header), []byte(basic(p.word))) == 0 {
		w.Header().Set("Proxy-Authenticate", `Basic realm="buddy"`)
		http.Error(w, "buddy: this proxy is for one command, and needs its password", http.StatusProxyAuthRequired)
		return
	}
	select {
	case p.open <- struct{}{}:
		defer func() { <-p.open }()
	default:
		http.Error(w, fmt.Sprintf("buddy: at most %d connections at a time", proxyMost), http.StatusServiceUnavailable)
		return
	}
	switch {
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "":
		pass := &httputil.ReverseProxy{
			Rewrite: func(out *httputil.ProxyRequest) { out.Out.Host = out.Out.URL.Host },
			Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
				return p.connect(ctx, r.Context(), address)
			}},
			ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
				http.Error(w, "buddy: "+err.Error(), http.StatusForbidden)
			},
		}
		pass.ServeHTTP(w, r)
	default:
		http.Error(w, "buddy: this is a proxy for http and CONNECT", http.StatusBadRequest)
	}
}

// proxyUser is the user name in the proxy's address, before the password.
const proxyUser = "buddy"

// basic returns the header with a password (RFC 7617).
func basic(word string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(proxyUser+":"+word))
}

// tunnel answers CONNECT.
func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	there, err := p.connect(r.Context(), r.Context(), r.Host)
	if err != nil {
		http.Error(w, "buddy: "+err.Error(), http.StatusForbidden)
		return
	}
	defer func() { _ = there.Close() }()
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = here.Close() }()
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := io.Copy(there, buffered)
		if half, ok := there.(interface{ CloseWrite() error }); ok && err == nil {
			_ = half.CloseWrite()
			return
		}
		_ = there.Close()
	}()
	_, _ = io.Copy(here, there)
	_ = here.Close()
	<-done
}

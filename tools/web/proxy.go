package web

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	socks "golang.org/x/net/proxy"

	"buddy/texts/proxies"
)

// dial connects to a host, through a proxy if one is configured. The proxy gets the address that was checked here,
// never the name: it might look up another address.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	proxy, err := c.proxyFor(ctx, address)
	if err != nil {
		return nil, err
	}
	if proxy == nil {
		return c.dialer.DialContext(ctx, network, address)
	}
	to, err := c.lookUp(ctx, proxy, address)
	if err != nil {
		return nil, err
	}
	if isSocks(proxy) {
		return dialSocks(ctx, proxy, to)
	}
	conn, err := dialProxy(ctx, proxy)
	if err != nil {
		return nil, fmt.Errorf("the proxy %s: %w", proxy.Host, err)
	}
	if err := connect(ctx, conn, proxy, to); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("the proxy %s: %w", proxy.Host, err)
	}
	return conn, nil
}

// proxyFor returns the proxy for an address, nil for none. Approved local hosts use no proxy.
func (c *Client) proxyFor(ctx context.Context, address string) (*url.URL, error) {
	if c.opts.Proxy == nil || localHost(ctx) != "" {
		return nil, nil
	}
	scheme, _ := ctx.Value(schemeKey{}).(string)
	proxy, err := c.opts.Proxy(&url.URL{Scheme: scheme, Host: address})
	switch {
	case err != nil: // the error may contain a password
		return nil, refuse("the proxy of the environment is not a URL; check " + proxies.Variables)
	case proxy == nil:
		return nil, nil
	case !proxies.Known(proxy):
		return nil, refuse("the proxy %s is of the kind %q (allowed: http, https, socks5, socks5h)", proxy.Host, proxy.Scheme)
	}
	return proxy, nil
}

// lookUp returns the checked address that the proxy should connect to.
func (c *Client) lookUp(ctx context.Context, proxy *url.URL, address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", refuse("%q is not an address", address)
	}
	addrs := []netip.Addr{}
	if addr, err := netip.ParseAddr(host); err == nil {
		addrs = append(addrs, addr)
	} else {
		names := c.dialer.Resolver
		if names == nil {
			names = net.DefaultResolver
		}
		if addrs, err = names.LookupNetIP(ctx, "ip", host); err != nil || len(addrs) == 0 {
			return "", refuse("can't resolve %q on this machine, so buddy can't check which address the proxy %s would connect to", host, proxy.Host)
		}
	}
	for _, addr := range addrs {
		if err := c.checkAddr(addr); err != nil {
			return "", err
		}
	}
	return net.JoinHostPort(addrs[0].Unmap().String(), port), nil
}

func isSocks(proxy *url.URL) bool { return proxy.Scheme == "socks5" || proxy.Scheme == "socks5h" }

// dialSocks connects to an address through a SOCKS proxy.
func dialSocks(ctx context.Context, proxy *url.URL, to string) (net.Conn, error) {
	var auth *socks.Auth
	if user := proxy.User; user != nil {
		password, _ := user.Password()
		auth = &socks.Auth{User: user.Username(), Password: password}
	}
	d, err := socks.SOCKS5("tcp", net.JoinHostPort(proxy.Hostname(), cmp.Or(proxy.Port(), "1080")), auth, &net.Dialer{Timeout: 10 * time.Second})
	if err != nil {
		return nil, err
	}
	return d.(socks.ContextDialer).DialContext(ctx, "tcp", to)
}

// dialProxy connects to a proxy, whose address is not checked, because the user configured it.
func dialProxy(ctx context.Context, proxy *url.URL) (net.Conn, error) {
	port := proxy.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[proxy.Scheme]
	}
	d := &net.Dialer{Timeout: 10 * time.Second}
	address := net.JoinHostPort(proxy.Hostname(), port)
	if proxy.Scheme == "https" {
		return (&tls.Dialer{NetDialer: d}).DialContext(ctx, "tcp", address)
	}
	return d.DialContext(ctx, "tcp", address)
}

// connect asks a proxy for a tunnel to an address.
func connect(ctx context.Context, conn net.Conn, proxy *url.URL, to string) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: to}, Host: to, Header: http.Header{"User-Agent": {userAgent}}}
	if user := proxy.User; user != nil {
		password, _ := user.Password()
		req.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	if err := req.Write(conn); err != nil {
		return err
	}
	r := bufio.NewReaderSize(conn, maxHeader)
	res, err := http.ReadResponse(r, req) //nolint:bodyclose // the tunnel begins where a body would
	switch {
	case err != nil:
		return fmt.Errorf("no answer to CONNECT %s: %w", to, err)
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("it refuses CONNECT %s with status %d", to, res.StatusCode)
	case r.Buffered() > 0:
		return fmt.Errorf("it answers CONNECT %s with more than a status", to)
	}
	return nil
}

package web

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// maxURL is the size limit of a URL, in bytes.
const maxURL = 4000

// refusedError is an error about an address that may not be fetched.
type refusedError struct {
	text string
	// local means that the user may allow the request, because the address is this machine or in the local network. It
	// is false for metadata services and for addresses in an unusual form.
	local bool
}

func (e *refusedError) Error() string { return e.text }

func refuse(format string, args ...any) error {
	return &refusedError{text: fmt.Sprintf(format, args...)}
}

// isLocal reports whether an error is about an address that the user may approve.
func isLocal(err error) bool {
	refused, ok := errors.AsType[*refusedError](err)
	return ok && refused.local
}

// Check returns the URL to fetch for raw, with the host in lower case and ASCII, and without the fragment. It uses no
// network, so it does not notice that a name leads to a private address; Get does. The error explains what is wrong
// with the URL.
func (c *Client) Check(raw string) (*url.URL, error) {
	u, local, err := c.CheckLocal(raw)
	if err == nil {
		err = local
	}
	if err != nil {
		return nil, err
	}
	return u, nil
}

// CheckLocal is like Check, but also accepts URLs of this machine and the local network; local then describes the host.
// Only GetLocal fetches such URLs.
func (c *Client) CheckLocal(raw string) (u *url.URL, local, err error) {
	if u, err = parseURL(raw); err != nil {
		return nil, nil, err
	}
	host, err := c.checkHost(u.Hostname())
	if isLocal(err) {
		local, err = err, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, nil, refuse("%q has the port %s", raw, port)
		}
		host += ":" + port
	}
	u.Host, u.Fragment, u.RawFragment = host, "", ""
	return u, local, nil
}

// parseURL parses a URL and requires a host, but does not check the host.
func parseURL(raw string) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, refuse("longer than %d bytes", maxURL)
	}
	if strings.ContainsFunc(raw, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) {
		return nil, refuse("%q contains a space or a control character", raw)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, refuse("%q is not a URL", raw)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, refuse("%q must begin with https:// or http://", raw)
	case u.User != nil:
		return nil, refuse("a URL with a name or password in it is not fetched")
	case u.Hostname() == "":
		return nil, refuse("%q has no host", raw)
	}
	return u, nil
}

// checkHost returns the normalized host, or an error if nothing may be fetched from it. The host is returned even with
// an error that isLocal accepts.
func (c *Client) checkHost(name string) (string, error) {
	host := strings.TrimSuffix(strings.ToLower(name), ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return "", refuse("the address %s has a zone", host)
		}
		if err := c.checkAddr(addr); err != nil {
			return host, err
		}
	} else {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil || ascii == "" {
			return "", refuse("%q is not the name of a host", name)
		}
		if host = ascii; !c.opts.Loopback || host != "localhost" {
			if err := checkName(host); err != nil {
				return host, err
			}
		}
	}
	return host, nil
}

// localNames are suffixes of names for this machine or its network.
var localNames = []string{"localhost", "local", "internal", "home.arpa", "lan", "intranet", "corp"}

func checkName(host string) error {
	for _, end := range localNames {
		if host == end || strings.HasSuffix(host, "."+end) {
			return &refusedError{fmt.Sprintf("%s is a name of the local network", host), !strings.HasPrefix(host, "metadata.")}
		}
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if _, err := strconv.ParseUint(last, 0, 64); err == nil {
		return refuse("%s is an address in an unusual form", host) // 127.1, 0x7f000001, 2130706433
	}
	return nil
}

// special lists networks that are not public, with a description, beyond those that netip
// knows.
var special = []struct {
	net netip.Prefix
	is  string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "unspecified"},
	{netip.MustParsePrefix("100.64.0.0/10"), "shared by a provider's customers"},
	{netip.MustParsePrefix("168.63.129.16/32"), "a cloud's metadata service"},
	{metadataV6, "a cloud's metadata service"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved"},
	{netip.MustParsePrefix("192.0.2.0/24"), "for documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "reserved"},
	{netip.MustParsePrefix("198.18.0.0/15"), "for measurements"},
	{netip.MustParsePrefix("198.51.100.0/24"), "for documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "for documentation"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
	{netip.MustParsePrefix("::/96"), "reserved"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "private"},
	{netip.MustParsePrefix("100::/64"), "reserved"},
	{netip.MustParsePrefix("2001::/23"), "reserved"}, // includes Teredo
	{netip.MustParsePrefix("2001:db8::/32"), "for documentation"},
	{netip.MustParsePrefix("3fff::/20"), "for documentation"},
	{netip.MustParsePrefix("5f00::/16"), "reserved"},
	{netip.MustParsePrefix("fec0::/10"), "private"},
}

// metadataV6 is Amazon's metadata service in a private network.
var metadataV6 = netip.MustParsePrefix("fd00:ec2::254/128")

// checkAddr returns an error unless an address is public.
func (c *Client) checkAddr(addr netip.Addr) error {
	inner := embedded(addr.WithZone("").Unmap())
	is := ""
	switch {
	case inner.IsLoopback():
		if c.opts.Loopback {
			return nil
		}
		is = "this machine"
	case inner.IsUnspecified():
		is = "unspecified"
	case inner.IsPrivate() && !metadataV6.Contains(inner):
		is = "private"
	case inner.IsLinkLocalUnicast(), inner.IsLinkLocalMulticast(), inner.IsInterfaceLocalMulticast():
		is = "local to the link"
	case inner.IsMulticast():
		is = "multicast"
	default:
		for _, s := range special {
			if s.net.Contains(inner) {
				is = s.is
				break
			}
		}
	}
	if is == "" {
		return nil
	}
	own := inner.IsLoopback() || inner.IsPrivate() && !metadataV6.Contains(inner)
	return &refusedError{fmt.Sprintf("the address %s is not public: %s", addr, is), own && inner == addr.Unmap()}
}

var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	sixTo4 = netip.MustParsePrefix("2002::/16")
)

// embedded returns the IPv4 address that an IPv6 address contains, else the address.
func embedded(addr netip.Addr) netip.Addr {
	b := addr.As16()
	switch {
	case nat64.Contains(addr):
		return netip.AddrFrom4([4]byte(b[12:16]))
	case sixTo4.Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:6]))
	default:
		return addr
	}
}

package shell

import (
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// HostNames returns the names in lower-case ASCII to which programs may resolve a host, with addresses as four
// decimal numbers. Characters such as 。 and １ mean . and 1 in international domain names (IDNA), with differences
// between the newer and the older standard.
func HostNames(host string) []string {
	if ascii(host) {
		return []string{canonical(host)}
	}
	var names []string
	for _, older := range []bool{false, true} {
		// For a refused name the result is the part that could be read, which no program resolves.
		name, _ := idna.New(idna.MapForLookup(), idna.Transitional(older), idna.StrictDomainName(false)).ToASCII(host)
		names = append(names, canonical(name))
	}
	return names
}

// canonical returns a host in ASCII for comparison.
func canonical(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if address, ok := ipv4(host); ok {
		return address.String()
	}
	return host
}

// ipv4 parses an address in the forms of inet_aton(3): up to four decimal, octal or hexadecimal numbers, the last
// of which covers all remaining bytes. 127.1, 0x7f000001 and 0177.0.0.1 are 127.0.0.1.
func ipv4(host string) (address netip.Addr, ok bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return address, false
	}
	var all [4]byte
	for i, part := range parts {
		left := 1
		if i == len(parts)-1 {
			left = 4 - i
		}
		n, err := strconv.ParseUint(part, 0, 8*left)
		if err != nil {
			return address, false
		}
		for b := range left {
			all[i+left-1-b] = byte(n >> (8 * b))
		}
	}
	return netip.AddrFrom4(all), true
}

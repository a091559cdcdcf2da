package shell

import (
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// HostNames returns the lower-case ASCII names that programs may look up for a host: one for an ASCII host, else two,
// because the older and the newer standard for international domain names (IDNA) convert some letters differently.
// Characters such as 。 and １ become . and 1. IPv4 addresses become four decimal numbers.
func HostNames(host string) []string {
	if ascii(host) {
		return []string{canonical(host)}
	}
	var names []string
	for _, older := range []bool{false, true} {
		// If the name is invalid, the result is the part that could be converted. No program resolves such a name.
		name, _ := idna.New(idna.MapForLookup(), idna.Transitional(older), idna.StrictDomainName(false)).ToASCII(host)
		names = append(names, canonical(name))
	}
	return names
}

// canonical returns a host in ASCII, so that hosts can be compared.
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

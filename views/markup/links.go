package markup

import (
	"net/url"
	"strings"

	"buddy/texts"
	"buddy/themes"
)

// link renders the text of a link, followed by the address unless the text contains the address. If the terminal may
// open the address, both are links.
func (r *renderer) link(dest string, st Style, text func(Style)) {
	t := r.text
	if r.opens(dest) && len(t.Links) < maxLinks {
		if n := len(t.Links); n == 0 || t.Links[n-1] != dest {
			t.Links = append(t.Links, dest)
		}
		st.Role, st.Link = themes.Link, uint16(len(t.Links))
	}
	from := len(t.Bytes)
	text(st)
	if more := addition(string(t.Bytes[from:]), dest, st.Link > 0); more != "" {
		r.put([]byte(" ("+more+")"), Style{Role: themes.Muted, Link: st.Link})
	}
}

// opens reports whether the terminal may open an address: a web address without a user name (which could imitate a
// host), or a file that may be opened. The address must consist of ASCII characters, because escape sequences for links
// allow no others.
func (r *renderer) opens(dest string) bool {
	u := parsed(dest)
	if u == nil || u.User != nil {
		return false
	}
	switch u.Scheme {
	case "http", "https":
		return u.Hostname() != ""
	case "file":
		return (u.Host == "" || u.Host == "localhost") && strings.HasPrefix(u.Path, "/") && r.files != nil && r.files(u.Path)
	}
	return false
}

// parsed parses an address of ASCII characters, or returns nil.
func parsed(dest string) *url.URL {
	for i := range len(dest) {
		if dest[i] <= ' ' || dest[i] >= 0x7f {
			return nil
		}
	}
	u, err := url.Parse(dest)
	if err != nil {
		return nil
	}
	return u
}

// maxAddress limits the columns of an address after a link's text if the terminal may open the address.
const maxAddress = 72

// addition returns the text to show after a link's text, or "". The address of a link that the terminal opens is
// shortened, unless the text could be mistaken for another address.
func addition(text, dest string, opens bool) string {
	text = strings.TrimSpace(text)
	u := parsed(dest)
	same, other := false, false
	if opens {
		same, other = namesAddress(text, dest, u)
	}
	switch {
	case dest == "":
		return ""
	case u != nil && u.User != nil && u.Host != "": // also if the text is the address
		return strings.TrimPrefix(dest+" links to "+u.Host, text+" ")
	case strings.EqualFold(text, dest), u != nil && u.Scheme == "mailto" && strings.EqualFold(text, u.Opaque):
		return ""
	case !opens, text == "", other:
		return dest
	case u.Scheme == "file", same:
		return ""
	}
	return Shorten(strings.TrimSuffix(strings.TrimPrefix(dest, "https://"), "/"), maxAddress)
}

// address matches text that could be mistaken for an address: a scheme, a name with dots, four numbers, a host with a
// port, user@host. It includes similar letters, dots and slashes of other scripts.
var address = texts.Regexp(`(?i)[\pL\pN][\pL\pN+.-]*[:︓：﹕][\\/∕⁄⧸／]{2}|[\pL\pN_-][.。．․‧·・｡ꓸ܁﹒][\pL\pM]{2,}|[\pN]+[.。．․][\pN]+[.。．․][\pN]+[.。．․][\pN]+|[\pL\pN][:：][\pN]{2,5}(?:\PN|$)|[\pL\pN][@＠﹫][\pL\pN]|\blocalhost\b|‹U\+`)

// namesAddress reports whether a word of a link's text is the link's address, and whether a word looks like another
// one.
func namesAddress(text, dest string, to *url.URL) (same, other bool) {
	for word := range strings.FieldsSeq(text) {
		if address().MatchString(word) {
			is := isAddress(strings.Trim(word, `.,;:!?()[]<>"'`), dest, to)
			same, other = same || is, other || !is
		}
	}
	return same, other
}

// isAddress reports whether a word is the address of a link, or the address without its scheme or trailing slash, or
// only its host.
func isAddress(word, dest string, to *url.URL) bool {
	whole, word := strings.TrimSuffix(dest, "/"), strings.TrimSuffix(word, "/")
	_, rest, _ := strings.Cut(whole, "://")
	return word == whole || word == rest || strings.EqualFold(word, to.Host) || strings.EqualFold(word, to.Scheme+"://"+to.Host)
}

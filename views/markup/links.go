package markup

import (
	"net/url"
	"strings"

	"buddy/texts"
	"buddy/themes"
)

// link renders the text of a link, and next to it the address where it leads, unless the text says that. Where the terminal
// may open the address, both open it.
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
	if said := beside(string(t.Bytes[from:]), dest, st.Link > 0); said != "" {
		r.put([]byte(" ("+said+")"), Style{Role: themes.Muted, Link: st.Link})
	}
}

// opens tells whether the terminal may open an address: one of the web without a user's name, which is there to look like
// the host, or a file that may be opened. It is of ASCII letters only: what is given to the terminal as a link
// holds nothing else.
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

// parsed returns an address, nil if it is none of ASCII letters.
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

// maxAddress limits the columns of an address next to the text of a link that opens it.
const maxAddress = 72

// beside returns what to show next to the text of a link, "" if the text says as much. A link that the terminal opens has
// its address in short, unless the text could be taken for another address.
func beside(text, dest string, opens bool) string {
	text = strings.TrimSpace(text)
	u := parsed(dest)
	says, lies := false, false
	if opens {
		says, lies = saysAddress(text, dest, u)
	}
	switch {
	case dest == "":
		return ""
	case u != nil && u.User != nil && u.Host != "": // also where the text is the address
		return strings.TrimPrefix(dest+" links to "+u.Host, text+" ")
	case strings.EqualFold(text, dest), u != nil && u.Scheme == "mailto" && strings.EqualFold(text, u.Opaque):
		return ""
	case !opens, text == "", lies:
		return dest
	case u.Scheme == "file", says:
		return ""
	}
	return Shorten(strings.TrimSuffix(strings.TrimPrefix(dest, "https://"), "/"), maxAddress)
}

// address matches what a person may take for an address, also in letters, dots and slashes of other scripts: a scheme, a
// name with dots, an address of four numbers, a host with a port, somebody at a host.
var address = texts.Regexp(`(?i)[\pL\pN][\pL\pN+.-]*[:︓：﹕][\\/∕⁄⧸／]{2}|[\pL\pN_-][.。．․‧·・｡ꓸ܁﹒][\pL\pM]{2,}|[\pN]+[.。．․][\pN]+[.。．․][\pN]+[.。．․][\pN]+|[\pL\pN][:：][\pN]{2,5}(?:\PN|$)|[\pL\pN][@＠﹫][\pL\pN]|\blocalhost\b|‹U\+`)

// saysAddress reports whether some word of a link's text is the address where the link leads, and whether some word looks
// like another address.
func saysAddress(text, dest string, to *url.URL) (says, lies bool) {
	for word := range strings.FieldsSeq(text) {
		if address().MatchString(word) {
			is := isAddress(strings.Trim(word, `.,;:!?()[]<>"'`), dest, to)
			says, lies = says || is, lies || !is
		}
	}
	return says, lies
}

// isAddress reports whether a word is an address, which may lack its scheme, a slash at its end, or all but its host.
func isAddress(word, dest string, to *url.URL) bool {
	whole, word := strings.TrimSuffix(dest, "/"), strings.TrimSuffix(word, "/")
	_, rest, _ := strings.Cut(whole, "://")
	return word == whole || word == rest || strings.EqualFold(word, to.Host) || strings.EqualFold(word, to.Scheme+"://"+to.Host)
}

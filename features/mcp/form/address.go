package form

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/idna"

	"buddy/texts"
	"buddy/tools"
)

// Address is a page that a server asks the person to visit. Its texts come from the server and are untrusted.
type Address struct {
	Server  string
	Message string
	URL     string
	Remote  bool // the server is not on this machine, so its page must not be in this network
}

// ErrAddress is returned for an address that is refused without being shown.
var ErrAddress = errors.New("the address can't be opened")

const maxURL = 4096

// The choices for an address.
const (
	openIt   = "Open it in the browser"
	openedIt = "I have opened it myself"
)

// Visit shows an address with its host spelled out, and opens it if the person agrees. Accept means that the page was
// opened, not that anything was done there.
func Visit(ctx context.Context, a Address, ask AskFunc, open func(url string) error) (Answer, error) {
	host, err := a.check()
	if err != nil {
		return Answer{Action: Decline}, err
	}
	if ask == nil {
		return Answer{Action: Decline}, nil
	}
	choices := []string{openIt, openedIt, declineIt, cancelIt}
	text := strings.TrimSpace(texts.ClipBytes(a.Message, maxMessage) + "\nIt wants you to visit a page of " + host + ":\n" + a.URL)
	wrong := ""
	for {
		answer, err := ask(ctx, tools.Question{From: a.Server, Text: wrong + text, Choices: choices})
		switch {
		case errors.Is(err, tools.ErrNobody):
			return Answer{Action: Decline}, nil
		case err != nil:
			return Answer{Action: Cancel}, err
		}
		switch strings.TrimSpace(answer) {
		case openIt:
			if err := open(a.URL); err != nil {
				wrong = fmt.Sprintf("The browser was not started: %v. Open the page yourself.\n", err)
				choices = slices.DeleteFunc(choices, func(c string) bool { return c == openIt })
				continue
			}
			return Answer{Action: Accept}, nil
		case openedIt:
			return Answer{Action: Accept}, nil
		case declineIt:
			return Answer{Action: Decline}, nil
		case cancelIt:
			return Answer{Action: Cancel}, nil
		}
	}
}

// check returns the host to show. A host with letters outside of ASCII, which can imitate a known name, is shown both
// as it is written and in ASCII.
func (a Address) check() (host string, err error) {
	u, err := url.Parse(a.URL)
	switch {
	case len(a.URL) > maxURL:
		return "", fmt.Errorf("%w: it has %d bytes, more than %d", ErrAddress, len(a.URL), maxURL)
	case err != nil:
		return "", fmt.Errorf("%w: it can't be parsed", ErrAddress)
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return "", fmt.Errorf("%w: %q is not an http or https address", ErrAddress, texts.Clip(a.URL, maxText))
	case u.User != nil:
		return "", fmt.Errorf("%w: it has a user's name before the host %q, which hides the host", ErrAddress, u.Hostname())
	}
	name := strings.ToLower(u.Hostname())
	if a.Remote && private(name) {
		return "", fmt.Errorf("%w: %q is on this machine or its local network, but the MCP server is remote", ErrAddress, name)
	}
	ascii, err := idna.ToASCII(name)
	if err != nil {
		return "", fmt.Errorf("%w: host %q: %w", ErrAddress, name, err)
	}
	if shown, err := idna.ToUnicode(ascii); err == nil && shown != ascii {
		return fmt.Sprintf("%s (that is %s, with letters of another alphabet)", ascii, shown), nil
	}
	return u.Host, nil
}

// private reports whether a host name is known to mean this machine or its network.
func private(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".internal") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.Unmap().IsPrivate() || ip.Unmap().IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified())
}

package endpoint

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"buddy/agent/model"
)

// Explain converts an error from sending the request or reading the answer to a [model.Error] that names the endpoint.
// If the caller's context has ended, it returns the cancellation cause instead.
func (c *Call) Explain(err error) error {
	if c.parent.Err() != nil {
		return context.Cause(c.parent)
	}
	if known, ok := errors.AsType[*model.Error](err); ok {
		e := *known
		e.Endpoint, e.What, e.Said, e.Body = c.shown, c.scrub(e.What), c.scrub(e.Said), c.scrub(e.Body)
		if e.Kind == model.ContextError && e.Hint == "" {
			e.Hint = contextHint
		}
		return &e
	}
	e := &model.Error{Endpoint: c.shown, Err: withoutURL(err)}
	switch {
	case errors.Is(context.Cause(c.ctx), errTimeout):
		e.Err = context.DeadlineExceeded
		c.silent(e)
	case c.body != nil:
		e.Kind, e.What = model.CutError, "the answer was cut off: "+short(e.Err)
	default:
		c.connect(e)
	}
	return e
}

// Refused returns an error for a request that the SDK refused to send. With otherProtocol, the hint suggests another
// protocol.
func (c *Call) Refused(err error, otherProtocol bool) error {
	e := &model.Error{Kind: model.SetupError, Endpoint: c.shown, What: "not sent: " + short(err), Err: err}
	if otherProtocol {
		e.Hint = c.protocolHint()
	}
	return e
}

// connect sets the fields of e that explain why there was no answer.
func (c *Call) connect(e *model.Error) {
	var (
		dns   *net.DNSError
		cert  *tls.CertificateVerificationError
		proto tls.RecordHeaderError
	)
	e.Kind = model.ConnectError
	if c.proxy(e) {
		return
	}
	switch err := e.Err; {
	case errors.Is(err, syscall.ECONNREFUSED):
		e.What = "connection refused"
		e.Hint = fmt.Sprintf("nothing listens at %s: start the server or check api_base_url", c.e.host)
	case errors.As(err, &dns):
		e.What = fmt.Sprintf("host %q not found", dns.Name)
		e.Hint = "check api_base_url and the network"
	case errors.As(err, &cert):
		e.Kind, e.What = model.SetupError, "the certificate is not trusted: "+short(cert.Err)
		e.Hint = "check api_base_url, or name the file of the authority that signed it: ca_file in " + c.section() + ", or SSL_CERT_FILE"
	case errors.As(err, &proto), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		e.Kind, e.What = model.SetupError, "the server does not speak TLS"
		e.Hint = "check api_base_url: it may have to begin with http://"
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		e.What = "the server closed the connection without an answer"
	default:
		e.What = "no connection: " + short(err)
	}
}

// short returns the text of an error of net/http on one line.
func short(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "the connection ended"
	}
	return model.Excerpt([]byte(err.Error()))
}

// maxPage limits how many bytes of an answer with an error status are read.
const maxPage = 8 << 10

// status describes an answer with an error status.
func (c *Call) status(resp *http.Response, head []byte) *model.Error {
	e := &model.Error{
		Kind: model.StatusError, Endpoint: c.shown, Status: resp.StatusCode,
		What:       model.StatusText(resp.StatusCode),
		RetryAfter: askedWait(resp.Header, string(head), time.Now()),
	}
	e.Heard([]byte(c.scrub(string(head))))
	window, long := model.Overflow(string(head))
	switch code := resp.StatusCode; {
	case code >= 300 && code < 400:
		e.Kind, e.Said, e.Body = model.SetupError, "", ""
		if to, err := resp.Location(); err == nil {
			e.Hint = fmt.Sprintf("the server redirects to %s, which buddy does not follow: set api_base_url", (&url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}).String())
		}
	case code == http.StatusProxyAuthRequired:
		e.Kind, e.Hint = model.SetupError, proxyHint
	case code == http.StatusForbidden && model.IsPage(head):
		e.Hint = "a proxy or a firewall may have answered in place of the server: " + proxyHint
	case code == http.StatusUnauthorized:
		e.What, e.Hint = c.refusedKey()+" (401)", c.keyHint()
	case code == http.StatusForbidden:
		e.Hint = c.keyHint()
	case code == http.StatusRequestEntityTooLarge, refused(code) && long:
		e.Kind, e.Hint, e.Window = model.ContextError, contextHint, window
	case code == http.StatusPaymentRequired, code == http.StatusTooManyRequests:
		limited(e, head)
	case code == http.StatusNotFound || code == http.StatusMethodNotAllowed:
		e.Hint = c.protocolHint()
	}
	e.Hint = c.scrub(e.Hint)
	return e
}

// limited sets the kind and the hint of an error for a request that exceeds one of the account's limits.
func limited(e *model.Error, head []byte) {
	switch {
	case model.OverRate(string(head)):
		e.Kind, e.Hint = model.ContextError, overRateHint
	case e.Status == http.StatusTooManyRequests && !noCredit(head):
	case e.RetryAfter > 0:
		e.Kind, e.Hint = model.SetupError, "the account's quota is used up: "+model.Back(e.RetryAfter)
	default:
		e.Kind, e.Hint = model.SetupError, "the account has no credit left: see the provider's billing page"
	}
}

const contextHint = "the conversation is too long for the model: /compact makes it shorter, /session new starts another one"

const overRateHint = "the request has more tokens than the account's rate limit allows: /compact makes the conversation shorter, /model chooses another model"

// refused reports whether an answer with this status may mean that the request is too long: llama.cpp and some gateways
// use 500 for that, all others 400 or 422.
func refused(code int) bool { return code == 400 || code == 422 || code == 500 }

// noCredit reports whether a 429 means that the account's quota is used up, so that waiting does not help. A 429 can
// also mean that requests came too fast: platform.openai.com/docs/guides/error-codes.
func noCredit(head []byte) bool { return bytes.Contains(head, []byte("insufficient_quota")) }

// refusedKey returns the text for a missing or refused key.
func (c *Call) refusedKey() string {
	of := ""
	if c.e.config.Profile != "" {
		of = " of " + c.e.config.Profile
	}
	if c.e.config.Key == "" {
		return "The server asks for an API key"
	}
	return "The API key" + of + " was refused"
}

// keyHint tells the user where the key is set and how to change it.
func (c *Call) keyHint() string {
	switch conf := c.e.config; {
	case conf.Key == "":
		return "no key was sent: set api_key_env in " + c.section()
	case conf.KeySource == "":
		return "check the key"
	default:
		return "Key: " + conf.KeySource
	}
}

// protocolHint suggests another protocol for the same server.
func (c *Call) protocolHint() string {
	other := "completions" // which most servers speak
	if c.e.config.API == other {
		other = "responses"
	}
	return fmt.Sprintf("check api_base_url and model, or try the other protocol: api = %q in %s", other, c.section())
}

func (c *Call) section() string {
	if c.e.config.Profile == "" {
		return "the profile"
	}
	if !model.HasSection(c.e.config.Profile, c.e.config.Model) {
		return "a profile for it"
	}
	return "[models." + c.e.config.Profile + "]"
}

// minKey is the number of bytes that a key needs to be treated as a secret. Shorter keys, such as "x", are placeholders
// for local servers.
const minKey = 4

// scrub removes the key from a server's text; if the text was cut off within the key, also the key's start there.
func (c *Call) scrub(s string) string {
	key := c.e.config.Key
	if len(key) < minKey {
		return s
	}
	s = strings.ReplaceAll(s, key, "[key]")
	head, cut := strings.CutSuffix(s, "…")
	for n := len(key) - 1; cut && n >= minKey; n-- {
		if rest, ok := strings.CutSuffix(head, key[:n]); ok {
			return rest + "[key]…"
		}
	}
	return s
}

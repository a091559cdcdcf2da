// Package login logs the user in at OAuth 2.0 issuers, and renews the tokens, which several processes can use at the
// same time. Logins at model providers use the device flow (RFC 8628) or the code flow, logins at MCP servers the
// code flow; see [Client.LoginServer].
//
//	c := login.New(config.Auth())
//	flow, err := c.Begin(ctx, profile.Login)
//	fmt.Println("open", flow.URL, "and enter", flow.Code) // without a code, only open it
//	err = flow.Wait(ctx)
//
//	token, err := c.Token(ctx, profile.Login, "")
//
// Tokens are stored in the [config.AuthStore]. Errors never contain a token.
package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode"

	"golang.org/x/oauth2"

	"buddy/config"
	"buddy/texts"
	"buddy/texts/proxies"
)

// ErrNeeded means that there is no login, or one that the issuer no longer accepts: the person
// has to log in again.
var ErrNeeded = errors.New("not logged in")

// Limits.
const (
	requestTimeout = 30 * time.Second
	flowTimeout    = 15 * time.Minute // for a person to confirm
	early          = 90 * time.Second // a token is replaced this long before its end
	usualLife      = time.Hour        // of a token without a stated lifetime
	shortestLife   = time.Minute
	networkFaults  = 5 // while waiting for the person
)

// Client logs in and refreshes tokens. It is safe for concurrent use.
type Client struct {
	store config.AuthStore
	http  *http.Client
}

// New returns a client that keeps tokens in store.
func New(store config.AuthStore) *Client {
	return &Client{store, &http.Client{
		Timeout:   requestTimeout,
		Transport: &http.Transport{Proxy: proxies.ForRequest(proxies.FromEnvironment()), TLSHandshakeTimeout: requestTimeout, ForceAttemptHTTP2: true, DisableKeepAlives: true},
		// Following a redirect would send a secret to an address that nobody configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Flow is a login that waits for the person.
type Flow struct {
	URL     string // to open in a browser: with a Code on any machine, otherwise on this one
	Code    string // to enter there; "" if the browser returns by itself
	Whole   string // URL with the code in it; may be ""
	Expires time.Time

	client *Client
	login  config.Login
	oauth  *oauth2.Config
	device *oauth2.DeviceAuthResponse
	finish func(ctx context.Context) error // waits for the browser; nil with a Code
}

// Begin requests a code from the issuer or, if that does not offer the device flow, waits for the browser of this
// machine. The caller has to call Wait.
func (c *Client) Begin(ctx context.Context, l config.Login) (*Flow, error) {
	conf, err := c.discover(ctx, l)
	if err != nil {
		return nil, err
	}
	switch {
	case conf.Endpoint.DeviceAuthURL != "":
	case conf.Endpoint.AuthURL != "":
		return c.beginCode(l, conf)
	default:
		return nil, fmt.Errorf("%s offers neither the device flow nor the code flow", l.Issuer)
	}
	device, err := conf.DeviceAuth(c.in(ctx))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Issuer, explain(err))
	}
	if device.DeviceCode == "" || device.UserCode == "" || !safeURL(device.VerificationURI) {
		return nil, fmt.Errorf("%s: the answer contains no code, or no address to enter it at", l.Issuer)
	}
	latest := time.Now().Add(flowTimeout)
	if device.Expiry.IsZero() || device.Expiry.After(latest) {
		device.Expiry = latest
	}
	device.Interval = max(device.Interval, 0)
	f := &Flow{
		URL: visible(device.VerificationURI), Code: visible(device.UserCode), Expires: device.Expiry,
		client: c, login: l, oauth: conf, device: device,
	}
	if safeURL(device.VerificationURIComplete) {
		f.Whole = visible(device.VerificationURIComplete)
	}
	return f, nil
}

// Wait returns when the person has confirmed or denied, or the code has expired. It survives short network failures.
func (f *Flow) Wait(ctx context.Context) error {
	if f.finish != nil {
		return f.finish(ctx)
	}
	for faults := 0; ; faults++ {
		token, err := f.oauth.DeviceAccessToken(f.client.in(ctx), f.device)
		if err == nil {
			return f.client.keep(ctx, f.login, token)
		}
		var refused *oauth2.RetrieveError
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !time.Now().Before(f.device.Expiry), errors.As(err, &refused) && refused.ErrorCode == "expired_token":
			return errors.New("the code has expired before it was entered: log in again")
		case refused != nil && refused.ErrorCode == "access_denied":
			return errors.New("the login was denied")
		case refused != nil || faults == networkFaults:
			return fmt.Errorf("%s: %w", f.login.Issuer, explain(err))
		}
		f.device.Interval = max(f.device.Interval, 5) + 5 // required by RFC 8628 after a failure
	}
}

// keep stores a new login.
func (c *Client) keep(ctx context.Context, l config.Login, t *oauth2.Token) error {
	if t.AccessToken == "" || strings.ContainsFunc(t.AccessToken, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("%s: the token can't be sent in a request", l.Issuer)
	}
	return c.store.Change(ctx, func(all *config.Credentials) error {
		all.Logins[l.ID()] = stored(t)
		return nil
	})
}

func stored(t *oauth2.Token) config.Token {
	now := time.Now()
	expires := t.Expiry
	switch {
	case expires.IsZero():
		expires = now.Add(usualLife)
	case expires.Before(now.Add(shortestLife)):
		expires = now.Add(shortestLife)
	}
	return config.Token{Access: t.AccessToken, Refresh: t.RefreshToken, Expires: expires.UTC().Truncate(time.Second)}
}

// Token returns the token to send, and refreshes it before it expires. refused is a token that a server rejected, or
// "". With several processes, one asks the issuer and the others use its result. An ErrNeeded means that the person has
// to log in.
func (c *Client) Token(ctx context.Context, l config.Login, refused string) (string, error) {
	return c.token(ctx, l.ID(), refused, func(t config.Token) (config.Token, error) { return c.refresh(ctx, l, t) })
}

// token returns the token of a login, by its name in the store. refresh requests a new one.
func (c *Client) token(ctx context.Context, id, refused string, refresh func(config.Token) (config.Token, error)) (string, error) {
	all, err := c.store.Read()
	if err != nil {
		return "", err
	}
	t, ok := all.Logins[id]
	if !ok {
		return "", ErrNeeded
	}
	if usable(t, refused, early) {
		return t.Access, nil
	}
	err = c.store.Change(ctx, func(all *config.Credentials) error {
		if t, ok = all.Logins[id]; !ok {
			return ErrNeeded
		}
		if usable(t, refused, early) {
			return errKeep // another process was faster
		}
		fresh, err := refresh(t)
		if err != nil {
			return err
		}
		t = fresh
		all.Logins[id] = t
		return nil
	})
	switch {
	case err == nil, errors.Is(err, errKeep):
		return t.Access, nil
	case usable(t, refused, 0):
		return t.Access, nil // it is still valid; the next request tries again
	}
	return "", err
}

// errKeep ends an edit of the store without changing it.
var errKeep = errors.New("keep")

func usable(t config.Token, refused string, left time.Duration) bool {
	return t.Access != "" && t.Access != refused && time.Until(t.Expires) > left
}

// refresh requests a new token. It waits for the answer even if the caller gives up, because the issuer may have
// invalidated the old token.
func (c *Client) refresh(ctx context.Context, l config.Login, t config.Token) (config.Token, error) {
	if t.Refresh == "" {
		return t, ErrNeeded
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	conf, err := c.discover(ctx, l)
	if err != nil {
		return t, err
	}
	return renew(c.in(ctx), conf, l.Issuer, t)
}

// renew exchanges a refresh token for a new token.
func renew(ctx context.Context, conf *oauth2.Config, issuer string, t config.Token) (config.Token, error) {
	fresh, err := conf.TokenSource(ctx, &oauth2.Token{RefreshToken: t.Refresh}).Token()
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused) && refused.Response != nil && (refused.Response.StatusCode == 400 || refused.Response.StatusCode == 401):
		return t, fmt.Errorf("%w: %s says: %w", ErrNeeded, issuer, explain(err))
	case err != nil:
		return t, fmt.Errorf("%s: %w", issuer, explain(err))
	}
	again := stored(fresh)
	again.Client = t.Client
	return again, nil
}

// Logout removes a login and reports whether there was one.
func (c *Client) Logout(ctx context.Context, l config.Login) (found bool, err error) {
	return c.logout(ctx, l.ID())
}

func (c *Client) logout(ctx context.Context, id string) (found bool, err error) {
	err = c.store.Change(ctx, func(all *config.Credentials) error {
		_, found = all.Logins[id]
		delete(all.Logins, id)
		return nil
	})
	return found, err
}

func (c *Client) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, c.http)
}

// discover returns the endpoints of an issuer (RFC 8414, OpenID Discovery).
func (c *Client) discover(ctx context.Context, l config.Login) (*oauth2.Config, error) {
	issuer, err := url.Parse(l.Issuer)
	if err != nil || !safeURL(l.Issuer) {
		return nil, fmt.Errorf("%q is not a valid issuer", l.Issuer)
	}
	first := issuer.JoinPath("/.well-known/openid-configuration").String()
	second := *issuer
	second.Path = "/.well-known/oauth-authorization-server" + strings.TrimRight(issuer.Path, "/")
	var failed error
	for _, at := range []string{first, second.String()} {
		m, err := c.metadata(ctx, at)
		switch {
		case err != nil:
			failed = err
			continue
		case strings.TrimRight(m.Issuer, "/") != strings.TrimRight(l.Issuer, "/"):
			return nil, fmt.Errorf("%s calls itself %q: login_issuer has to be the same", at, visible(m.Issuer))
		case !safeURL(m.Token) || m.Device != "" && !safeURL(m.Device) || m.Page != "" && !safeURL(m.Page):
			return nil, fmt.Errorf("%s names an address that is neither https nor on this machine", at)
		}
		return &oauth2.Config{
			ClientID: l.ClientID, Scopes: strings.Fields(l.Scopes),
			Endpoint: oauth2.Endpoint{AuthURL: m.Page, DeviceAuthURL: m.Device, TokenURL: m.Token, AuthStyle: oauth2.AuthStyleInParams},
		}, nil
	}
	return nil, fmt.Errorf("%s: %w", l.Issuer, failed)
}

// metadata is an issuer's self-description.
type metadata struct {
	Issuer string `json:"issuer"`
	Token  string `json:"token_endpoint"`
	Device string `json:"device_authorization_endpoint"`
	Page   string `json:"authorization_endpoint"`
}

func (c *Client) metadata(ctx context.Context, at string) (metadata, error) {
	var m metadata
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return m, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return m, explain(err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if resp.StatusCode != http.StatusOK {
		return m, fmt.Errorf("no description of the endpoints (status %d)", resp.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		return m, errors.New("the description of the endpoints is not JSON")
	}
	return m, nil
}

// safeURL accepts addresses that are encrypted or on this machine.
func safeURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.User != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || err == nil && ip.IsLoopback())
}

// explain shortens an error of the library to its safe part, never the body of an answer, which may contain a token.
func explain(err error) error {
	var refused *oauth2.RetrieveError
	var inURL *url.Error
	switch {
	case errors.As(err, &refused):
		text := refused.ErrorCode
		if text == "" && refused.Response != nil {
			text = fmt.Sprintf("status %d", refused.Response.StatusCode)
		}
		if refused.ErrorDescription != "" {
			text += ": " + refused.ErrorDescription
		}
		return errors.New(visible(text))
	case errors.As(err, &inURL):
		return inURL.Err
	case strings.HasPrefix(err.Error(), "oauth2: "), strings.HasPrefix(err.Error(), "unmarshal "):
		return errors.New("the answer does not follow OAuth")
	}
	return err
}

// visible makes an issuer's text safe for one line of a terminal.
func visible(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, s)
	return texts.Clip(s, 300)
}

package login

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"buddy/config"
	"buddy/texts/proxies"
)

// Server is an MCP server that requires a login.
type Server struct {
	URL          string   // https, or http on this machine
	ClientID     string   // a client that the issuer knows already; "" registers one
	ClientSecret string   // of that client; "" for none
	CallbackPort int      // port of the callback on this machine; 0 is any free port
	Scopes       []string // rights to request besides those that the server names
}

// serverTimeout limits each request of a server's login.
const serverTimeout = 10 * time.Second

// LoginServer logs in at an MCP server with the code flow (OAuth 2.1 with PKCE, as the protocol requires). visit shows
// the person the address to open in a browser on this machine, and returns at once; LoginServer returns when the
// browser has come back, or ctx ends.
//
// The client is Server.ClientID, or registers itself if that is empty (RFC 7591).
func (c *Client) LoginServer(ctx context.Context, s Server, visit func(url string)) error {
	if !safeURL(s.URL) {
		return fmt.Errorf("can't log in at %q: it is neither https nor on this machine", s.URL)
	}
	back, err := listen(s.CallbackPort, "")
	if err != nil {
		return err
	}
	defer back.close()
	all, err := c.store.Read()
	if err != nil {
		return err
	}
	if had := all.Logins[config.ServerLogin(s.URL)].Client; had != nil {
		s.Scopes = union(had.Scopes, s.Scopes) // keeps the rights of the earlier login
	}
	client := guarded(s.URL)
	flow := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: back.url, RequestRefreshToken: true, AcceptUnadvertisedIss: true, Client: client,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			if !safeURL(args.URL) {
				return nil, fmt.Errorf("the login page %q is neither https nor on this machine", visible(args.URL))
			}
			visit(args.URL)
			return back.wait(ctx)
		},
		ScopeFilter: func(named []string) []string { return union(named, s.Scopes) },
		NewTokenSource: func(_ context.Context, conf *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			return oauth2.StaticTokenSource(t), c.keepServer(ctx, s.URL, conf, t)
		},
	}
	if s.ClientID != "" {
		flow.PreregisteredClient = &oauthex.ClientCredentials{ClientID: s.ClientID}
		if s.ClientSecret != "" {
			flow.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: s.ClientSecret}
		}
	} else {
		flow.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "buddy", RedirectURIs: []string{back.url}, GrantTypes: []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
		}}
	}
	handler, err := auth.NewAuthorizationCodeHandler(flow)
	if err != nil {
		return fmt.Errorf("%s: %w", s.URL, err)
	}
	req, resp, err := challenge(ctx, client, s.URL) //nolint:bodyclose // Authorize closes it
	if err != nil {
		return fmt.Errorf("%s: %w", s.URL, explain(err))
	}
	if err := handler.Authorize(ctx, req, resp); err != nil {
		return fmt.Errorf("%s: %w", s.URL, explain(err))
	}
	return nil
}

// challenge sends a request without a token, because the server's refusal says where to log in.
func challenge(ctx context.Context, client *http.Client, server string) (*http.Request, *http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode != http.StatusUnauthorized {
		_ = resp.Body.Close()
		return nil, nil, fmt.Errorf("it requires no login (status %d)", resp.StatusCode)
	}
	return req, resp, nil
}

// keepServer stores a new login of a server.
func (c *Client) keepServer(ctx context.Context, server string, conf *oauth2.Config, t *oauth2.Token) error {
	if t.AccessToken == "" || strings.ContainsFunc(t.AccessToken, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("the token can't be sent in a request")
	}
	kept := stored(t)
	kept.Client = &config.TokenClient{
		TokenURL: conf.Endpoint.TokenURL, ID: conf.ClientID, Secret: conf.ClientSecret,
		InHeader: conf.Endpoint.AuthStyle == oauth2.AuthStyleInHeader, Scopes: conf.Scopes,
	}
	return c.store.Change(ctx, func(all *config.Credentials) error {
		all.Logins[config.ServerLogin(server)] = kept
		return nil
	})
}

// ServerToken returns the token for a server, as [Client.Token] does for a provider.
func (c *Client) ServerToken(ctx context.Context, server, refused string) (string, error) {
	return c.token(ctx, config.ServerLogin(server), refused, func(t config.Token) (config.Token, error) {
		if t.Refresh == "" || t.Client == nil {
			return t, ErrNeeded
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
		defer cancel()
		conf := &oauth2.Config{ClientID: t.Client.ID, ClientSecret: t.Client.Secret, Endpoint: oauth2.Endpoint{
			TokenURL: t.Client.TokenURL, AuthStyle: oauth2.AuthStyleInParams,
		}}
		if t.Client.InHeader {
			conf.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
		}
		return renew(context.WithValue(ctx, oauth2.HTTPClient, guarded(server)), conf, t.Client.TokenURL, t)
	})
}

// ServerAuth returns the authorization for a session's requests to a server: the stored token. It opens no browser. If
// a login is missing or grants too few rights, it fails with ErrNeeded and the rights that the server requires.
func (c *Client) ServerAuth(server string) auth.OAuthHandler {
	return &serverAuth{client: c, server: server}
}

type serverAuth struct {
	client *Client
	server string

	mu      sync.Mutex // guards the fields below
	refused string     // the last token that the server rejected
	over    error      // why the stored login gives no token; nil: unknown
	tried   string     // the login of over
}

// token returns the token to send. It does not ask an issuer again about a login that the issuer has rejected. The
// caller holds a.mu.
func (a *serverAuth) token(ctx context.Context) (string, error) {
	all, err := a.client.store.Read()
	if err != nil {
		return "", err
	}
	t := all.Logins[config.ServerLogin(a.server)]
	stored := t.Access + " " + t.Refresh
	if a.over != nil && a.tried == stored {
		return "", a.over
	}
	a.over = nil
	token, err := a.client.ServerToken(ctx, a.server, a.refused)
	if errors.Is(err, ErrNeeded) {
		a.over, a.tried = err, stored
	}
	return token, err
}

// TokenSource returns nil without a login, because the server may not require one.
func (a *serverAuth) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	token, err := a.token(ctx)
	switch {
	case errors.Is(err, ErrNeeded):
		return nil, nil //nolint:nilnil // the request goes without a token
	case err != nil:
		return nil, err
	}
	return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token}), nil
}

// Authorize looks for a newer token after one was rejected.
func (a *serverAuth) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	_ = resp.Body.Close()
	sent := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	if resp.StatusCode == http.StatusForbidden {
		if scope, more := wantsScope(resp); more {
			return fmt.Errorf("%w for what the server now requires: %s", ErrNeeded, scope)
		}
		return nil // the request is repeated once, with the same answer as the final one
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if sent != "" { // otherwise the token that was rejected before is still the last one
		a.refused = sent
	}
	_, err := a.token(ctx)
	return err
}

// wantsScope returns the rights that a token lacks (RFC 6750, insufficient_scope).
func wantsScope(resp *http.Response) (scope string, more bool) {
	all, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		return "", false
	}
	for _, c := range all {
		if c.Params["error"] == "insufficient_scope" {
			return visible(c.Params["scope"]), true
		}
	}
	return "", false
}

// LogoutServer removes the login of a server and reports whether there was one.
func (c *Client) LogoutServer(ctx context.Context, server string) (found bool, err error) {
	return c.logout(ctx, config.ServerLogin(server))
}

// guarded returns the HTTP client for a server's login. The issuer that a server names is untrusted: unless the server
// itself is on this machine or in its network, the client connects to no address there. It does not follow redirects,
// which would carry secrets along.
func guarded(server string) *http.Client {
	own, through := false, proxies.FromEnvironment()
	if u, err := url.Parse(server); err == nil {
		ip, err := netip.ParseAddr(u.Hostname())
		own = u.Hostname() == "localhost" || err == nil && !public(ip)
		if at, err := through(u); err != nil || at != nil {
			own = true // connections go to the proxy, which decides where they lead
		}
	}
	dialer := &net.Dialer{Timeout: serverTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || own || public(at.Addr()) {
			return err
		}
		return fmt.Errorf("%s is in this network, and the server %s is not", at.Addr(), server)
	}}
	return &http.Client{
		Timeout:       serverTimeout,
		Transport:     &http.Transport{DialContext: dialer.DialContext, Proxy: proxies.ForRequest(through), TLSHandshakeTimeout: serverTimeout},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// public reports whether an address is neither this machine's nor in its network.
func public(ip netip.Addr) bool {
	ip = ip.Unmap()
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && !netip.MustParsePrefix("100.64.0.0/10").Contains(ip)
}

// union returns both lists without duplicates.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

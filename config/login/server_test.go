package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"buddy/config"
)

// host is an MCP server with its issuer, as described by RFC 9728, 8414 and 7591.
type host struct {
	*httptest.Server
	wrongIss  bool // the browser returns another issuer's name
	hangs     bool // the token endpoint
	denies    bool // the person, on the login page
	open      bool // accepts requests without a token
	elsewhere string
	clients   []string // registered clients

	mu        sync.Mutex // guards the fields below
	issued    int
	challenge string // of the code flow
	scope     string
	revoked   bool   // refresh tokens are invalid
	refused   int    // requests with a refresh token since then
	valid     string // the accepted access token
}

func newHost(t *testing.T) *host {
	h := &host{}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = r.ParseForm()
	answer := func(status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	switch r.URL.Path {
	case "/mcp":
		if got := r.Header.Get("Authorization"); !h.open && (h.valid == "" || got != "Bearer "+h.valid) {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+h.URL+`/.well-known/oauth-protected-resource/mcp", scope="read"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		answer(200, map[string]any{"ok": true})
	case "/.well-known/oauth-protected-resource/mcp":
		issuer := h.URL
		if h.elsewhere != "" {
			issuer = h.elsewhere
		}
		answer(200, map[string]any{"resource": h.URL + "/mcp", "authorization_servers": []string{issuer}})
	case "/.well-known/oauth-authorization-server":
		answer(200, map[string]any{
			"issuer": h.URL, "authorization_endpoint": h.URL + "/authorize", "token_endpoint": h.URL + "/token", "registration_endpoint": h.URL + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
			"authorization_response_iss_parameter_supported": true, "scopes_supported": []string{"offline_access"},
		})
	case "/register":
		var c map[string]any
		_ = json.NewDecoder(r.Body).Decode(&c)
		h.clients = append(h.clients, fmt.Sprint(c["client_name"]))
		answer(201, map[string]any{"client_id": "registered", "redirect_uris": c["redirect_uris"], "token_endpoint_auth_method": "none"})
	case "/authorize":
		h.authorize(w, r)
	case "/token":
		h.token(r, answer)
	default:
		http.NotFound(w, r)
	}
}

func (h *host) authorize(w http.ResponseWriter, r *http.Request) {
	h.challenge, h.scope = r.Form.Get("code_challenge"), r.Form.Get("scope")
	back, _ := url.Parse(r.Form.Get("redirect_uri"))
	q := url.Values{"state": {r.Form.Get("state")}, "code": {"c1"}, "iss": {h.URL}}
	if h.wrongIss {
		q.Set("iss", "https://evil.example")
	}
	if h.denies {
		q = url.Values{"state": {r.Form.Get("state")}, "error": {"access_denied"}, "error_description": {"no\x1b[31m"}}
	}
	back.RawQuery = q.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (h *host) token(r *http.Request, answer func(int, any)) {
	if h.hangs {
		h.mu.Unlock()
		<-r.Context().Done()
		h.mu.Lock()
		return
	}
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		if r.Form.Get("code_verifier") == "" || h.challenge == "" || r.Form.Get("resource") != h.URL+"/mcp" {
			answer(400, map[string]any{"error": "invalid_request"})
			return
		}
	case "refresh_token":
		if h.revoked {
			h.refused++
			answer(400, map[string]any{"error": "invalid_grant"})
			return
		}
		if r.Form.Get("refresh_token") != fmt.Sprintf("rt-%d", h.issued) || r.Form.Get("client_id") == "" { // each is invalid after its use
			answer(400, map[string]any{"error": "invalid_grant"})
			return
		}
	}
	h.issued++
	h.valid = fmt.Sprintf("at-%d", h.issued)
	answer(200, map[string]any{"access_token": h.valid, "refresh_token": fmt.Sprintf("rt-%d", h.issued), "token_type": "Bearer", "expires_in": 3600})
}

// browser visits the login page and agrees.
func browser(t *testing.T) func(string) {
	return func(at string) {
		go func() {
			resp, err := http.Get(at) //nolint:gosec,noctx // the test's own page
			if err != nil {
				return // the callback was closed
			}
			defer resp.Body.Close() //nolint:errcheck // only read
			if text, _ := io.ReadAll(resp.Body); !strings.Contains(string(text), "go back to buddy") {
				t.Errorf("the browser shows %q", text)
			}
		}()
	}
}

func newClient(t *testing.T) *Client {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", filepath.Join(t.TempDir(), "home"))
	return New(config.Auth())
}

// call sends a request like a session and returns its status.
func call(t *testing.T, c *Client, h *host) (int, error) {
	t.Helper()
	return callWith(t, c.ServerAuth(h.URL+"/mcp"), h)
}

func callWith(t *testing.T, handler auth.OAuthHandler, h *host) (int, error) {
	t.Helper()
	for again := false; ; again = true {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL+"/mcp", nil)
		source, err := handler.TokenSource(t.Context())
		if err != nil {
			return 0, err
		}
		if source != nil {
			token, _ := source.Token()
			token.SetAuthHeader(req)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err
		}
		if again || resp.StatusCode != http.StatusUnauthorized {
			_ = resp.Body.Close()
			return resp.StatusCode, nil
		}
		if err := handler.Authorize(t.Context(), req, resp); err != nil {
			return resp.StatusCode, err
		}
	}
}

func TestServerLogin(t *testing.T) {
	for _, known := range []string{"", "mine"} {
		h, c := newHost(t), newClient(t)
		if _, err := call(t, c, h); !errors.Is(err, ErrNeeded) {
			t.Fatalf("without a login: %v", err)
		}
		s := Server{URL: h.URL + "/mcp", ClientID: known, Scopes: []string{"write"}}
		if err := c.LoginServer(t.Context(), s, browser(t)); err != nil {
			t.Fatal(err)
		}
		if status, err := call(t, c, h); status != 200 || err != nil {
			t.Errorf("after the login: %d, %v", status, err)
		}
		if got := slices.Sorted(strings.FieldsSeq(h.scope)); !slices.Equal(got, []string{"offline_access", "read", "write"}) {
			t.Errorf("scopes %q", got)
		}
		if registered := len(h.clients) > 0; registered != (known == "") {
			t.Errorf("clients that registered: %q", h.clients)
		}
		s.Scopes = []string{"admin"} // requesting more rights loses none
		if err := c.LoginServer(t.Context(), s, browser(t)); err != nil || !strings.Contains(h.scope, "read") || !strings.Contains(h.scope, "write") || !strings.Contains(h.scope, "admin") {
			t.Errorf("scopes %q, %v", h.scope, err)
		}
		if found, err := c.LogoutServer(t.Context(), s.URL); !found || err != nil {
			t.Errorf("logout: %v, %v", found, err)
		}
		if _, err := call(t, c, h); !errors.Is(err, ErrNeeded) {
			t.Errorf("after the logout: %v", err)
		}
	}
}

// An issuer that rejects a login is asked once about it, whatever a session requests; a new login is used at once.
func TestLoginThatIsOverIsAskedForOnce(t *testing.T) {
	h, c := newHost(t), newClient(t)
	s := Server{URL: h.URL + "/mcp"}
	if err := c.LoginServer(t.Context(), s, browser(t)); err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	h.valid, h.revoked = "", true
	h.mu.Unlock()
	handler := c.ServerAuth(s.URL)
	for range 3 {
		if _, err := callWith(t, handler, h); !errors.Is(err, ErrNeeded) || !strings.Contains(err.Error(), "invalid_grant") {
			t.Errorf("%v", err)
		}
	}
	if h.refused != 1 {
		t.Errorf("the issuer was asked %d times", h.refused)
	}
	h.mu.Lock()
	h.revoked = false
	h.mu.Unlock()
	if err := c.LoginServer(t.Context(), s, browser(t)); err != nil {
		t.Fatal(err)
	}
	if status, err := callWith(t, handler, h); status != 200 || err != nil {
		t.Errorf("after another login: %d, %v", status, err)
	}
}

// TestServerTokenIsRefreshedOnce: several sessions share a refresh token that can be used once; one of them asks, and
// the others use its result.
func TestServerTokenIsRefreshedOnce(t *testing.T) {
	h, c := newHost(t), newClient(t)
	if err := c.LoginServer(t.Context(), Server{URL: h.URL + "/mcp"}, browser(t)); err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	h.valid = "revoked" // revoked early by the server
	h.mu.Unlock()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if status, err := call(t, New(config.Auth()), h); status != 200 || err != nil {
				t.Errorf("%d, %v", status, err)
			}
		})
	}
	all.Wait()
	if h.issued != 2 {
		t.Errorf("the issuer gave %d tokens, want one for the login and one refresh", h.issued)
	}
}

func TestServerLoginFails(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(h *host)
		says string
	}{
		{"the answer of another issuer", func(h *host) { h.wrongIss = true }, `issuer "https://evil.example" does not match`},
		{"the person denies", func(h *host) { h.denies = true }, "the login was refused: access_denied: no\uFFFD[31m"},
		{"it wants no login", func(h *host) { h.open = true }, "it requires no login (status 200)"},
		{"an issuer that is another", func(h *host) { h.elsewhere = "http://127.0.0.1:1/evil" }, "connection refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, client := newHost(t), newClient(t)
			c.set(h)
			err := client.LoginServer(t.Context(), Server{URL: h.URL + "/mcp"}, browser(t))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
			if all, _ := config.Auth().Read(); len(all.Logins) > 0 {
				t.Error("something was stored")
			}
		})
	}
	t.Run("the token endpoint hangs", func(t *testing.T) {
		h, client := newHost(t), newClient(t)
		h.hangs = true
		ctx, cancel := context.WithCancel(t.Context())
		err := client.LoginServer(ctx, Server{URL: h.URL + "/mcp"}, func(at string) {
			browser(t)(at)
			cancel()
		})
		if err == nil {
			t.Error("it went on")
		}
	})
	t.Run("an address that is not safe", func(t *testing.T) {
		if err := newClient(t).LoginServer(t.Context(), Server{URL: "http://example.com/mcp"}, nil); err == nil || !strings.Contains(err.Error(), "neither https nor on this machine") {
			t.Error(err)
		}
	})
}

// TestServersIssuerInThisNetwork: a server elsewhere can't direct the login to an address of this network; a server in
// this network can.
func TestServersIssuerInThisNetwork(t *testing.T) {
	h := newHost(t)
	get := func(server string) error {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, h.URL+"/.well-known/oauth-authorization-server", nil)
		resp, err := guarded(server).Do(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	if err := get("https://mcp.example.com/"); err == nil || !strings.Contains(err.Error(), "is in this network") {
		t.Errorf("a server elsewhere: %v", err)
	}
	if err := get("http://localhost:3000/"); err != nil {
		t.Errorf("a server on this machine: %v", err)
	}
	for ip, want := range map[string]bool{
		"93.184.215.14": true, "2606:2800:21f:cb07::1": true, "10.1.2.3": false, "127.0.0.1": false, "169.254.169.254": false,
		"::1": false, "fd00::1": false, "::ffff:10.0.0.1": false, "0.0.0.0": false, "100.64.0.1": false,
	} {
		if got := public(netip.MustParseAddr(ip)); got != want {
			t.Errorf("%s: public %v, want %v", ip, got, want)
		}
	}
}

func TestServerWantsMoreRights(t *testing.T) {
	a := newClient(t).ServerAuth("https://mcp.example.com/")
	req, _ := http.NewRequest(http.MethodPost, "https://mcp.example.com/", nil) //nolint:noctx // it is not sent
	answer := func(header string) *http.Response {
		return &http.Response{StatusCode: 403, Header: http.Header{"Www-Authenticate": {header}}, Body: io.NopCloser(strings.NewReader(""))}
	}
	err := a.Authorize(t.Context(), req, answer(`Bearer error="insufficient_scope", scope="admin write"`))
	if !errors.Is(err, ErrNeeded) || !strings.Contains(err.Error(), "admin write") {
		t.Errorf("%v", err)
	}
	if err := a.Authorize(t.Context(), req, answer(`Bearer error="other"`)); err != nil {
		t.Errorf("another refusal: %v", err)
	}
}

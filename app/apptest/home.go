package apptest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"buddy/config"
)

// LoginServer is a test server with two login issuers, and a model that accepts one token at a time. The issuer at the
// server's URL has the device flow; the issuer at URL/browser has only the authorization code flow.
type LoginServer struct {
	*httptest.Server
	challenge atomic.Value // string: the PKCE challenge of the last login with the code flow

	Good      atomic.Value // string: the token that the model accepts
	Refreshes atomic.Int32
	Asked     atomic.Int32
	Refuses   atomic.Bool // refuse every token
}

// NewLoginServer starts a server that ends with the test. It accepts the token at-0 first.
func NewLoginServer(t *testing.T) *LoginServer {
	t.Helper()
	s := StartLoginServer()
	t.Cleanup(s.Close)
	return s
}

// StartLoginServer starts a server that the caller closes.
func StartLoginServer() *LoginServer {
	s := &LoginServer{}
	s.Good.Store("at-0")
	s.challenge.Store("")
	s.Server = httptest.NewServer(s)
	return s
}

// browser serves the issuer with the authorization code flow (RFC 6749 with PKCE). It logs everyone in without asking.
func (s *LoginServer) browser(w http.ResponseWriter, r *http.Request, answer func(any)) {
	at := s.URL + "/browser"
	switch q := r.URL.Query(); r.URL.Path {
	case "/browser/.well-known/openid-configuration":
		answer(map[string]string{"issuer": at, "token_endpoint": at + "/token", "authorization_endpoint": at + "/authorize"})
	case "/browser/authorize":
		if q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("client_id") != "buddy" {
			http.Error(w, "not a login with PKCE", http.StatusBadRequest)
			return
		}
		s.challenge.Store(q.Get("code_challenge"))
		back := url.Values{"code": {"c-1"}, "state": {q.Get("state")}, "iss": {at}}
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	case "/browser/token":
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if r.FormValue("code") != "c-1" || base64.RawURLEncoding.EncodeToString(sum[:]) != s.challenge.Load() {
			http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
			return
		}
		answer(map[string]any{"access_token": "at-0", "refresh_token": "rt-0", "token_type": "Bearer", "expires_in": 3600})
	default:
		http.NotFound(w, r)
	}
}

func (s *LoginServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		answer(map[string]string{"issuer": s.URL, "token_endpoint": s.URL + "/token", "device_authorization_endpoint": s.URL + "/device"})
	case "/device":
		answer(map[string]any{"device_code": "d", "user_code": "ABCD-EFGH", "verification_uri": s.URL + "/enter", "expires_in": 600, "interval": 1})
	case "/token":
		if r.FormValue("grant_type") == "refresh_token" {
			s.Refreshes.Add(1)
			answer(map[string]any{"access_token": s.Good.Load(), "token_type": "Bearer"})
			return
		}
		answer(map[string]any{"access_token": "at-0", "refresh_token": "rt-0", "token_type": "Bearer", "expires_in": 3600})
	case "/v1/chat/completions":
		s.Asked.Add(1)
		if s.Refuses.Load() || r.Header.Get("Authorization") != "Bearer "+s.Good.Load().(string) {
			http.Error(w, `{"error":{"message":"bad token"}}`, http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	case "/v1/responses":
		s.responses(w, r)
	default:
		s.browser(w, r, answer)
	}
}

// responses serves a Responses endpoint behind a login: it accepts only requests that are streamed and not stored.
func (s *LoginServer) responses(w http.ResponseWriter, r *http.Request) {
	var body struct{ Store, Stream *bool }
	err := json.NewDecoder(r.Body).Decode(&body)
	switch {
	case r.Header.Get("Authorization") != "Bearer "+s.Good.Load().(string):
		http.Error(w, `{"error":{"message":"bad token"}}`, http.StatusUnauthorized)
	case err != nil || body.Store == nil || *body.Store || body.Stream == nil || !*body.Stream:
		http.Error(w, `{"error":{"message":"store must be false, stream must be true"}}`, http.StatusBadRequest)
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(`data: {"type":"response.output_text.delta","delta":"hello"}` + "\n\n" +
			`data: {"type":"response.completed","response":{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hello"}]}]}}` + "\n\n"))
	}
}

// Home gives a test a home folder without settings, keys or local model servers, and returns the folder.
func Home(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "BUDDY_API_KEY", "AGENT_API_KEY", "BUDDY_MODEL", "AGENT_MODEL", "BUDDY_BASE_URL", "AGENT_BASE_URL"} {
		t.Setenv(name, "")
	}
	for _, p := range config.Providers() {
		for _, name := range p.Variables() {
			t.Setenv(name, "")
		}
	}
	t.Setenv(config.EnvLocal, "off")
	t.Chdir(t.TempDir())
	return home
}

// ServeModels starts a local model server with the given models. buddy finds it as an Ollama server.
func ServeModels(t *testing.T, models ...string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"object":"list","data":[{"id":"%s"}]}`, strings.Join(models, `"},{"id":"`))
	}))
	t.Cleanup(s.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	t.Setenv(config.EnvLocal, "ollama="+port)
}

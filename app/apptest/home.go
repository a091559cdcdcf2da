package apptest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"buddy/config"
)

// LoginServer is a login issuer with a model that accepts one token at a time.
type LoginServer struct {
	*httptest.Server
	Good      atomic.Value // string: the token that the model accepts
	Refreshes atomic.Int32
	Asked     atomic.Int32
	Refuses   atomic.Bool // refuse every token
}

// NewLoginServer starts a server that ends with the test. It accepts the token at-0 first.
func NewLoginServer(t *testing.T) *LoginServer {
	t.Helper()
	s := &LoginServer{}
	s.Good.Store("at-0")
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
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
	default:
		http.NotFound(w, r)
	}
}

// Home gives a test a home folder without settings, keys and servers, and returns it.
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

// ServeModels starts a model server on this machine that buddy finds as Ollama.
func ServeModels(t *testing.T, models ...string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"object":"list","data":[{"id":"%s"}]}`, strings.Join(models, `"},{"id":"`))
	}))
	t.Cleanup(s.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	t.Setenv(config.EnvLocal, "ollama="+port)
}

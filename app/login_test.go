package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"buddy/agent/model"
	"buddy/config"
)

// TestKeyIsKept (H12): what the screen does with a key that it was given.
func TestKeyIsKept(t *testing.T) {
	ownHome(t)
	if _, err := accountOf(config.Config{}, "nowhere"); err == nil || !strings.Contains(err.Error(), "nothing to log in to is called") {
		t.Error(err)
	}
	a, err := accountOf(config.Config{}, "openai")
	if err != nil {
		t.Fatal(err)
	}
	d := a.door()
	if _, err := d.Keep(t.Context(), "sk-typed"); err != nil || d.Name != "openai" || d.Title != "OpenAI" || d.Issuer != "" {
		t.Errorf("%+v, %v", d, err)
	}
	if all, err := config.Auth().Read(); err != nil || all.Keys["openai"] != "sk-typed" || d.File != config.Auth().Path() {
		t.Error("not stored", err)
	}
	text, err := d.Forget(t.Context())
	if all, _ := config.Auth().Read(); err != nil || len(all.Keys) != 0 || !strings.Contains(text, "logged out") {
		t.Errorf("%q, %v", text, err)
	}
}

// loginServer is an issuer and a model behind it: it takes one token at a time.
type loginServer struct {
	*httptest.Server
	good      atomic.Value // string: the token that the model takes
	refreshes atomic.Int32
	asked     atomic.Int32
	refuses   atomic.Bool // every token
}

func newLoginServer(t *testing.T) *loginServer {
	t.Helper()
	s := &loginServer{}
	s.good.Store("at-0")
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *loginServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
			s.refreshes.Add(1)
			answer(map[string]any{"access_token": s.good.Load(), "token_type": "Bearer"})
			return
		}
		answer(map[string]any{"access_token": "at-0", "refresh_token": "rt-0", "token_type": "Bearer", "expires_in": 3600})
	case "/v1/chat/completions":
		s.asked.Add(1)
		if s.refuses.Load() || r.Header.Get("Authorization") != "Bearer "+s.good.Load().(string) {
			http.Error(w, `{"error":{"message":"bad token"}}`, http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	default:
		http.NotFound(w, r)
	}
}

// TestLoginEndToEnd (H11–H14): without a login the model says what to do; after it requests
// carry the token; a refused token is replaced once, and a second refusal is an error.
func TestLoginEndToEnd(t *testing.T) {
	home := ownHome(t)
	s := newLoginServer(t)
	path := home + "/c.toml"
	text := "[models.work]\napi_base_url = \"" + s.URL + "/v1\"\nmodel = \"m\"\nlogin_issuer = \"" + s.URL + "\"\nlogin_client_id = \"buddy\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, _, err := loadConfig(&flags{config: path})
	if err != nil || !strings.Contains(c.Problem, "buddy login work") {
		t.Fatal(err, c.Problem)
	}
	m, err := connect(*c.Active, model.RecoverRetry)
	if err != nil {
		t.Fatal(err)
	}
	ask := func() (text string, err error) {
		for d, e := range m.Stream(t.Context(), model.Request{Messages: []model.Message{{Role: model.User, Content: "hi"}}}) {
			text, err = text+d.Text, e
		}
		return text, err
	}
	if _, err := ask(); err == nil || !strings.Contains(err.Error(), "not logged in; log in: /login work") || s.asked.Load() != 0 {
		t.Errorf("without a login: %v", err)
	}
	a, err := accountOf(c, "")
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	if text, err := deviceLogin(t.Context(), a, &said); err != nil || text != "work: logged in at "+s.URL || !strings.Contains(said.String(), "enter the code ABCD-EFGH") {
		t.Fatalf("%q, %v, said %q", text, err, said.String())
	}
	if text, err := deviceLogin(t.Context(), a, &said); err != nil || !strings.Contains(text, "buddy logout work") {
		t.Errorf("logged in again: %q, %v", text, err)
	}
	if text, err := ask(); text != "hello" || err != nil {
		t.Errorf("with a login: %q, %v", text, err)
	}
	s.good.Store("at-1")
	if text, err := ask(); text != "hello" || err != nil || s.refreshes.Load() != 1 {
		t.Errorf("with a token that is void: %q, %v after %d refreshes", text, err, s.refreshes.Load())
	}
	asked := s.asked.Load()
	s.refuses.Store(true)
	s.good.Store("at-2")
	if _, err := ask(); err == nil || !strings.Contains(err.Error(), "/login work") || s.asked.Load() > asked+2 {
		t.Errorf("refused for good: %v after %d requests", err, s.asked.Load()-asked)
	}
	if text, err := a.forget(t.Context()); err != nil || text != "work: logged out" {
		t.Error(text, err)
	}
}

package login

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"buddy/config"
)

// issuer is an OAuth server with the device flow. It answers polls from a list; after the last answer it returns a
// token.
type issuer struct {
	url   string // set before the first request
	polls []string
	fault func() error // fails a request of the memory transport

	mu        sync.Mutex // guards the fields below
	asked     []time.Time
	refreshed int
	forms     []string
	life      int
	patience  int  // lifetime of a code in seconds; 0: 600
	denies    bool // rejects refresh tokens
	slow      time.Duration
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	_ = r.ParseForm()
	i.forms = append(i.forms, r.Form.Encode())
	answer := func(status int, v map[string]any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		answer(200, map[string]any{"issuer": i.url, "token_endpoint": i.url + "/token", "device_authorization_endpoint": i.url + "/device"})
	case "/device":
		answer(200, map[string]any{"device_code": "dev", "user_code": "ABCD\x1b-1", "verification_uri": i.url + "/enter", "expires_in": cmp.Or(i.patience, 600), "interval": 1})
	case "/token":
		if r.Form.Get("grant_type") == "refresh_token" {
			i.refresh(r.Form.Get("refresh_token"), answer)
			return
		}
		i.asked = append(i.asked, time.Now())
		if n := len(i.asked) - 1; n < len(i.polls) {
			answer(400, map[string]any{"error": i.polls[n], "error_description": "secret-in-body\x07"})
			return
		}
		answer(200, map[string]any{"access_token": "at-0", "refresh_token": "rt-0", "token_type": "Bearer", "expires_in": i.life})
	default:
		http.NotFound(w, r)
	}
}

// refresh invalidates each refresh token when it is used.
func (i *issuer) refresh(with string, answer func(int, map[string]any)) {
	if i.denies || with != fmt.Sprintf("rt-%d", i.refreshed) {
		answer(400, map[string]any{"error": "invalid_grant"})
		return
	}
	time.Sleep(i.slow)
	i.refreshed++
	answer(200, map[string]any{"access_token": fmt.Sprintf("at-%d", i.refreshed), "refresh_token": fmt.Sprintf("rt-%d", i.refreshed), "token_type": "Bearer", "expires_in": 3600})
}

// RoundTrip answers without a network, so that the test can use a fake clock.
func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	if i.fault != nil {
		if err := i.fault(); err != nil {
			return nil, err
		}
	}
	w := httptest.NewRecorder()
	i.ServeHTTP(w, r)
	return w.Result(), nil
}

func store(t *testing.T) config.AuthStore {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	return config.Auth()
}

func inMemory(t *testing.T, i *issuer) (*Client, config.Login) {
	t.Helper()
	i.url = "https://id.example.com"
	c := New(store(t))
	c.http.Transport = i
	return c, config.Login{Issuer: i.url, ClientID: "buddy", Scopes: "openid offline_access"}
}

// TestDeviceFlow: the possible answers of an issuer before the person has answered, with the waits between.
func TestDeviceFlow(t *testing.T) {
	errNet := errors.New("network is unreachable")
	for _, tt := range []struct {
		name  string
		polls []string
		fails map[int]bool // numbers of the requests that get lost, from 1: 1 and 2 find the issuer, 3 requests the code
		want  string       // in the error; "" for a login
		waits []int        // seconds before each poll that arrived
	}{
		{name: "at once", waits: []int{1}},
		{name: "pending", polls: []string{"authorization_pending", "authorization_pending"}, waits: []int{1, 1, 1}},
		{name: "slow down", polls: []string{"slow_down", "authorization_pending"}, waits: []int{1, 6, 6}},
		{name: "denied", polls: []string{"access_denied"}, want: "the login was denied", waits: []int{1}},
		{name: "expired", polls: []string{"expired_token"}, want: "expired before it was entered", waits: []int{1}},
		{name: "another error", polls: []string{"invalid_client"}, want: "invalid_client: secret-in-body\uFFFD", waits: []int{1}},
		{name: "a network fault", fails: map[int]bool{4: true}, waits: []int{11}},
		{name: "five network faults", fails: map[int]bool{4: true, 5: true, 6: true, 7: true, 8: true}, waits: []int{101}},
		{name: "no network", fails: map[int]bool{1: true, 2: true}, want: "network is unreachable"},
		{name: "no network later", fails: map[int]bool{4: true, 5: true, 6: true, 7: true, 8: true, 9: true}, want: "network is unreachable"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i := &issuer{polls: tt.polls, life: 3600}
			requests := 0
			i.fault = func() error {
				if requests++; tt.fails[requests] {
					return errNet
				}
				return nil
			}
			c, l := inMemory(t, i)
			synctest.Test(t, func(t *testing.T) {
				defer time.Sleep(2 * requestTimeout) // the timers of answers that the library does not close
				begin := time.Now()
				f, err := c.Begin(t.Context(), l)
				if err == nil {
					if f.Code != "ABCD\uFFFD-1" || f.URL != i.url+"/enter" {
						t.Errorf("%+v", f)
					}
					err = f.Wait(t.Context())
				}
				if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("error %v, want %q", err, tt.want)
				}
				for n, s := range tt.waits {
					begin = begin.Add(time.Duration(s) * time.Second)
					if n < len(i.asked) && !i.asked[n].Equal(begin) {
						t.Errorf("poll %d after %v", n, i.asked[n].Sub(begin))
					}
				}
				if err != nil {
					return
				}
				if got, err := c.Token(t.Context(), l, ""); got != "at-0" || err != nil {
					t.Errorf("token %q, %v", got, err)
				}
			})
		})
	}
}

// TestCodeExpires: the wait for a person ends when the code expires, or when the person gives up.
func TestCodeExpires(t *testing.T) {
	pending := make([]string, 10_000)
	for n := range pending {
		pending[n] = "authorization_pending"
	}
	i := &issuer{polls: pending}
	c, l := inMemory(t, i)
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(2 * requestTimeout)
		f, err := c.Begin(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if err := f.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "expired") || time.Since(begin) > 10*time.Minute {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		f, _ = c.Begin(t.Context(), l)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if err := f.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// TestLongestFlow: the wait lasts as long as the code is valid, and at most 15 minutes.
func TestLongestFlow(t *testing.T) {
	for patience, want := range map[int]time.Duration{899: 899 * time.Second, 900: 15 * time.Minute, 901: 15 * time.Minute, 86_400: 15 * time.Minute} {
		i := &issuer{polls: slices.Repeat([]string{"authorization_pending"}, 2000), patience: patience}
		c, l := inMemory(t, i)
		synctest.Test(t, func(t *testing.T) {
			defer time.Sleep(2 * requestTimeout)
			begin := time.Now()
			f, err := c.Begin(t.Context(), l)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Expires.Sub(begin); got != want {
				t.Errorf("a code of %d s expires after %v, want %v", patience, got, want)
			}
			if err := f.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "expired") || time.Since(begin) > want || time.Since(begin) < want-2*time.Second {
				t.Errorf("a code of %d s: %v after %v", patience, err, time.Since(begin))
			}
		})
	}
}

// put stores the token of an earlier login.
func put(t *testing.T, c *Client, l config.Login, token config.Token) {
	t.Helper()
	if err := c.store.Change(t.Context(), func(all *config.Credentials) error { all.Logins[l.ID()] = token; return nil }); err != nil {
		t.Fatal(err)
	}
}

// TestRefresh: a token is replaced before it ends or after a rejection, and kept while it is valid and the issuer can't
// be reached.
func TestRefresh(t *testing.T) {
	for _, tt := range []struct {
		name    string
		left    time.Duration
		refresh string
		refused string
		offline bool
		denies  bool
		want    string
		needed  bool // the person has to log in
	}{
		{name: "fresh", left: time.Hour, refresh: "rt-0", want: "old"},
		{name: "ends soon", left: 80 * time.Second, refresh: "rt-0", want: "at-1"},
		{name: "ends in 90 s", left: 90 * time.Second, refresh: "rt-0", want: "at-1"},
		{name: "ends in 91 s", left: 91 * time.Second, refresh: "rt-0", want: "old"},
		{name: "has ended", left: -time.Hour, refresh: "rt-0", want: "at-1"},
		{name: "refused", left: time.Hour, refresh: "rt-0", refused: "old", want: "at-1"},
		{name: "another was refused", left: time.Hour, refresh: "rt-0", refused: "older", want: "old"},
		{name: "offline, still good", left: 80 * time.Second, refresh: "rt-0", offline: true, want: "old"},
		{name: "offline", left: -time.Second, refresh: "rt-0", offline: true},
		{name: "cannot be replaced, still good", left: 80 * time.Second, want: "old"},
		{name: "login expired", left: -time.Second, refresh: "rt-0", denies: true, needed: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i := &issuer{denies: tt.denies}
			if tt.offline {
				i.fault = func() error { return errors.New("no route") }
			}
			c, l := inMemory(t, i)
			var got string
			var err error
			synctest.Test(t, func(t *testing.T) {
				put(t, c, l, config.Token{Access: "old", Refresh: tt.refresh, Expires: time.Now().Add(tt.left)})
				got, err = c.Token(t.Context(), l, tt.refused)
				time.Sleep(2 * requestTimeout) // the timers of answers that the library does not close
			})
			if got != tt.want || (err == nil) != (tt.want != "") || errors.Is(err, ErrNeeded) != tt.needed {
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			}
		})
	}
	c, l := inMemory(t, &issuer{})
	if _, err := c.Token(t.Context(), l, ""); !errors.Is(err, ErrNeeded) {
		t.Error(err)
	}
	put(t, c, l, config.Token{Access: "a"})
	if found, err := c.Logout(t.Context(), l); !found || err != nil {
		t.Error(found, err)
	}
	if found, err := c.Logout(t.Context(), l); found || err != nil {
		t.Error(found, err)
	}
}

// TestIssuer: an issuer that claims another name, or sends secrets unencrypted, is rejected.
func TestIssuer(t *testing.T) {
	for name, m := range map[string]string{
		"another":        `{"issuer":"https://other","token_endpoint":"https://id.example.com/t"}`,
		"in the clear":   `{"issuer":"https://id.example.com","token_endpoint":"http://id.example.com/t"}`,
		"no device flow": `{"issuer":"https://id.example.com","token_endpoint":"https://id.example.com/t"}`,
		"no JSON":        `<html>`,
	} {
		c := New(store(t))
		c.http.Transport = answer(m)
		if _, err := c.Begin(t.Context(), config.Login{Issuer: "https://id.example.com", ClientID: "x"}); err == nil {
			t.Errorf("%s: believed", name)
		} else if strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%s: %q", name, err)
		}
	}
}

type answer string

func (a answer) RoundTrip(*http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	_, _ = w.WriteString(string(a))
	return w.Result(), nil
}

// TestTwoProcesses: of several processes with an old token one asks the issuer, whose refresh tokens can be used once;
// all get the new token.
func TestTwoProcesses(t *testing.T) {
	if at := os.Getenv("LOGIN_TEST_ISSUER"); at != "" {
		token, err := New(config.Auth()).Token(t.Context(), config.Login{Issuer: at, ClientID: "buddy"}, "")
		fmt.Printf("token=%s err=%v\n", token, err)
		return
	}
	i := &issuer{slow: 100 * time.Millisecond}
	s := httptest.NewServer(i)
	defer s.Close()
	i.url = s.URL
	c := New(store(t))
	l := config.Login{Issuer: s.URL, ClientID: "buddy"}
	put(t, c, l, config.Token{Access: "old", Refresh: "rt-0", Expires: time.Now().Add(-time.Minute)})
	var all sync.WaitGroup
	outs := make([]string, 4)
	for n := range outs {
		all.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestTwoProcesses$")
			cmd.Env = append(os.Environ(), "LOGIN_TEST_ISSUER="+s.URL)
			out, err := cmd.CombinedOutput()
			outs[n] = fmt.Sprint(string(out), err)
		})
	}
	all.Wait()
	for n, out := range outs {
		if !strings.Contains(out, "token=at-1 err=<nil>") {
			t.Errorf("process %d: %s", n, out)
		}
	}
	if i.refreshed != 1 {
		t.Errorf("refreshed %d times", i.refreshed)
	}
}

// visit opens a login page as a browser does, and follows its redirects.
func visit(t *testing.T, page string) {
	t.Helper()
	resp, err := http.Get(page)
	if err != nil {
		t.Error(err)
		return
	}
	_ = resp.Body.Close()
}

// TestKeyPage: a provider's page returns a code to a port of this machine, and the code is exchanged for a key. Pages
// that guess the address of the callback get nowhere, and a refused code stores nothing.
func TestKeyPage(t *testing.T) {
	var challenge, callback string
	mux := http.NewServeMux()
	mux.HandleFunc("/auth", func(w http.ResponseWriter, r *http.Request) {
		challenge, callback = r.FormValue("code_challenge"), r.FormValue("callback_url")
		http.Redirect(w, r, callback+"?code="+r.FormValue("code_challenge_method"), http.StatusFound)
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, r *http.Request) {
		var form map[string]string
		_ = json.NewDecoder(r.Body).Decode(&form)
		sum := sha256.Sum256([]byte(form["code_verifier"]))
		if base64.RawURLEncoding.EncodeToString(sum[:]) != challenge || form["code"] != "S256" || form["code_challenge_method"] != "S256" {
			http.Error(w, "secret-in-body", http.StatusForbidden)
			return
		}
		_, _ = w.Write([]byte(`{"key":"sk-or-1","user_id":"u"}`))
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	c := New(store(t))
	at := config.KeyPage{Page: s.URL + "/auth", Exchange: s.URL + "/keys"}
	f, err := c.BeginKey("openrouter", at)
	if err != nil || f.Code != "" {
		t.Fatal(err, f)
	}
	u, _ := url.Parse(f.URL)
	back, _ := url.Parse(u.Query().Get("callback_url"))
	back.Path, back.RawQuery = "/callback", "code=S256&state=x"
	visit(t, back.String()) // another program of this machine guesses
	visit(t, f.URL)
	if err := f.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all, err := c.store.Read(); err != nil || all.Keys["openrouter"] != "sk-or-1" {
		t.Error("the key was not stored", err)
	}

	at.Exchange = s.URL + "/missing"
	if _, err := c.store.SetKey(t.Context(), "openrouter", ""); err != nil {
		t.Fatal(err)
	}
	if f, err = c.BeginKey("openrouter", at); err != nil {
		t.Fatal(err)
	}
	visit(t, f.URL)
	if err := f.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "openrouter: refused the login (status 404)") {
		t.Error(err)
	}
	if all, _ := c.store.Read(); all.Keys["openrouter"] != "" {
		t.Error("a key was stored")
	}
	if _, err := c.BeginKey("openrouter", config.KeyPage{Page: "http://example.com", Exchange: s.URL}); err == nil {
		t.Error("an unencrypted page was accepted")
	}
}

// TestCodeFlow: an issuer without the device flow logs in through a browser on this machine; an answer with another
// state, from another issuer or about a refusal stores nothing.
func TestCodeFlow(t *testing.T) {
	for name, tt := range map[string]struct{ state, more, want string }{
		"logged in":    {},
		"other state":  {state: "x", want: "from another login"},
		"other issuer": {more: "&iss=https://other", want: `came back from "https://other"`},
		"refused":      {more: "&error=access_denied", want: "the login was refused: access_denied"},
	} {
		t.Run(name, func(t *testing.T) {
			mux := http.NewServeMux()
			s := httptest.NewServer(mux)
			defer s.Close()
			challenge := ""
			mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
				_, _ = fmt.Fprintf(w, `{"issuer":%q,"token_endpoint":%q,"authorization_endpoint":%q}`, s.URL, s.URL+"/token", s.URL+"/page")
			})
			mux.HandleFunc("/page", func(w http.ResponseWriter, r *http.Request) {
				challenge = r.FormValue("code_challenge")
				http.Redirect(w, r, r.FormValue("redirect_uri")+"?code=c&state="+cmp.Or(tt.state, r.FormValue("state"))+tt.more, http.StatusFound)
			})
			mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
				sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
				if base64.RawURLEncoding.EncodeToString(sum[:]) != challenge || r.FormValue("code") != "c" {
					http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"access_token":"at","refresh_token":"rt","token_type":"Bearer"}`))
			})
			c := New(store(t))
			l := config.Login{Issuer: s.URL, ClientID: "buddy"}
			f, err := c.Begin(t.Context(), l)
			if err != nil {
				t.Fatal(err)
			}
			visit(t, f.URL)
			err = f.Wait(t.Context())
			token, _ := c.Token(t.Context(), l, "")
			if tt.want == "" && (err != nil || token != "at") || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || token != "") {
				t.Errorf("%q, %v; want %q", token, err, tt.want)
			}
		})
	}
}

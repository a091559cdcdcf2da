package cli

import (
	"os"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/app/account"
	"buddy/app/apptest"
	"buddy/app/compose"
)

// TestLoginEndToEnd: without a login the model's error names the command; after it requests carry the token; a refused
// token is replaced once, and a second refusal is an error.
func TestLoginEndToEnd(t *testing.T) {
	home := apptest.Home(t)
	s := apptest.NewLoginServer(t)
	path := home + "/c.toml"
	text := "[models.work]\napi_base_url = \"" + s.URL + "/v1\"\nmodel = \"m\"\nlogin_issuer = \"" + s.URL + "\"\nlogin_client_id = \"buddy\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, _, err := compose.LoadConfig(&compose.Options{Config: path})
	if err != nil || !strings.Contains(c.Problem, "buddy login work") {
		t.Fatal(err, c.Problem)
	}
	m, err := compose.Connect(*c.Active, model.RecoverRetry)
	if err != nil {
		t.Fatal(err)
	}
	ask := func() (text string, err error) {
		for d, e := range m.Stream(t.Context(), model.Request{Messages: []model.Message{{Role: model.User, Content: "hi"}}}) {
			text, err = text+d.Text, e
		}
		return text, err
	}
	if _, err := ask(); err == nil || !strings.Contains(err.Error(), "not logged in; log in: /login work") || s.Asked.Load() != 0 {
		t.Errorf("without a login: %v", err)
	}
	a, err := account.Find(c, "")
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	if text, err := browserLogin(t.Context(), a, &said); err != nil || text != "work: logged in to "+s.URL || !strings.Contains(said.String(), "enter the code ABCD-EFGH") {
		t.Fatalf("%q, %v, said %q", text, err, said.String())
	}
	if text, err := browserLogin(t.Context(), a, &said); err != nil || !strings.Contains(text, "buddy logout work") {
		t.Errorf("logged in again: %q, %v", text, err)
	}
	if text, err := ask(); text != "hello" || err != nil {
		t.Errorf("with a login: %q, %v", text, err)
	}
	s.Good.Store("at-1")
	if text, err := ask(); text != "hello" || err != nil || s.Refreshes.Load() != 1 {
		t.Errorf("with a token that is void: %q, %v after %d refreshes", text, err, s.Refreshes.Load())
	}
	asked := s.Asked.Load()
	s.Refuses.Store(true)
	s.Good.Store("at-2")
	if _, err := ask(); err == nil || !strings.Contains(err.Error(), "/login work") || s.Asked.Load() > asked+2 {
		t.Errorf("refused for good: %v after %d requests", err, s.Asked.Load()-asked)
	}
	if text, err := a.Forget(t.Context()); err != nil || text != "work: logged out" {
		t.Error(text, err)
	}
}

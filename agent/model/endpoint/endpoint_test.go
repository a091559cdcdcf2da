package endpoint_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/endpoint"
)

// send does one request and returns its body or its error.
func send(t *testing.T, c endpoint.Config) (string, error) {
	t.Helper()
	e, err := endpoint.New(c)
	if err != nil {
		t.Fatal(err)
	}
	call := e.Call(t.Context())
	defer call.Close()
	req, err := http.NewRequestWithContext(call.Context(), http.MethodPost, e.BaseURL()+"/x", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call.Do(req); err != nil { //nolint:bodyclose // Close does
		return "", err
	}
	var body strings.Builder
	for {
		event, err := call.Next()
		if errors.Is(err, io.EOF) {
			return body.String(), nil
		}
		if err != nil {
			return body.String(), call.Explain(err)
		}
		body.Write(event)
	}
}

// TestHints: what to do about a status, in the words of the configuration.
func TestHints(t *testing.T) {
	for _, tt := range []struct {
		code   int
		config endpoint.Config
		hint   string
	}{
		{401, endpoint.Config{Access: endpoint.Access{Key: "secret-key", KeySource: "file ~/.key"}}, "Key: file ~/.key"},
		{401, endpoint.Config{Access: endpoint.Access{Key: "secret-key"}}, "check the key"},
		{403, endpoint.Config{Profile: "work"}, "no key was sent: set api_key_env in [models.work]"},
		{403, endpoint.Config{Profile: "work/gpt-6", Model: "gpt-6"}, "no key was sent: set api_key_env in a profile for it"},
		{404, endpoint.Config{Profile: "work", API: "completions"}, `try the other protocol: api = "responses" in [models.work]`},
		{404, endpoint.Config{Profile: "work", API: "responses"}, `try the other protocol: api = "completions" in [models.work]`},
		{405, endpoint.Config{API: "anthropic"}, `try the other protocol: api = "completions" in the profile`},
		{400, endpoint.Config{}, ""},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.code)
			_, _ = fmt.Fprint(w, "no: ", tt.config.Key)
		}))
		tt.config.BaseURL = srv.URL + "/"
		_, err := send(t, tt.config)
		srv.Close()
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Status != tt.code || !strings.HasSuffix(e.Hint, tt.hint) || (tt.hint == "") != (e.Hint == "") {
			t.Errorf("%d %+v: %v", tt.code, tt.config, err)
		}
		if e.Endpoint != srv.URL+"/x" || strings.Contains(err.Error(), "secret-key") {
			t.Errorf("error = %v", err)
		}
	}
}

// TestCredentialsInURL: credentials are sent, but never shown.
func TestCredentialsInURL(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "u" || password != "pass-word" {
			t.Errorf("got %q, %q", user, password)
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	defer srv.Close()
	url := strings.Replace(srv.URL, "://", "://u:pass-word@", 1)
	_, err := send(t, endpoint.Config{BaseURL: url})
	if err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, err), "pass-word") {
		t.Error(err)
	}
	e, err := endpoint.New(endpoint.Config{BaseURL: url})
	if err != nil || e.Shown() != srv.URL || e.BaseURL() != url {
		t.Errorf("%v, %q", err, e.Shown())
	}
}

// TestShortKey: the placeholder keys of local servers are not treated as secrets, so texts stay readable.
func TestShortKey(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprint(w, "exact")
	}))
	defer srv.Close()
	if _, err := send(t, endpoint.Config{BaseURL: srv.URL, Access: endpoint.Access{Key: "x"}}); err == nil || !strings.HasSuffix(err.Error(), ": exact") {
		t.Error(err)
	}
}

// TestUnknownModel: the error for an unknown model lists similar names; a 404 about something else requests no list.
func TestUnknownModel(t *testing.T) {
	for _, tt := range []struct {
		name, said, list, hint string
		lists                  int
	}{
		{"near", `{"error":{"message":"The model gpt-6-soll does not exist"}}`, `{"data":[{"id":"embed-3"},{"id":"gpt-6-mini"},{"id":"gpt-6-sol"}]}`, "nearest: gpt-6-sol, gpt-6-mini; choose another with /model, or set model in [models.work]", 1},
		{"none is near", `no model gpt-6-soll`, `{"data":[{"id":"embed-3"}]}`, "choose another with /model, or set model in [models.work]", 1},
		{"no list", `no model gpt-6-soll`, `<html>`, "choose another with /model, or set model in [models.work]", 1},
		{"it is there", `model gpt-6-soll has no such path`, `{"data":[{"id":"gpt-6-soll"}]}`, "check api_base_url and model, or try the other protocol: api = \"responses\" in [models.work]", 1},
		{"another 404", "page not found", `{"data":[{"id":"gpt-6-sol"}]}`, "check api_base_url and model, or try the other protocol: api = \"responses\" in [models.work]", 0},
		{"a hostile name", `no model gpt-6-soll`, `{"data":[{"id":"gpt-6-sol\u001b[2J"}]}`, "nearest: gpt-6-sol\ufffd[2J; choose another with /model, or set model in [models.work]", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lists := 0
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet && r.URL.Path == "/models" {
					lists++
					_, _ = fmt.Fprint(w, tt.list)
					return
				}
				w.WriteHeader(http.StatusNotFound)
				_, _ = fmt.Fprint(w, tt.said)
			}))
			defer srv.Close()
			_, err := send(t, endpoint.Config{BaseURL: srv.URL, Profile: "work", API: "completions", Model: "gpt-6-soll"})
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Hint != tt.hint || lists != tt.lists {
				t.Errorf("%v after %d lists, want the hint %q", err, lists, tt.hint)
			}
		})
	}
}

package web

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestTransportReachesOnlyConfiguredLocalHosts(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Method)
	}))
	defer srv.Close()
	c := NewClient(Options{})
	get := func(rt http.RoundTripper) (string, error) {
		res, err := (&http.Client{Transport: rt}).Post(srv.URL, "text/plain", strings.NewReader("x"))
		if err != nil {
			return "", err
		}
		defer res.Body.Close() //nolint:errcheck // it was only read
		text, err := io.ReadAll(res.Body)
		return string(text), err
	}
	if _, err := get(c.Transport()); err == nil || !strings.Contains(err.Error(), "this machine") {
		t.Errorf("a host that nobody configured: %v", err)
	}
	if got, err := get(c.Transport("127.0.0.1")); got != "POST" || err != nil {
		t.Errorf("a configured one: %q, %v", got, err)
	}
}

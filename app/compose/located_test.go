package compose

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"buddy/config"
)

// served starts a local server that lists models and returns its port.
func served(t *testing.T, models string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"object":"list","data":[` + models + `]}`))
	}))
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}

// TestLocated: a profile that only names the program uses the port where it answers, preferring the one that lists its
// model. A server's description of itself counts at every port; other machines are not queried.
func TestLocated(t *testing.T) {
	const old, moved = `{"id":"a","owned_by":"llamacpp"}`, `{"id":"b","owned_by":"llamacpp"}`
	first, second := served(t, old), served(t, moved)
	address := func(port string) string { return "http://127.0.0.1:" + port + "/v1" }
	for _, tt := range []struct{ ports, name, base, server string }{
		{"llamacpp=" + first + " llamacpp=" + second, "llamacpp/a", address(first), "llamacpp"},
		{"llamacpp=" + first + " llamacpp=" + second, "llamacpp/b", address(second), "llamacpp"},
		{"llamacpp=" + first + " llamacpp=" + second, "llamacpp/c", address(first), "llamacpp"},
		{"llamacpp=1 llamacpp=" + second, "llamacpp/a", address(second), "llamacpp"},
		{"llamacpp=1 llamacpp=2", "llamacpp/a", address("1"), ""},
	} {
		t.Setenv(config.EnvLocal, tt.ports)
		p, ok := (&config.Config{}).Lookup(tt.name)
		if !ok {
			t.Fatal(tt.name)
		}
		if p = located(p); p.BaseURL != tt.base || p.Server != tt.server {
			t.Errorf("%s, %s: at %s, of %q; want %s, %q", tt.ports, tt.name, p.BaseURL, p.Server, tt.base, tt.server)
		}
	}
	for base, want := range map[string]string{"http://localhost:" + second + "/v1": "llamacpp", "http://192.0.2.1:" + second + "/v1": ""} {
		if p := located(config.Profile{Name: "mine", BaseURL: base, Model: "b"}); p.Server != want || p.BaseURL != base {
			t.Errorf("%s: %+v", base, p)
		}
	}
}

// TestNoModel: if a local server only has to be named, the text is the command line for a shell.
func TestNoModel(t *testing.T) {
	hostile := served(t, `{"id":"\u001b[31m; rm -rf"},{"id":"it's.gguf"}`)
	none := served(t, "")
	for _, tt := range []struct {
		ports string
		line  []string
		c     config.Config
		want  string
	}{
		{"off", []string{"exec", "hi"}, config.Config{Problem: "no model"}, "no model"},
		{"ollama=" + none, []string{"exec", "hi"}, config.Config{Problem: "no model"}, "no model"},
		{"llamacpp=" + hostile, []string{"exec", "--json", "count 'a b'"}, config.Config{Problem: "no model"}, `buddy exec --model 'llamacpp/it'\''s.gguf' --json 'count '\''a b'\'''`},
		{"llamacpp=" + hostile, []string{"-p", "hi"}, config.Config{Problem: "no model"}, `buddy --model 'llamacpp/it'\''s.gguf' -p hi`},
		{"llamacpp=" + hostile, []string{"exec", "hi"}, config.Config{Problem: "no key", Models: []config.Profile{{}}}, "no key"},
	} {
		t.Setenv(config.EnvLocal, tt.ports)
		got := NoModel(&Options{Line: tt.line}, tt.c)
		lines := strings.Split(got, "\n")
		if lines[len(lines)-1] != tt.want || strings.Contains(got, "\x1b") {
			t.Errorf("%s: %q, want %q", tt.ports, got, tt.want)
		}
	}
}

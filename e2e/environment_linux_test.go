package e2e

import (
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"buddy/texts/proxies/proxiestest"
)

// Variables that people have set for other programs work, from the environment to the request: addresses and tokens of
// vendors, proxies, certificate authorities. The error message of a proxy is shown to the person.
func TestEnvironmentThatPeopleBring(t *testing.T) {
	d := newDialog(t, "dumb")
	model, err := url.Parse(d.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	socks := proxiestest.Socks(t, model.Host)
	secure := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: model.Host}))
	defer secure.Close()
	d.write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})))
	ca := filepath.Join(d.work, "ca.pem")
	blocked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "<html><head><title>403 Forbidden</title></head><body><h1>Access blocked</h1>\n<p>Category: AI</p></body></html>")
	}))
	defer blocked.Close()
	profile := "[models.work]\napi_base_url = %q\napi_key = \"\"\nmodel = \"test\"\ncontext_limit = 100000\n"
	const hello = `You said "hello".`
	for _, tt := range []struct {
		name, settings string
		env            []string
		code           int
		header, value  string // of the request; "" is not checked
		want, not      string
	}{
		{
			"OPENAI_BASE_URL, and a key with a line break", "",
			[]string{"OPENAI_API_KEY=sk-one\n", "OPENAI_BASE_URL=" + d.server.URL},
			0,
			"Authorization", "Bearer sk-one", "OPENAI_API_KEY has spaces or a line break around the key", "sk-one",
		},
		{
			"ANTHROPIC_BASE_URL and ANTHROPIC_AUTH_TOKEN", "",
			[]string{"ANTHROPIC_AUTH_TOKEN=sk-two", "ANTHROPIC_API_KEY=sk-three", "ANTHROPIC_BASE_URL=" + strings.TrimSuffix(d.server.URL, "/v1")},
			0,
			"Authorization", "Bearer sk-two", hello, "sk-t",
		},
		{"its key is another header", "", []string{"ANTHROPIC_API_KEY=sk-three", "ANTHROPIC_BASE_URL=" + d.server.URL}, 0, "X-Api-Key", "sk-three", hello, "sk-t"},
		{"a SOCKS proxy", fmt.Sprintf(profile, "http://model.example/v1"), []string{"ALL_PROXY=socks5://ann:s3cret@" + socks.Addr}, 0, "", "", hello, "s3cret"},
		{"a server that nobody vouches for", fmt.Sprintf(profile, secure.URL+"/v1"), nil, 1, "", "", "name the file of the authority that signed it: ca_file in [models.work], or SSL_CERT_FILE", hello},
		{"ca_file", fmt.Sprintf(profile, secure.URL+"/v1") + "ca_file = \"~/../ca.pem\"\n", nil, 0, "", "", hello, ""},
		{"SSL_CERT_FILE", fmt.Sprintf(profile, secure.URL+"/v1"), []string{"SSL_CERT_FILE=" + ca}, 0, "", "", hello, ""},
		{"SSL_CERT_DIR", fmt.Sprintf(profile, secure.URL+"/v1"), []string{"SSL_CERT_DIR=" + d.work}, 0, "", "", hello, ""},
		{"a page of a proxy", fmt.Sprintf(profile, "http://model.example/v1"), []string{"HTTP_PROXY=" + blocked.URL}, 1, "", "", "403 forbidden: Access blocked Category: AI", "<h1>"},
		{"a page of a proxy, before TLS", fmt.Sprintf(profile, "https://model.example/v1"), []string{"ALL_PROXY=" + blocked.URL}, 1, "", "", "status 403 Forbidden: Access blocked Category: AI", "<h1>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d.write("home/.config/buddy/buddy.toml", tt.settings)
			env := d.cmd.Env
			defer func() { d.cmd.Env = env }()
			d.cmd.Env = append(d.cmd.Env[:len(env):len(env)], tt.env...)
			out, code := d.run("exec", "hello")
			if code != tt.code || !strings.Contains(out, tt.want) || tt.not != "" && strings.Contains(out, tt.not) {
				t.Errorf("exit %d, %q in:\n%s", code, tt.want, out)
			}
			if tt.code != 0 {
				return
			}
			got := ""
			for _, r := range d.server.Requests() {
				got = r.Header.Get(tt.header)
			}
			if got != tt.value || !strings.Contains(out, hello) {
				t.Errorf("%s: %s\n%s", tt.header, got, out)
			}
		})
	}
	if asked := strings.Join(socks.Asked(), "\n"); !strings.HasPrefix(asked, "model.example:80 ann:s3cret") {
		t.Errorf("the proxy was asked for %q", asked)
	}
}

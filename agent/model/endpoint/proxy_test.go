package endpoint_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/endpoint"
	"buddy/texts/proxies/proxiestest"
)

// blockPage is a page as firewalls send it, and blockText the text quoted from it.
const (
	blockPage = "<!DOCTYPE html>\n<html><head><title>403 Forbidden</title><style>p { color: red }</style><script>alert('x')</script></head>\n" +
		"<body><h1>Access blocked</h1>\n<p>Category:\n <b>AI &amp; chat</b>\x1b[31m</p><p>Ask it@example.com</p></body></html>"
	blockText = "Access blocked Category: AI & chat \ufffd[31m Ask it@example.com"
)

// TestProxies: models are reached through proxies of any kind from the environment.
func TestProxies(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"data":[{"id":"by %s"}]}`, r.Host)
	}))
	defer srv.Close()
	socks := proxiestest.Socks(t, srv.Listener.Addr().String())
	for _, proxy := range []string{"socks5://ann:s3cret@" + socks.Addr, "socks5h://ann:s3cret@" + socks.Addr, srv.URL} {
		t.Setenv("ALL_PROXY", proxy)
		if all, err := endpoint.Models(t.Context(), endpoint.Config{BaseURL: "http://api.example.com/v1"}); err != nil || !slices.Equal(all, []string{"by api.example.com"}) {
			t.Errorf("%s: %q, %v", proxy, all, err)
		}
	}
	if got, want := socks.Asked(), slices.Repeat([]string{"api.example.com:80 ann:s3cret"}, 2); !slices.Equal(got, want) {
		t.Errorf("the proxy was asked for %q, want %q", got, want)
	}
}

// TestAuthorities: a server with an untrusted certificate is reached with its authority; otherwise the error names the
// setting.
func TestAuthorities(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"data":[{"id":"one"}]}`)
	}))
	defer srv.Close()
	_, err := send(t, endpoint.Config{BaseURL: srv.URL, Profile: "work"})
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.SetupError || !strings.Contains(e.Hint, "ca_file in [models.work], or SSL_CERT_FILE") {
		t.Errorf("without it: %v", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	if all, err := endpoint.Models(t.Context(), endpoint.Config{BaseURL: srv.URL, Access: endpoint.Access{Authorities: pool}}); err != nil || !slices.Equal(all, []string{"one"}) {
		t.Errorf("with it: %q, %v", all, err)
	}
}

// TestProxy: an error names the proxy when it is its fault, not the server.
func TestProxy(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(407) }))
	defer refusing.Close()
	blocking := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(403)
		_, _ = io.WriteString(w, blockPage)
	}))
	defer blocking.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10")
		w.WriteHeader(403)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer silent.Close()
	for _, tt := range []struct {
		name, proxy, base string
		kind              model.ErrorKind
		want              string
	}{
		{"dead", "http://" + dead, "https://api.example.com/v1", model.ConnectError, "no connection to the proxy: "},
		{"dead, without TLS", "http://" + dead, "http://api.example.com/v1", model.ConnectError, "no connection to the proxy: "},
		{"wants to know who asks", refusing.URL, "https://api.example.com/v1", model.SetupError, "the proxy 127.0.0.1:"},
		{"blocks with a page", blocking.URL, "https://api.example.com/v1", model.SetupError, "refuses: status 403 Forbidden: " + blockText},
		{"blocks with a page, without TLS", blocking.URL, "http://api.example.com/v1", model.StatusError, "api.example.com: 403 forbidden: " + blockText},
		{"blocks, and its page never comes", silent.URL, "https://api.example.com/v1", model.SetupError, "refuses: status 403 Forbidden"},
		{"SOCKS, which refuses", "socks5://" + proxiestest.Socks(t, "").Addr, "https://api.example.com/v1", model.ConnectError, "did not connect: "},
		{"the same, without TLS", refusing.URL, "http://api.example.com/v1", model.SetupError, "407 proxy authentication required"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("ALL_PROXY", tt.proxy)
			e, err := endpoint.New(endpoint.Config{BaseURL: tt.base})
			if err != nil {
				t.Fatal(err)
			}
			call := e.Call(t.Context())
			defer call.Close()
			err = call.Post("/x", nil, nil)
			known, ok := errors.AsType[*model.Error](err)
			if !ok || known.Kind != tt.kind || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "check the proxy in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY") {
				t.Errorf("error = %v", err)
			}
		})
	}
}

// TestCompressed: an unrequested compression is decoded while the answer streams.
func TestCompressed(t *testing.T) {
	const event = "data: {\"message\":\"packed\"}\n\n"
	for _, tt := range []struct {
		encoding string
		code     int
		pack     func(io.Writer) io.WriteCloser
		want     string // in the error; "" = no error
	}{
		{"gzip", 200, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }, ""},
		{"deflate", 200, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }, ""},
		{"deflate", 200, func(w io.Writer) io.WriteCloser { f, _ := flate.NewWriter(w, 5); return f }, ""},
		{"gzip", 400, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }, "400 bad request: packed"},
		{"br", 200, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }, `the answer is compressed with "br", which was not asked for`},
	} {
		var packed bytes.Buffer
		w := tt.pack(&packed)
		_, _ = io.WriteString(w, event)
		_ = w.Close()
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", tt.encoding)
			w.WriteHeader(tt.code)
			_, _ = w.Write(packed.Bytes())
		}))
		e, err := endpoint.New(endpoint.Config{BaseURL: srv.URL})
		if err != nil {
			t.Fatal(err)
		}
		call := e.Call(t.Context())
		err = call.Post("/x", nil, nil)
		var got []byte
		for err == nil && got == nil {
			got, err = call.Next()
		}
		if (err == nil) != (tt.want == "") || err == nil && string(got) != `{"message":"packed"}` || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %d: %q, %v", tt.encoding, tt.code, got, err)
		}
		call.Close()
		srv.Close()
	}
}

// TestDress: headers, the query of the base URL and the key's header are in every request and never shown.
func TestDress(t *testing.T) {
	var got *http.Request
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		w.WriteHeader(400)
	}))
	defer srv.Close()
	for _, name := range []string{"api-key", "Authorization"} {
		e, err := endpoint.New(endpoint.Config{
			BaseURL: srv.URL + "/openai/?api-version=preview&sig=hidden",
			Access:  endpoint.Access{Key: "the-key", KeyHeader: name, Headers: []string{"X-Title: my: work"}, UserAgent: "buddy/1.2"},
		})
		if err != nil {
			t.Fatal(err)
		}
		call := e.Call(t.Context())
		err = call.Post("/x", http.Header{"X-Api-Key": {"the-key"}, "Authorization": {"Bearer the-key"}}, []byte("{}"))
		call.Close()
		want := map[string]string{"api-key": "the-key", "Authorization": "Bearer the-key"}[name]
		if got.Header.Get(name) != want || got.Header.Get("X-Api-Key") != "" || (name == "api-key") != (got.Header.Get("Authorization") == "") {
			t.Errorf("%s: %v", name, got.Header)
		}
		if got.URL.String() != "/openai/x?api-version=preview&sig=hidden" || got.Header.Get("X-Title") != "my: work" || got.UserAgent() != "buddy/1.2" {
			t.Errorf("%s %v", got.URL, got.Header)
		}
		if strings.Contains(err.Error(), "hidden") || strings.Contains(e.Shown(), "hidden") {
			t.Errorf("%v, %s", err, e.Shown())
		}
	}
}

package endpoint_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/endpoint"
)

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
	for _, tt := range []struct {
		name, proxy, base string
		kind              model.ErrorKind
		want              string
	}{
		{"dead", "http://" + dead, "https://api.example.com/v1", model.ConnectError, "no connection to the proxy: "},
		{"dead, without TLS", "http://" + dead, "http://api.example.com/v1", model.ConnectError, "no connection to the proxy: "},
		{"wants to know who asks", refusing.URL, "https://api.example.com/v1", model.SetupError, "the proxy 127.0.0.1:"},
		{"the same, without TLS", refusing.URL, "http://api.example.com/v1", model.SetupError, "407 proxy authentication required"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := endpoint.New(endpoint.Config{BaseURL: tt.base})
			if err != nil {
				t.Fatal(err)
			}
			to, err := url.Parse(tt.proxy)
			if err != nil {
				t.Fatal(err)
			}
			e.SetProxy(http.ProxyURL(to))
			call := e.Call(t.Context())
			defer call.Close()
			err = call.Post("/x", nil, nil)
			known, ok := errors.AsType[*model.Error](err)
			if !ok || known.Kind != tt.kind || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "check the proxy in HTTPS_PROXY") {
				t.Errorf("error = %v", err)
			}
		})
	}
}

// TestCompressed: what was not asked for is read all the same, as it comes.
func TestCompressed(t *testing.T) {
	const event = "data: {\"message\":\"packed\"}\n\n"
	for _, tt := range []struct {
		encoding string
		code     int
		pack     func(io.Writer) io.WriteCloser
		want     string // in the error; "" = it is read
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

// TestDress: headers, the query of the base URL and the name of the key's header go with
// every request, and are shown nowhere.
func TestDress(t *testing.T) {
	var got *http.Request
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		w.WriteHeader(400)
	}))
	defer srv.Close()
	for _, name := range []string{"api-key", "Authorization"} {
		e, err := endpoint.New(endpoint.Config{
			BaseURL: srv.URL + "/openai/?api-version=preview&sig=hidden", Key: "the-key", KeyHeader: name,
			Headers: []string{"X-Title: my: work"}, UserAgent: "buddy/1.2",
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

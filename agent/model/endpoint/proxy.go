package endpoint

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"buddy/agent/model"
)

const proxyHint = "check the proxy in HTTPS_PROXY or HTTP_PROXY, and NO_PROXY for hosts that need none"

// proxyRefusal is what a proxy answered instead of a way to the server.
type proxyRefusal struct {
	proxy  string
	status int
}

func (r *proxyRefusal) Error() string {
	return strings.TrimSpace(fmt.Sprintf("the proxy %s refuses: status %d %s", r.proxy, r.status, http.StatusText(r.status)))
}

// refuseProxy is the transport's OnProxyConnectResponse.
func refuseProxy(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyRefusal{proxy.Host, resp.StatusCode}
}

// proxy fills in why there is no way through a proxy. It reports whether that was it.
func (c *Call) proxy(e *model.Error) bool {
	var refused *proxyRefusal
	if errors.As(e.Err, &refused) {
		e.What, e.Status, e.Hint = refused.Error(), refused.status, proxyHint
		if refused.status < 500 {
			e.Kind = model.SetupError
		}
		return true
	}
	var op *net.OpError
	if errors.As(e.Err, &op) && op.Op == "proxyconnect" {
		e.What, e.Hint = "no connection to the proxy: "+short(op.Err), proxyHint
		return true
	}
	return false
}

// unpacked undoes the compression that a server chose though nobody asked for it. The
// bytes that the watch counts are those on the wire.
func unpacked(body io.Reader, encoding string) (io.Reader, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		return &lazily{open: func() (io.Reader, error) { return gzip.NewReader(body) }}, nil
	case "deflate": // with the header of zlib, as RFC 9110 has it, or without, as some send it
		return &lazily{open: func() (io.Reader, error) {
			in := bufio.NewReader(body)
			head, err := in.Peek(2)
			if err == nil && head[0]&0x0f == 8 && (int(head[0])<<8+int(head[1]))%31 == 0 {
				return zlib.NewReader(in)
			}
			return flate.NewReader(in), nil
		}}, nil
	}
	return nil, &model.Error{Kind: model.FormatError, What: fmt.Sprintf("the answer is compressed with %q, which was not asked for", model.Excerpt([]byte(encoding)))}
}

// lazily opens a reader when the first byte is wanted: before that nothing came.
type lazily struct {
	open func() (io.Reader, error)
	in   io.Reader
}

func (l *lazily) Read(p []byte) (int, error) {
	if l.in == nil {
		in, err := l.open()
		if err != nil {
			return 0, err
		}
		l.in = in
	}
	return l.in.Read(p)
}

// body is what is read and what is closed.
type body struct {
	io.Reader
	io.Closer
}

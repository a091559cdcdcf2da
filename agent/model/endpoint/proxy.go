package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"buddy/agent/model"
	"buddy/texts/proxies"
)

const proxyHint = "check the proxy in " + proxies.Variables + ", and NO_PROXY for hosts that need none"

// pageWait limits the wait for the page of a proxy that refused to connect, because the status alone is enough for an
// error.
const pageWait = time.Second

// proxyRefusal holds the answer of a proxy that refused to connect to the server.
type proxyRefusal struct {
	proxy  string
	status int
	page   []byte // its start
}

func (r *proxyRefusal) Error() string {
	return strings.TrimSpace(fmt.Sprintf("the proxy %s refuses: status %d %s", r.proxy, r.status, http.StatusText(r.status)))
}

// refuseProxy is the transport's OnProxyConnectResponse.
func refuseProxy(_ context.Context, at *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	read := make(chan []byte, 1)
	go func() { // ends at the latest when the transport closes the connection
		page, _ := io.ReadAll(io.LimitReader(resp.Body, maxPage)) // only the start is shown
		read <- page
	}()
	refusal := &proxyRefusal{proxy: at.Host, status: resp.StatusCode}
	select {
	case refusal.page = <-read:
	case <-time.After(pageWait):
	}
	return refusal
}

// proxy reports whether the request failed because of a proxy; if so, it sets the fields of e that explain how.
func (c *Call) proxy(e *model.Error) bool {
	if refused, ok := errors.AsType[*proxyRefusal](e.Err); ok {
		e.What, e.Status, e.Hint = refused.Error(), refused.status, proxyHint
		e.Heard(refused.page)
		if refused.status < 500 {
			e.Kind = model.SetupError
		}
		return true
	}
	op, ok := errors.AsType[*net.OpError](e.Err)
	switch {
	case ok && op.Op == "proxyconnect":
		e.What, e.Hint = "no connection to the proxy: "+short(op.Err), proxyHint
	case ok && op.Op == "socks connect":
		e.What, e.Hint = fmt.Sprintf("the proxy %s did not connect: %s", op.Source, short(op.Err)), proxyHint
	default:
		return false
	}
	return true
}

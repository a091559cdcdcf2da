package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"buddy/agent/model"
)

const proxyHint = "check the proxy in HTTPS_PROXY or HTTP_PROXY, and NO_PROXY for hosts that need none"

// proxyRefusal holds the answer of a proxy that did not connect to the server.
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
	if refused, ok := errors.AsType[*proxyRefusal](e.Err); ok {
		e.What, e.Status, e.Hint = refused.Error(), refused.status, proxyHint
		if refused.status < 500 {
			e.Kind = model.SetupError
		}
		return true
	}
	if op, ok := errors.AsType[*net.OpError](e.Err); ok && op.Op == "proxyconnect" {
		e.What, e.Hint = "no connection to the proxy: "+short(op.Err), proxyHint
		return true
	}
	return false
}

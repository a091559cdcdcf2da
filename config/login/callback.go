package login

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// callback receives the answer that a browser brings back from a login page. It listens on both loopback addresses,
// because browsers differ in which one they use for "localhost".
type callback struct {
	url    string
	path   string // of url
	secret bool   // nobody can guess path, so it replaces the state
	server *http.Server
	came   chan *auth.AuthorizationResult
	failed chan error
}

// listen starts to listen, on any free port if port is 0. secret becomes a part of the path for login pages that return
// no state; for other pages it is "".
func listen(port int, secret string) (*callback, error) {
	four, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("port %d of this machine, to which the browser returns: %w", port, err)
	}
	port = four.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // of a TCP listener
	path := "/callback"
	if secret != "" {
		path += "/" + secret
	}
	c := &callback{
		url: "http://localhost:" + strconv.Itoa(port) + path, path: path, secret: secret != "",
		came: make(chan *auth.AuthorizationResult, 1), failed: make(chan error, 1),
	}
	c.server = &http.Server{Handler: http.HandlerFunc(c.receive), ReadHeaderTimeout: serverTimeout, MaxHeaderBytes: 64 << 10}
	go func() { _ = c.server.Serve(four) }()
	if six, err := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(port))); err == nil { // not every machine has IPv6
		go func() { _ = c.server.Serve(six) }()
	}
	return c, nil
}

// close stops the server.
func (c *callback) close() { _ = c.server.Close() }

// receive stores the first answer of a browser. The caller checks the state in it.
func (c *callback) receive(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if r.URL.Path != c.path || q.Get("state") == "" && !c.secret {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if why := q.Get("error"); why != "" {
		if text := q.Get("error_description"); text != "" {
			why += ": " + text
		}
		send(c.failed, errors.New("the login was refused: "+visible(why)))
		_, _ = fmt.Fprintln(w, "The login was refused. You can close this page and go back to buddy.")
		return
	}
	send(c.came, &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")})
	_, _ = fmt.Fprintln(w, "You can close this page and go back to buddy.")
}

// send stores a value unless there is one already.
func send[T any](to chan T, v T) {
	select {
	case to <- v:
	default:
	}
}

// wait returns the answer.
func (c *callback) wait(ctx context.Context) (*auth.AuthorizationResult, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, flowTimeout, errors.New("nobody came back from the login page in 15 minutes"))
	defer cancel()
	select {
	case got := <-c.came:
		return got, nil
	case err := <-c.failed:
		return nil, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

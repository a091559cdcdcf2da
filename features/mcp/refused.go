package mcp

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"buddy/texts"
)

// errRefused is the error of a server that answers, but does not accept the credentials: to try again by itself
// changes nothing, a person has to do something.
type errRefused struct{ text string }

func (e *errRefused) Error() string { return e.text }

// isRefused reports whether only a person can change why a start failed.
func isRefused(err error) bool {
	_, ok := errors.AsType[*errRefused](err)
	return ok
}

// LoginHint is in the error of a login that is missing or over, before the name of the server.
const LoginHint = "buddy mcp login "

// newLogin returns what lets requests in, nil where a header does.
func newLogin(all *Servers, def Server) auth.OAuthHandler {
	if def.authorized() || all.o.Login == nil {
		return nil
	}
	return all.o.Login(def)
}

// authorized reports whether a header says who calls.
func (s Server) authorized() bool {
	return slices.ContainsFunc(s.Endpoint.Headers, func(h string) bool { return strings.HasPrefix(strings.ToLower(h), "authorization:") })
}

// sessionHeader is the header with the id of a session.
const sessionHeader = "Mcp-Session-Id"

// seen notes what an answer over HTTP says of the credentials, and of the session that a call was made in.
func (c *connection) seen(req *http.Request, res *http.Response) {
	c.refused.Store(res.StatusCode == http.StatusUnauthorized)
	if r, ok := req.Context().Value(runningKey{}).(*running); ok && req.Method == http.MethodPost {
		r.answered(res.StatusCode, req.Header.Get(sessionHeader) != "")
	}
}

// refusal returns the error of a request that was answered with 401, nil for any other.
func (c *connection) refusal(err error) error {
	if !c.refused.Load() {
		return nil
	}
	cause := err.Error()
	if _, why, ok := strings.Cut(cause, rejected); ok {
		cause = why
	}
	def := c.server.def
	names := texts.Some(def.Endpoint.Variables)
	hinted := strings.Contains(cause, LoginHint)
	switch {
	case !hinted && c.server.login != nil && !strings.HasSuffix(cause, http.StatusText(http.StatusUnauthorized)):
		return nil // its issuer could not be asked
	case hinted && names != "":
		return &errRefused{fmt.Sprintf("%s, or the value of %s is wrong", oneLine(cause), names)}
	case hinted:
		return &errRefused{oneLine(cause)}
	case names != "":
		return &errRefused{fmt.Sprintf("it does not accept the value of %s (HTTP 401): set the variable to a valid token and start buddy again", names)}
	case def.authorized():
		return &errRefused{"it does not accept the Authorization header of its definition (HTTP 401): write a valid one there"}
	case def.Transport == HTTP:
		return &errRefused{"it does not accept the login (HTTP 401): " + LoginHint + def.Name}
	}
	return &errRefused{fmt.Sprintf("it wants a login (HTTP 401): for type %s give it one with bearer_env or headers", def.Transport)}
}

// answered notes what a server has said to a request of the call.
func (r *running) answered(status int, session bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case status == http.StatusNotFound && session && !r.accepted:
		r.unknown = true
	case status >= 200 && status < 300:
		r.accepted, r.unknown = true, false
	}
}

// notExecuted reports whether the server has said that it does not know the session of the call, and nothing else
// of the call: then it has not executed it.
func (r *running) notExecuted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unknown
}

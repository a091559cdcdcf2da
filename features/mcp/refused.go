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

// errRefused is the error of a server that answers but rejects the credentials. Retrying does not help, because a
// person has to act.
type errRefused struct{ text string }

func (e *errRefused) Error() string { return e.text }

// isRefused reports whether a start failed for a reason that only the user can remove.
func isRefused(err error) bool {
	_, ok := errors.AsType[*errRefused](err)
	return ok
}

// LoginHint precedes the server's name in errors about a missing or expired login.
const LoginHint = "buddy mcp login "

// newLogin returns the OAuth handler of a server, nil if a header authorizes its requests.
func newLogin(all *Servers, def Server) auth.OAuthHandler {
	if def.authorized() || all.o.Login == nil {
		return nil
	}
	return all.o.Login(def)
}

// authorized reports whether the definition has an Authorization header.
func (s Server) authorized() bool {
	return slices.ContainsFunc(s.Endpoint.Headers, func(h string) bool { return strings.HasPrefix(strings.ToLower(h), "authorization:") })
}

// sessionHeader has the id of the session.
const sessionHeader = "Mcp-Session-Id"

// seen records what an HTTP answer reveals about the credentials and about the session of a call.
func (c *connection) seen(req *http.Request, res *http.Response) {
	c.refused.Store(res.StatusCode == http.StatusUnauthorized)
	if r, ok := req.Context().Value(runningKey{}).(*running); ok && req.Method == http.MethodPost {
		r.answered(res.StatusCode, req.Header.Get(sessionHeader) != "")
	}
}

// refusal returns the error for a request that was answered with 401, or nil.
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
		return nil // the login's issuer could not be reached
	case hinted && names != "":
		return &errRefused{fmt.Sprintf("%s, or the value of %s is wrong", oneLine(cause), names)}
	case hinted:
		return &errRefused{oneLine(cause)}
	case names != "":
		return &errRefused{fmt.Sprintf("it rejected the value of %s (HTTP 401): set the variable to a valid token and start buddy again", names)}
	case def.authorized():
		return &errRefused{"it rejected the Authorization header that its settings define (HTTP 401): correct that header"}
	case def.Transport == HTTP:
		return &errRefused{"it rejected the login (HTTP 401): " + LoginHint + def.Name}
	}
	return &errRefused{fmt.Sprintf("it requires a login (HTTP 401): for type %s, set bearer_env or headers", def.Transport)}
}

// answered records the status of an HTTP answer to a request of the call.
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

// notExecuted reports whether the server certainly did not execute the call: it rejected the session, and accepted no
// request of the call.
func (r *running) notExecuted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unknown
}

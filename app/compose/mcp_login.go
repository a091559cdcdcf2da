package compose

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"buddy/config"
	"buddy/config/login"
	"buddy/features/mcp"
)

// serverLogin returns the login of a server: what `buddy mcp login` stored.
func serverLogin(s mcp.Server) auth.OAuthHandler {
	return hinting{login.New(config.Auth()).ServerAuth(s.Endpoint.URL), s.Name}
}

// hinting says how to log in where that is needed.
type hinting struct {
	auth.OAuthHandler
	server string
}

func (h hinting) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	err := h.OAuthHandler.Authorize(ctx, req, resp)
	if errors.Is(err, login.ErrNeeded) {
		return fmt.Errorf("%w: %s%s", err, mcp.LoginHint, h.server)
	}
	return err
}

// errNoLogin is a server that can't want a login of this kind.
var errNoLogin = errors.New("you can only log in to servers with a URL")

// LoginAtServer logs in at a server that a session in this folder would have, with more scopes than those that it names.
// say gets what the person has to know, one line at a time.
func LoginAtServer(ctx context.Context, f *Options, name string, scopes []string, say func(string)) error {
	s, err := serverHere(f, name)
	if err != nil {
		return err
	}
	s.Endpoint.Login.Scopes = append(s.Endpoint.Login.Scopes, scopes...)
	return loginAt(ctx, s, say)
}

// loginAt logs in at a server.
func loginAt(ctx context.Context, s mcp.Server, say func(string)) error {
	if s.Transport != mcp.HTTP {
		return fmt.Errorf("%q: %w", s.Name, errNoLogin)
	}
	opts := s.Endpoint.Login
	return login.New(config.Auth()).LoginServer(ctx, login.Server{
		URL: s.Endpoint.URL, ClientID: opts.ClientID, ClientSecret: opts.Secret, CallbackPort: opts.Port, Scopes: opts.Scopes,
	}, func(page string) {
		say("Open this page in a browser on this machine and confirm:")
		say(page)
		go func() { _ = openBrowser(page) }() // else the person does
	})
}

// LogoutAtServer forgets the login at a server and reports whether there was one.
func LogoutAtServer(ctx context.Context, f *Options, name string) (found bool, err error) {
	s, err := serverHere(f, name)
	if err != nil {
		return false, err
	}
	return login.New(config.Auth()).LogoutServer(ctx, s.Endpoint.URL)
}

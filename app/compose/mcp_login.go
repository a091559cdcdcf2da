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

// serverLogin returns the login of a server that `buddy mcp login` stored.
func serverLogin(s mcp.Server) auth.OAuthHandler {
	return hinting{login.New(config.Auth()).ServerAuth(s.Endpoint.URL), s.Name}
}

// hinting adds the login command to errors that need a login.
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

// errNoLogin refuses the login to a server without a URL.
var errNoLogin = errors.New("you can only log in to servers with a URL")

// LoginAtServer logs in to a server of a session in this folder, with scopes in addition to the server's own. say gets
// instructions for the user, one line per call.
func LoginAtServer(ctx context.Context, f *Options, name string, scopes []string, say func(string)) error {
	s, err := serverHere(f, name)
	if err != nil {
		return err
	}
	s.Endpoint.Login.Scopes = append(s.Endpoint.Login.Scopes, scopes...)
	return loginAt(ctx, s, say)
}

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
		go func() { _ = OpenBrowser(page) }() // the user can open it, too
	})
}

// LogoutAtServer removes the login to a server and reports whether there was one.
func LogoutAtServer(ctx context.Context, f *Options, name string) (found bool, err error) {
	s, err := serverHere(f, name)
	if err != nil {
		return false, err
	}
	return login.New(config.Auth()).LogoutServer(ctx, s.Endpoint.URL)
}

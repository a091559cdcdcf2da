package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"buddy/owners"
)

// AuthStore is the file in which `buddy login` keeps keys and tokens of logins. An AuthStore may be copied, and any
// process may use the file at any time.
type AuthStore struct{ path string }

// Auth returns the store in the folder of the user's settings. It creates nothing. Without a home folder its path is ""
// and it is always empty.
func Auth() AuthStore {
	dir := Dir()
	if dir == "" {
		return AuthStore{}
	}
	return AuthStore{filepath.Join(dir, "auth.json")}
}

// Path returns the path of the file, which need not exist.
func (s AuthStore) Path() string { return s.path }

// Credentials holds the contents of the store. Formatting prints none of them.
type Credentials struct {
	Keys   map[string]string `json:"keys,omitempty"`   // by provider name
	Logins map[string]Token  `json:"logins,omitempty"` // by [Login.ID] or [ServerLogin]
}

// Format writes a placeholder, for every verb.
func (Credentials) Format(f fmt.State, _ rune) { fmt.Fprint(f, redacted) } //nolint:errcheck // fmt's own writer

// Token holds the tokens of a login. Formatting does not print them.
type Token struct {
	Access  string    `json:"access"`
	Refresh string    `json:"refresh,omitempty"`
	Expires time.Time `json:"expires"`
	// Client is set for the login at an MCP server; it holds what a refresh needs besides the token.
	Client *TokenClient `json:"client,omitempty"`
}

// TokenClient holds the OAuth client and the endpoint that refresh a token. The token is sent to no other endpoint,
// even if the server names another issuer later.
type TokenClient struct {
	TokenURL string   `json:"token_url"`
	ID       string   `json:"id"`
	Secret   string   `json:"secret,omitempty"` // of a client that registered itself
	InHeader bool     `json:"in_header,omitempty"`
	Scopes   []string `json:"scopes,omitempty"`
}

// Format writes a placeholder, for every verb.
func (Token) Format(f fmt.State, _ rune) { fmt.Fprint(f, redacted) } //nolint:errcheck // fmt's own writer

// Read returns the contents; a missing file is empty.
func (s AuthStore) Read() (Credentials, error) {
	var c Credentials
	if s.path == "" {
		return c, nil
	}
	data, _, err := readRegular(s.path, maxFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return c, nil
	}
	if err == nil {
		err = owners.CheckOwn(s.path)
	}
	if err == nil {
		if err = json.Unmarshal(data, &c); err != nil {
			err = errors.New("is damaged: remove it and log in again") // the cause may quote a key
		}
	}
	if err != nil {
		return Credentials{}, fmt.Errorf("%q: %w", s.path, err)
	}
	return c, nil
}

// Change edits the contents under a lock against other processes. It waits for the lock until ctx ends; an error of
// edit leaves the file unchanged. The file gets mode 0600, its folder 0700.
func (s AuthStore) Change(ctx context.Context, edit func(*Credentials) error) error {
	if s.path == "" {
		return errors.New("can't find your home folder, so keys can't be saved")
	}
	dir := filepath.Dir(s.path)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.Chmod(dir, 0o700) //nolint:gosec // entering a folder needs x
	}
	if err != nil {
		return fmt.Errorf("%q: %w", dir, cause(err))
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return fmt.Errorf("%q: lock: %w", s.path, cause(err))
	}
	defer unlock()
	all, err := s.Read()
	if err != nil {
		return err
	}
	if all.Keys == nil {
		all.Keys = map[string]string{}
	}
	if all.Logins == nil {
		all.Logins = map[string]Token{}
	}
	if err := edit(&all); err != nil {
		return err
	}
	data, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		return fmt.Errorf("%q: %w", s.path, err)
	}
	if err := renameio.WriteFile(s.path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("%q: %w", s.path, cause(err))
	}
	return nil
}

// lockPause is the time between two attempts to lock: a blocking flock could not be cancelled.
const lockPause = 20 * time.Millisecond

func (s AuthStore) lock(ctx context.Context) (unlock func(), err error) {
	f, err := os.OpenFile(s.path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil // closing unlocks
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			break
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, context.Cause(ctx)
		case <-time.After(lockPause):
		}
	}
	_ = f.Close()
	return nil, err
}

// SetKey stores the key of a provider; "" removes it. found reports whether there was one.
func (s AuthStore) SetKey(ctx context.Context, provider, key string) (found bool, err error) {
	if _, err := cleanKey(key); err != nil {
		return false, fmt.Errorf("the key %w", err)
	}
	err = s.Change(ctx, func(c *Credentials) error {
		_, found = c.Keys[provider]
		delete(c.Keys, provider)
		if key != "" {
			c.Keys[provider] = key
		}
		return nil
	})
	return found, err
}

// Login holds the login settings of a profile: an OAuth 2.0 issuer with the device flow (RFC 8628) or the code flow. The
// zero Login means that a key is used instead.
type Login struct {
	Auth     string // ByKey, ByLogin or ""
	Issuer   string // https URL with the metadata about the endpoints
	ClientID string // identifies the program
	Scopes   string // separated by spaces
}

// Values of Login.Auth.
const (
	ByKey   = "api-key"
	ByLogin = "login" // at Issuer, otherwise at the provider's KeyPage
)

// KeyPage holds the addresses at which a provider lets any program log the user in and get an API key for the user.
type KeyPage struct {
	Page     string // to open in a browser
	Exchange string // exchanges the code from there for the key
}

// keyPages lists the providers with a [KeyPage]: openrouter.ai/docs/guides/overview/auth/oauth, 2026-12-01. The other
// providers require a registered client.
var keyPages = map[string]KeyPage{
	"openrouter": {"https://openrouter.ai/auth", "https://openrouter.ai/api/v1/auth/keys"},
}

// KeyPage returns the login page of a provider.
func (p Provider) KeyPage() (KeyPage, bool) {
	at, ok := keyPages[p.Name]
	return at, ok
}

// ID returns the name of the login in the store; profiles with the same ID share the login.
func (l Login) ID() string { return l.Issuer + " " + l.ClientID }

// ServerLogin returns the name of the login at an MCP server in the store; url is the address of the server.
func ServerLogin(url string) string { return "mcp " + url }

// UsesLogin reports whether requests of a profile use the token of a login: an explicit key
// has precedence.
func (p Profile) UsesLogin() bool {
	if p.Login.Issuer == "" {
		return false
	}
	key, _, err := p.explicitKey()
	return key == "" && err == nil
}

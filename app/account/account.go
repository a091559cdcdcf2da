// Package account manages the user's accounts for models: logins, and stored API keys.
//
//	a, err := account.Find(settings, "openai")
//	text, err := a.Keep(ctx, key)
package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"buddy/config"
	"buddy/config/login"
)

// Account is an issuer to log in to, or a provider whose key is stored.
type Account struct {
	Name     string // as --model and /model accept it
	Login    config.Login
	Provider config.Provider // if there is no issuer
	Browser  bool            // the login is in a browser; otherwise a person types a key
}

// otherNames maps common names of providers to the names that buddy uses.
var otherNames = map[string]string{"claude": "anthropic", "google": "gemini", "grok": "xai", "mistral": "mistralai"}

// Find returns the account that a profile uses. Like --model, name may also be a provider or a model; then Find returns
// the provider's account. For "" it returns the account of the active profile.
func Find(c config.Config, name string) (Account, error) {
	if name == "" {
		if c.Active == nil || c.Active.Login.Issuer == "" && c.Active.Login.Auth != config.ByLogin {
			return Account{}, fmt.Errorf("name a provider or profile: %s", names(c))
		}
		return ofProfile(*c.Active)
	}
	if p, ok := c.Profile(name); ok {
		return ofProfile(p)
	}
	lower := strings.ToLower(name)
	if p, ok := c.Lookup(cmp.Or(otherNames[lower], lower)); ok {
		if provider, known := p.Provider(); known {
			return Account{Name: provider.Name, Provider: provider}, nil
		}
	}
	return Account{}, fmt.Errorf("unknown provider or profile %q (have: %s)", name, names(c))
}

func ofProfile(p config.Profile) (Account, error) {
	provider, known := p.Provider()
	switch {
	case p.Login.Issuer != "":
		return Account{Name: p.Name, Login: p.Login, Browser: true}, nil
	case p.Login.Auth == config.ByLogin:
		if _, ok := provider.KeyPage(); ok {
			return Account{Name: p.Name, Provider: provider, Browser: true}, nil
		}
		return Account{}, noLogin(p, provider)
	case known:
		return Account{Name: p.Name, Provider: provider}, nil
	}
	return Account{}, fmt.Errorf("profile %q takes its key from its settings; for a login, set login_issuer", p.Name)
}

// ErrNoClient means that a provider's login requires an OAuth client, which buddy does not have.
var ErrNoClient = errors.New("buddy has no OAuth client")

// noLogin returns an error that explains how to set up a profile whose provider accepts logins only from a registered
// client.
func noLogin(p config.Profile, provider config.Provider) error {
	who, key := "the server of profile "+strconv.Quote(p.Name), "set api_key_env"
	if provider.Name != "" {
		who, key = provider.Title, fmt.Sprintf("remove auth = %q and run: buddy login %s", config.ByLogin, provider.Name)
	}
	return fmt.Errorf("%w for %s: to use a key, %s; to log in, get a client id from an OAuth issuer "+
		"that the server accepts, and set login_issuer, login_client_id and login_scopes in %s", ErrNoClient, who, key, "["+config.Path("models", p.Name)+"]")
}

// All lists every account that Find finds.
func All(c config.Config) []Account {
	var all []Account
	for _, p := range c.Models {
		if p.Login.Issuer != "" || p.Login.Auth == config.ByLogin {
			a, _ := ofProfile(p) // logging in reports the error
			a.Name, a.Browser = p.Name, true
			all = append(all, a)
		}
	}
	for _, p := range config.Providers() {
		all = append(all, Account{Name: p.Name, Provider: p})
	}
	return all
}

// names lists the names that Find accepts.
func names(c config.Config) string {
	var names []string
	for _, a := range All(c) {
		names = append(names, a.Name)
	}
	return strings.Join(names, ", ")
}

// Short returns a few words about the login or key, for a list.
func (a Account) Short() string {
	if a.Login.Issuer != "" {
		return "log in to " + a.Login.Issuer
	}
	if source, ok := a.Provider.HasKey(); ok {
		return "key from " + source
	}
	if a.Browser {
		return "not logged in"
	}
	return "no key"
}

// State describes the login or key and its source. ok reports whether there is a login or key.
func (a Account) State(ctx context.Context) (text string, ok bool, err error) {
	if a.Login.Issuer == "" {
		source, ok := a.Provider.HasKey()
		if !ok {
			if a.Browser {
				return fmt.Sprintf("%s: not logged in to %s (run: buddy login %s)", a.Name, a.Provider.Title, a.Name), false, nil
			}
			return fmt.Sprintf("%s: no key (%s)", a.Name, a.Provider.MissingKey()), false, nil
		}
		return fmt.Sprintf("%s: key from %s", a.Name, source), true, nil
	}
	if _, err := login.New(config.Auth()).Token(ctx, a.Login, ""); errors.Is(err, login.ErrNeeded) {
		return fmt.Sprintf("%s: not logged in to %s (run: buddy login %s)", a.Name, a.Login.Issuer, a.Name), false, nil
	} else if err != nil {
		return "", false, fmt.Errorf("%s: %w", a.Name, err)
	}
	return fmt.Sprintf("%s: logged in to %s", a.Name, a.Login.Issuer), true, nil
}

// Forget removes the stored login or key. text tells the user what it did.
func (a Account) Forget(ctx context.Context) (text string, err error) {
	var found bool
	if a.Login.Issuer != "" {
		found, err = login.New(config.Auth()).Logout(ctx, a.Login)
	} else {
		found, err = config.Auth().SetKey(ctx, a.Provider.Name, "")
	}
	switch {
	case err != nil:
		return "", err
	case !found:
		return fmt.Sprintf("%s: no saved key or login", a.Name), nil
	}
	text = fmt.Sprintf("%s: logged out", a.Name)
	if name := a.Provider.Variable(); name != "" {
		text += ", but " + name + " is still set"
	}
	return text, nil
}

// Keep stores a key. text tells the user where.
func (a Account) Keep(ctx context.Context, key string) (text string, err error) {
	if _, err := config.Auth().SetKey(ctx, a.Provider.Name, key); err != nil {
		return "", err
	}
	text = fmt.Sprintf("%s: key saved in %s", a.Name, config.Auth().Path())
	if name := a.Provider.Variable(); name != "" {
		text += "; " + name + " is set and has priority"
	}
	return text, nil
}

// Begin starts the login in a browser.
func (a Account) Begin(ctx context.Context) (*login.Flow, error) {
	if at, ok := a.Provider.KeyPage(); ok {
		return login.New(config.Auth()).BeginKey(a.Provider.Name, at)
	}
	return login.New(config.Auth()).Begin(ctx, a.Login)
}

// HowTo explains what to do in the browser.
func HowTo(f *login.Flow) string {
	if f.Code == "" {
		return fmt.Sprintf("open this page in a browser on this machine (until %s): %s", f.Expires.Local().Format("15:04"), f.URL)
	}
	text := fmt.Sprintf("open %s and enter the code %s (valid until %s)", f.URL, f.Code, f.Expires.Local().Format("15:04"))
	if f.Whole != "" {
		text += ", or open " + f.Whole
	}
	return text
}

// MaxKeyLine limits the text read as a key, in bytes.
const MaxKeyLine = 16 << 10

// OneKey returns the key in typed, pasted or piped text.
func OneKey(text string) (string, error) {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	switch line = strings.TrimSpace(line); {
	case len(text) > MaxKeyLine || rest != "":
		return "", errors.New("a key must be a single line of text")
	case line == "":
		return "", errors.New("no key entered; nothing saved")
	}
	return line, nil
}

package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"buddy/app/slash"
	"buddy/config"
	"buddy/config/login"
)

// account is something to log in to: an issuer, or a provider whose key is kept.
type account struct {
	name     string // that --model and /model take
	login    config.Login
	provider config.Provider // where there is no issuer
}

// otherNames are what people call providers (H12).
var otherNames = map[string]string{"claude": "anthropic", "google": "gemini", "grok": "xai", "mistral": "mistralai"}

// accountOf finds what a name means. Without one it is the active profile.
func accountOf(c config.Config, name string) (account, error) {
	if name == "" {
		if c.Active == nil || c.Active.Login.Issuer == "" {
			return account{}, fmt.Errorf("say where: %s", accountNames(c))
		}
		return account{name: c.Active.Name, login: c.Active.Login}, nil
	}
	if p, ok := c.Profile(name); ok {
		provider, known := p.Provider()
		switch {
		case p.Login.Issuer != "":
			return account{name: name, login: p.Login}, nil
		case known:
			return account{name: name, provider: provider}, nil
		}
		return account{}, fmt.Errorf("profile %q has no login: it says itself where its key is (login_issuer would name one)", name)
	}
	if other, ok := otherNames[strings.ToLower(name)]; ok {
		name = other
	}
	if p, ok := config.FindProvider(strings.ToLower(name)); ok && p.KeyEnv != "" {
		return account{name: p.Name, provider: p}, nil
	}
	return account{}, fmt.Errorf("nothing to log in to is called %q (have: %s)", name, accountNames(c))
}

func accountNames(c config.Config) string {
	var names []string
	for _, p := range c.Models {
		if p.Login.Issuer != "" {
			names = append(names, p.Name)
		}
	}
	for _, p := range config.Providers() {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// state says whether there is a login or a key, and where it is from.
func (a account) state(ctx context.Context) (text string, ok bool, err error) {
	if a.login.Issuer == "" {
		source, ok := a.provider.HasKey()
		if !ok {
			return fmt.Sprintf("%s: no key (%s)", a.name, a.provider.MissingKey()), false, nil
		}
		return fmt.Sprintf("%s: key from %s", a.name, source), true, nil
	}
	if _, err := login.New(config.Auth()).Token(ctx, a.login, ""); errors.Is(err, login.ErrNeeded) {
		return fmt.Sprintf("%s: not logged in at %s (run: buddy login %s)", a.name, a.login.Issuer, a.name), false, nil
	} else if err != nil {
		return "", false, fmt.Errorf("%s: %w", a.name, err)
	}
	return fmt.Sprintf("%s: logged in at %s", a.name, a.login.Issuer), true, nil
}

// forget removes what login stored.
func (a account) forget(ctx context.Context) (text string, err error) {
	var found bool
	if a.login.Issuer != "" {
		found, err = login.New(config.Auth()).Logout(ctx, a.login)
	} else {
		found, err = config.Auth().SetKey(ctx, a.provider.Name, "")
	}
	switch {
	case err != nil:
		return "", err
	case !found:
		return fmt.Sprintf("%s: nothing was stored", a.name), nil
	}
	text = fmt.Sprintf("%s: logged out", a.name)
	if a.provider.KeyEnv != "" && os.Getenv(a.provider.KeyEnv) != "" {
		text += ", but " + a.provider.KeyEnv + " is still set"
	}
	return text, nil
}

// keep stores a key.
func (a account) keep(ctx context.Context, key string) (text string, err error) {
	if _, err := config.Auth().SetKey(ctx, a.provider.Name, key); err != nil {
		return "", err
	}
	text = fmt.Sprintf("%s: the key is kept in %s", a.name, config.Auth().Path())
	if a.provider.KeyEnv != "" && os.Getenv(a.provider.KeyEnv) != "" {
		text += "; " + a.provider.KeyEnv + " is set and comes first"
	}
	return text, nil
}

// begin starts the device flow.
func (a account) begin(ctx context.Context) (*login.Flow, error) {
	return login.New(config.Auth()).Begin(ctx, a.login)
}

// howTo says what to do in the browser.
func howTo(f *login.Flow) string {
	text := fmt.Sprintf("open %s and enter the code %s (good until %s)", f.URL, f.Code, f.Expires.Local().Format("15:04"))
	if f.Whole != "" {
		text += ", or open " + f.Whole
	}
	return text
}

// maxKeyLine bounds what is read as a key, in bytes.
const maxKeyLine = 16 << 10

// oneKey is the key in what was typed, pasted or piped.
func oneKey(text string) (string, error) {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	switch line = strings.TrimSpace(line); {
	case len(text) > maxKeyLine || rest != "":
		return "", errors.New("what came is not a key alone on a line")
	case line == "":
		return "", errors.New("no key was given; nothing was kept")
	}
	return line, nil
}

// door is what the screen needs to know of an account.
func (a account) door() slash.Account {
	return slash.Account{
		Name: a.name, Title: a.provider.Title, Issuer: a.login.Issuer, File: config.Auth().Path(), Keep: a.keep, Forget: a.forget,
		Begin: func(ctx context.Context) (string, func(context.Context) error, error) {
			flow, err := a.begin(ctx)
			if err != nil {
				return "", nil, err
			}
			return howTo(flow), flow.Wait, nil
		},
	}
}

// access returns how to log in with the settings c. demo is set where the demo answers because no
// model can be used.
func access(ctx context.Context, c config.Config, demo bool) slash.Access {
	return slash.Access{
		Ctx: ctx,
		Find: func(name string) (slash.Account, error) {
			a, err := accountOf(c, name)
			return a.door(), err
		},
		Names:     func() string { return accountNames(c) },
		Makeshift: demo,
	}
}

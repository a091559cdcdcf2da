package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"buddy/owners"
	"buddy/texts"
)

// maxKey limits a key in bytes; real ones have some hundred.
const maxKey = 16 << 10

// redacted replaces a secret wherever it would be printed.
const redacted = "[secret]"

// Secret holds a key that no formatting prints: not %v, %+v, %#v, JSON, TOML or slog, also deep inside other values.
// Only [Profile.Key] reveals it. The zero Secret is unset, which differs from an empty one.
type Secret struct {
	// value is a pointer, because fmt prints the fields of structs behind an unexported field without calling their
	// methods, but does not follow a pointer there.
	value *string
}

func newSecret(s string) Secret { return Secret{&s} }

// NoKey returns the key of a profile whose server needs none, set by `api_key = ""`.
func NoKey() Secret { return newSecret("") }

// Keyless reports whether a profile states that its server needs no key.
func (p Profile) Keyless() bool { return p.APIKey.value != nil && *p.APIKey.value == "" }

// String returns a placeholder, or nothing when the secret is unset or empty.
func (s Secret) String() string {
	if s.value == nil || *s.value == "" {
		return ""
	}
	return redacted
}

// Format writes String for every verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) } //nolint:errcheck // fmt's own writer

// MarshalText returns String.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Key returns the profile's key and its source. It reads the environment and files again each time: BUDDY_API_KEY, else
// the source in the profile, else the provider's variable or `buddy login`, else the stored token of its login. A
// bundled profile tries its provider first, because a key meant for another endpoint must not be sent there. A missing
// key is not an error: key is "" then, and source names where it is missing, if the profile has a source. Errors are
// [*Error] and never contain the key.
func (p Profile) Key() (key, source string, err error) {
	provider, known := p.Provider()
	if p.bundled && known {
		if key, source, err = provider.cleanKey(); key != "" || err != nil {
			return key, source, err
		}
	}
	key, source, err = p.explicitKey()
	switch {
	case key != "" || err != nil:
		return key, source, err
	case p.Login.Issuer != "":
		all, err := Auth().Read()
		if err != nil {
			return "", "", &Error{Err: err}
		}
		return all.Logins[p.Login.ID()].Access, "the login", nil
	case known:
		return provider.cleanKey()
	}
	return key, source, err
}

// KeyPlace describes where a key from a source of [Profile.Key] is stored, and how to change it: "api_key in
// ~/.config/buddy/buddy.toml:7 · /config edit changes it".
func (p Profile) KeyPlace(source string) string {
	home, _ := os.UserHomeDir() // if unknown, paths are shown in full
	switch source {
	case "":
		return ""
	case Path("models", p.Name, "api_key"):
		at := "api_key in " + texts.WithTilde(p.keyPlace, home)
		if file, _, _ := strings.Cut(p.keyPlace, ":"); file != UserFile("") {
			return at
		}
		return at + " · /config edit changes it"
	case p.KeyFile:
		return texts.WithTilde(source, home) + " · change the key in that file, then start buddy again"
	case Auth().Path():
		name := p.Name
		if provider, known := p.Provider(); known {
			name = provider.Name
		}
		return texts.WithTilde(source, home) + " · /login " + name + " replaces it"
	}
	return source + " in the environment · change it there, then start buddy again"
}

// KnownKey is a secret and the name of its owner: a profile, a provider or a variable.
type KnownKey struct{ Name, Value string }

// Secrets returns all keys and tokens that requests may use, for redaction. Keys that can't be read can't occur in a
// text.
func (c *Config) Secrets() []string {
	var all []string
	for _, k := range c.ownKeys() {
		all = append(all, k.Value)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// KnownKeys returns the keys of profiles and providers, and the variables of an environment that are hidden from
// commands. It leaves out variables whose value is just a path or letters, because ordinary text contains such values,
// too.
func (c *Config) KnownKeys(env []string) []KnownKey {
	all := c.ownKeys()
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if c.withholds(name, value) && !filepath.IsAbs(value) && strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsLetter(r) }) {
			all = append(all, KnownKey{name, value})
		}
	}
	return all
}

// ownKeys returns the keys of profiles, providers and the search engine.
func (c *Config) ownKeys() []KnownKey {
	var all []KnownKey
	add := func(p Profile) {
		if key, _, err := p.Key(); err == nil && key != "" {
			all = append(all, KnownKey{p.Name, key})
		}
	}
	if c.Active != nil {
		add(*c.Active)
	}
	for _, p := range c.Models {
		add(p)
	}
	if key, err := c.Tools.Search.Key(); err == nil && key != "" {
		all = append(all, KnownKey{c.Tools.Search.Engine, key})
	}
	for _, p := range providers {
		for _, name := range p.keyVariables() {
			if key := keyOf(name); key != "" {
				all = append(all, KnownKey{p.Name, key})
			}
		}
	}
	stored, _ := Auth().Read()
	for name, key := range stored.Keys {
		all = append(all, KnownKey{name, key})
	}
	for name, t := range stored.Logins {
		all = append(all, KnownKey{name, t.Access}, KnownKey{name, t.Refresh})
	}
	return all
}

// cleanKey returns the checked key; its errors name the source.
func (p Provider) cleanKey() (key, source string, err error) {
	key, source, err = p.key()
	if err == nil {
		if key, err = cleanKey(key); err != nil {
			err = fmt.Errorf("%s: the key %w", source, err)
		}
	}
	if err != nil {
		return "", source, &Error{Err: err}
	}
	return key, source, nil
}

// explicitKey returns the key that the profile specifies.
func (p Profile) explicitKey() (key, source string, err error) {
	value, source := envKey.lookup()
	value = strings.TrimSpace(value)
	name := ""
	switch {
	case value != "":
	case p.KeyEnv != "":
		value, source, name = keyOf(p.KeyEnv), p.KeyEnv, "api_key_env"
	case p.KeyFile != "":
		source, name = p.KeyFile, "api_key_file"
		value, err = readKeyFile(p.KeyFile)
	case p.APIKey.value != nil:
		value, source = *p.APIKey.value, Path("models", p.Name, "api_key")
	}
	if err == nil {
		if value, err = cleanKey(value); err != nil {
			err = fmt.Errorf("%s: the key %w", source, err)
		}
	}
	switch {
	case err == nil:
		return value, source, nil
	case name == "": // from BUDDY_API_KEY; a literal was checked when it was read
		return "", source, &Error{Err: err}
	}
	return "", source, &Error{Place: p.keyPlace, Key: Path("models", p.Name, name), Err: err}
}

// readKeyFile reads a key without surrounding spaces and line ends.
func readKeyFile(path string) (string, error) {
	data, _, err := readRegular(path, maxKey)
	if err == nil {
		err = owners.CheckOwn(path)
	}
	if err != nil {
		return "", fmt.Errorf("%q: %w", path, err)
	}
	key := strings.TrimSpace(string(data))
	if key == "" {
		return "", fmt.Errorf("%q: is empty", path)
	}
	return key, nil
}

// cleanKey rejects a key that can't be sent in an HTTP header, such as a bad paste.
func cleanKey(s string) (string, error) {
	if len(s) > maxKey {
		return "", fmt.Errorf("is over %d KiB", maxKey>>10)
	}
	for _, r := range s {
		if r <= ' ' || r > '~' {
			return "", errors.New("has a space, a line break or another character that is not allowed in a key")
		}
	}
	return s, nil
}

// Problem returns one line about why a profile can't be used and what to do, or "".
func (p Profile) Problem() string {
	key, source, err := p.Key()
	provider, known := p.Provider()
	switch {
	case err != nil:
		return err.Error()
	case key != "" || local(p.BaseURL) && p.Login.Issuer == "" || p.APIKey.value != nil:
		return ""
	case p.Login.Issuer != "" || p.Login.Auth == ByLogin:
		return visible(fmt.Sprintf("model profile %q is not logged in: run buddy login %s", p.Name, p.Name), 500)
	case known:
		return visible(fmt.Sprintf("model profile %q has no key: %s", p.Name, provider.MissingKey()), 500)
	case source != "":
		return visible(fmt.Sprintf("model profile %q has no key: %s is not set", p.Name, source), 500)
	}
	return visible(fmt.Sprintf("model profile %q has no key: set %s, or one of %s", p.Name, envKey.name, strings.Join(keySources, ", ")), 500)
}

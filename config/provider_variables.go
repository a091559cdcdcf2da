package config

import (
	"net/url"
	"os"
	"strings"
)

// variables holds the names of the variables that a vendor's own libraries read, in addition to the variable of its
// key. buddy reads them, too. A project can't set them.
type variables struct {
	base  string // another address for the provider
	token string // variable of a token sent as "Authorization: Bearer" instead of the key, as gateways require it; has precedence
}

// vendorVariables are documented in the READMEs of github.com/anthropics/anthropic-sdk-python and
// github.com/openai/openai-python.
var vendorVariables = map[string]variables{
	"anthropic": {"ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"},
	"openai":    {base: "OPENAI_BASE_URL"},
}

// moved returns a provider's profile with the address in a variable, and the name of the variable; "" if none is set.
func (p Profile) moved(provider string) (Profile, string) {
	name := vendorVariables[provider].base
	base := strings.TrimRight(strings.TrimSpace(os.Getenv(name)), "/")
	if base == "" {
		return p, ""
	}
	switch {
	case p.API == Anthropic && !strings.HasSuffix(base, "/v1"):
		base += "/v1" // Anthropic's libraries add it themselves
	case p.API == Responses && !ofOpenAI(base, p.Model):
		p.API = Completions // most other servers support nothing else
	}
	p.BaseURL = base
	return p, name
}

// ofOpenAI reports whether the endpoint supports Responses: it is OpenAI's, or a gateway for a model of OpenAI. With
// tools these models support no other protocol.
func ofOpenAI(base, model string) bool {
	u, err := url.Parse(base)
	return err == nil && (u.Hostname() == "openai.com" || strings.HasSuffix(u.Hostname(), ".openai.com")) ||
		strings.HasPrefix(model, "gpt-") && !strings.HasPrefix(model, "gpt-oss")
}

// Variables returns the names of all variables about the provider.
func (p Provider) Variables() []string {
	names := p.keyVariables()
	if base := vendorVariables[p.Name].base; base != "" {
		names = append(names, base)
	}
	return names
}

// keyVariables returns the variables that may hold the provider's key, highest precedence first.
func (p Provider) keyVariables() (names []string) {
	for _, name := range []string{vendorVariables[p.Name].token, p.KeyEnv} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Variable returns the variable that holds the provider's key now, "" if none does.
func (p Provider) Variable() string {
	for _, name := range p.keyVariables() {
		if keyOf(name) != "" {
			return name
		}
	}
	return ""
}

// keyOf returns the key in a variable, without the spaces and line breaks of a careless paste.
func keyOf(name string) string { return strings.TrimSpace(os.Getenv(name)) }

// HeaderFor returns the header for a key from the given source of [Profile.Key]; "" is the protocol's default.
func (p Profile) HeaderFor(source string) string {
	if p.KeyHeader == "" && source == vendorVariables["anthropic"].token {
		return "Authorization"
	}
	return p.KeyHeader
}

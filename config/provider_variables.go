package config

import (
	"net/url"
	"os"
	"strings"
)

// Variables are those that a vendor's own libraries read, besides that of its key. Who has set them for another
// program means them for this one as well. A project can't set them.
type variables struct {
	base  string // another address for the provider
	token string // sent as "Authorization: Bearer" in place of the key, as gateways want it; it has precedence
}

// vendorVariables has the names in the READMEs of github.com/anthropics/anthropic-sdk-python and
// github.com/openai/openai-python.
var vendorVariables = map[string]variables{
	"anthropic": {"ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"},
	"openai":    {base: "OPENAI_BASE_URL"},
}

// moved returns the profile of a provider at the address that a variable names, and the variable; "" if none does.
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
		p.API = Completions // most other servers speak nothing else
	}
	p.BaseURL = base
	return p, name
}

// ofOpenAI reports whether Responses are to be had: from OpenAI itself, or for its models, which a gateway passes on. With
// tools these take no other protocol.
func ofOpenAI(base, model string) bool {
	u, err := url.Parse(base)
	return err == nil && (u.Hostname() == "openai.com" || strings.HasSuffix(u.Hostname(), ".openai.com")) ||
		strings.HasPrefix(model, "gpt-") && !strings.HasPrefix(model, "gpt-oss")
}

// Variables returns the names of all variables that are about the provider.
func (p Provider) Variables() []string {
	names := p.keyVariables()
	if base := vendorVariables[p.Name].base; base != "" {
		names = append(names, base)
	}
	return names
}

// keyVariables are the variables that may hold the key of a provider, the first has precedence.
func (p Provider) keyVariables() (names []string) {
	for _, name := range []string{vendorVariables[p.Name].token, p.KeyEnv} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Variable returns the variable that holds the key of the provider now, "" if none does.
func (p Provider) Variable() string {
	for _, name := range p.keyVariables() {
		if keyOf(name) != "" {
			return name
		}
	}
	return ""
}

// keyOf returns the key that a variable holds, without the spaces and the line break that come with a careless paste.
func keyOf(name string) string { return strings.TrimSpace(os.Getenv(name)) }

// HeaderFor returns the header for the key that [Profile.Key] returned with that source; "" is the protocol's.
func (p Profile) HeaderFor(source string) string {
	if p.KeyHeader == "" && source == vendorVariables["anthropic"].token {
		return "Authorization"
	}
	return p.KeyHeader
}

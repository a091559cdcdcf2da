package config

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"buddy/agent/model"
)

// Provider is a provider with a known address: with its key in the environment, or stored by
// `buddy login`, it needs no configuration.
type Provider struct {
	Name    string // also the name of its profile
	Title   string // for display
	KeyEnv  string // the usual variable with its key; "" for servers on this machine
	BaseURL string
	API     API
	Model   string // the default model; "" if only the server knows
}

// providers are in order of preference; the first one with a key is chosen: vendors of models for this kind of work,
// then gateways. The models and addresses were looked up on 2026-11-21; windows and prices are in the catalogue of
// package limits.
var providers = []Provider{
	// platform.claude.com/docs/pt-BR/models/sonnet-5-5/overview
	{"anthropic", "Anthropic", "ANTHROPIC_API_KEY", "https://api.anthropic.com/v1", Anthropic, "claude-sonnet-5-5"},
	// developers.openai.com/api/docs/models/gpt-6.1-sol, vercel.com/ai-gateway/models/gpt-6.1-sol.md
	{"openai", "OpenAI", "OPENAI_API_KEY", "https://api.openai.com/v1", Responses, "gpt-6.1-sol"},
	// docs.cloud.google.com/gemini-enterprise-agent-platform/models/guides/gemini-3-8-flash
	{"gemini", "Google Gemini", "GEMINI_API_KEY", "https://generativelanguage.googleapis.com/v1beta/openai", Completions, "gemini-3.8-flash"},
	// Source for xAI and DeepSeek: npm package @earendil-works/pi-ai 1.5.2
	{"xai", "xAI", "XAI_API_KEY", "https://api.x.ai/v1", Completions, "grok-4.7"},
	// Not "mistral", which is the name of a model of Ollama.
	// docs.mistral.ai/models/model-cards/mistral-medium-3-5-26-04
	{"mistralai", "Mistral", "MISTRAL_API_KEY", "https://api.mistral.ai/v1", Completions, "mistral-medium-3.5"},
	{"deepseek", "DeepSeek", "DEEPSEEK_API_KEY", "https://api.deepseek.com/v1", Completions, "deepseek-flash"},
	// openrouter.ai/~z-ai/glm-latest: always the newest of that family
	{"openrouter", "OpenRouter", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1", Completions, "~z-ai/glm-latest"},
	// console.groq.com/docs/models
	{"groq", "Groq", "GROQ_API_KEY", "https://api.groq.com/openai/v1", Completions, "openai/gpt-oss-120b"},
}

// Providers returns the providers that need a key, in order of preference.
func Providers() []Provider { return slices.Clone(providers) }

// servers are the programs that serve models on this machine, at their default ports. A program whose port has changed
// is listed with both: docs.ollama.com/api/openai-compatibility, lmstudio.ai/docs/developer/openai-compat,
// github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md and pull/26508,
// docs.vllm.ai/en/latest/serving/openai_compatible_server.
var servers = []Provider{
	{"ollama", "Ollama", "", "http://127.0.0.1:11434/v1", Completions, ""},
	{"lmstudio", "LM Studio", "", "http://127.0.0.1:1234/v1", Completions, ""},
	{"llamacpp", "llama.cpp", "", "http://127.0.0.1:8080/v1", Completions, ""},
	{"llamacpp", "llama.cpp", "", "http://127.0.0.1:9931/v1", Completions, ""},
	{"vllm", "vLLM", "", "http://127.0.0.1:8000/v1", Completions, ""},
}

// EnvLocal is the variable that lists the model servers to look for on this machine with their
// ports: "ollama=11434 vllm=9000", or "off".
const EnvLocal = "BUDDY_LOCAL_SERVERS"

// LocalServers returns the addresses of possible model servers on this machine: the default ports, or those in
// EnvLocal. It skips invalid parts of EnvLocal.
func LocalServers() []Provider {
	setting := os.Getenv(EnvLocal)
	if setting == "" {
		return slices.Clone(servers)
	}
	var all []Provider
	for part := range strings.FieldsFuncSeq(setting, func(r rune) bool { return r == ' ' || r == ',' }) {
		name, port, _ := strings.Cut(part, "=")
		i := slices.IndexFunc(servers, func(s Provider) bool { return s.Name == name })
		at, err := netip.ParseAddrPort("127.0.0.1:" + port)
		if i < 0 || err != nil {
			continue
		}
		s := servers[i]
		s.BaseURL = "http://" + at.String() + "/v1"
		all = append(all, s)
	}
	return all
}

// Profile returns the bundled profile of a provider, with the given model or, if model is "", the default one.
func (p Provider) Profile(model string) Profile {
	profile, _ := Profile{Name: p.Name, BaseURL: p.BaseURL, API: p.API, Model: cmp.Or(model, p.Model), bundled: true}.moved(p.Name)
	return profile
}

// key returns the key of the provider and its source, or the place where a key is expected.
func (p Provider) key() (key, source string, err error) {
	if name := p.Variable(); name != "" {
		return keyOf(name), name, nil
	}
	store := Auth()
	all, err := store.Read()
	if err != nil {
		return "", p.KeyEnv, err
	}
	if key = all.Keys[p.Name]; key != "" {
		return key, store.Path(), nil
	}
	return "", p.KeyEnv, nil
}

// HasKey reports whether the provider has a key, and returns its source.
func (p Provider) HasKey() (source string, ok bool) {
	key, source, err := p.key()
	return source, err == nil && key != ""
}

// Bundled reports whether a profile is built in and not from a file.
func (p Profile) Bundled() bool { return p.bundled }

// Provider returns the provider at the address of a profile, if the profile has no key of its own.
func (p Profile) Provider() (Provider, bool) {
	if p.KeyEnv != "" || p.KeyFile != "" || p.APIKey.value != nil || p.Login.Issuer != "" {
		return Provider{}, false
	}
	i := slices.IndexFunc(providers, func(o Provider) bool {
		return o.BaseURL == p.BaseURL || p.bundled && o.Profile("").BaseURL == p.BaseURL
	})
	if i < 0 {
		return Provider{}, false
	}
	return providers[i], true
}

// shortNames are short names of models at providers, as older programs had them.
var shortNames = map[string]string{
	"gpt-codex": "openai/gpt-5.3-codex", "gpt-spark": "openai/gpt-5.3-codex-spark",
	"openrouter-deepseek": "openrouter/deepseek/deepseek-v3.2", "openrouter-glm": "openrouter/z-ai/glm-4.7",
}

// FindProvider returns the provider with a name.
func FindProvider(name string) (Provider, bool) {
	for _, p := range append(slices.Clone(providers), LocalServers()...) {
		if p.Name == name {
			return p, true
		}
	}
	return Provider{}, false
}

// Lookup resolves a name: a profile of the files, a bundled profile, a short name of a model, or PROFILE/MODEL, which is
// another model of either. A profile without a known model, such as a server on this machine, needs MODEL.
func (c *Config) Lookup(name string) (Profile, bool) {
	if p, ok := c.Profile(name); ok {
		return p, true
	}
	if p, ok := FindProvider(name); ok && p.Model != "" {
		return p.Profile(""), true
	}
	if whole := shortNames[name]; whole != "" {
		name = whole
	}
	first, model, _ := strings.Cut(name, "/")
	if model == "" || checkID(model) != nil {
		return Profile{}, false
	}
	if p, ok := c.Profile(first); ok {
		return p.with(model), true
	}
	if p, ok := FindProvider(first); ok {
		return p.Profile(model).named(name), true
	}
	return Profile{}, false
}

// with returns the profile with another model, without the prices and limits of the old one.
func (p Profile) with(id string) Profile {
	name := p.Name + "/" + id
	p.Model, p.Prices, p.ContextLimit, p.MaxTokens = id, model.Price{}, 0, 0
	return p.named(name)
}

// named returns the profile with another name, as Lookup resolves it. Its section in the file does not change.
func (p Profile) named(name string) Profile {
	p.Name = name
	return p
}

// section returns the name of the profile whose model p replaces, or p's own name.
func (p Profile) section() string { return strings.TrimSuffix(p.Name, "/"+p.Model) }

// takesVendorIDs reports whether ids of models at a profile's address may start with a company's name. They may on this
// machine, at a gateway, and at unknown addresses.
func (p Profile) takesVendorIDs() bool {
	i := slices.IndexFunc(providers, func(o Provider) bool { return sameHost(o.BaseURL, p.BaseURL) })
	return i < 0 || providers[i].Name == "openrouter" || providers[i].Name == "groq"
}

// Address returns the base URL without credentials and query, which may hold a key.
func (p Profile) Address() string {
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return "an invalid address"
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}

func sameHost(a, b string) bool {
	x, err1 := url.Parse(a)
	y, err2 := url.Parse(b)
	return err1 == nil && err2 == nil && strings.EqualFold(x.Host, y.Host)
}

// detect returns the first provider that has a key.
func detect() (Provider, bool) {
	for _, p := range providers {
		if _, ok := p.HasKey(); ok {
			return p, true
		}
	}
	return Provider{}, false
}

// MissingKey returns the text that tells a person how to provide the key.
func (p Provider) MissingKey() string {
	return fmt.Sprintf("set %s or run: buddy login %s", p.KeyEnv, p.Name)
}

package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// section describes one table of the file.
type section struct {
	name   string
	doc    string
	named  bool   // its keys are names of profiles or other tables with the fields
	access access // default for its fields
	fields []field
	rules  bool // an array of tables, each a rule
	owned  bool // owned by a feature

	free    *field // any key is allowed; this field handles all of them
	example string // example line of a section with free keys
}

// field describes one key: the only definition of its name, meaning, rules and destination. The template and
// docs/config.md are generated from it.
type field struct {
	name  string
	doc   string // Markdown, sentences
	short string // allowed values, for the reference's table
	// pointer returns the destination of the value: a *string, *bool, *int, seconds, *model.Money, **float64, *Secret
	// or *[]string, or the map for the free keys of a section. The profile is nil outside [models.NAME].
	pointer func(*Config, *Profile) any
	// check returns the normalised value; nil accepts every string. Numbers are never negative,
	// secrets are checked by [cleanKey].
	check func(value string, f *file) (string, error)
	most  int // largest allowed number; 0 = any. The least is 1, but 0 for a **float64
	// tighter reports whether a project's value is stricter than the user's, for a limit that a
	// project may tighten.
	tighter func(project, user int64) bool
	strict  []string // values of a string, strictest first; a project may set a stricter one
	access  access   // which files may set it
	old     bool     // still read, but replaced by another field
	own     bool     // only the person's own files may set it, whatever the section allows
}

// lower is the tighter function of a limit where 0 means no limit.
func lower(project, user int64) bool { return project > 0 && (user == 0 || project <= user) }

var sections = append([]section{
	{
		name: "agent", access: trusted,
		doc: "The agent: its model, instructions, permission mode and limits.",
		fields: []field{
			{
				name: "model", short: "name of a profile",
				doc: "The profile to start with, or `demo` for the embedded offline model. If unset: the only profile, " +
					"otherwise the first one that has a key or is on this machine, otherwise the demo.",
				pointer: func(c *Config, _ *Profile) any { return &c.Agent.Model },
			},
			{
				name: "system_prompt", short: "text",
				doc: "Replaces the built-in system prompt, including its safety rules; an empty text keeps the built-in " +
					"one. buddy still adds where commands run, and `append_system_prompt`.",
				pointer: func(c *Config, _ *Profile) any { return &c.Agent.SystemPrompt },
			},
			{
				name: "append_system_prompt", short: "text",
				doc:     "Instructions that are added at the end of the system prompt.",
				pointer: func(c *Config, _ *Profile) any { return &c.Agent.AppendPrompt },
			},
			{
				name: "mode", short: "`ask`, `strict`, `edits`, `auto`, `plan`, `all` or `none`",
				doc: "The permission mode in which sessions start and resume; `--approve` overrides it, and `/approve` " +
					"changes it for a session. A session that ended in `plan` mode resumes in `plan` mode, unless `--approve` " +
					"names another. `auto` applies to new sessions only; if the sandbox doesn't work, new sessions start in " +
					"`ask`. A project's file may only set a stricter mode, so never `all`.",
				pointer: func(c *Config, _ *Profile) any { return &c.Agent.Mode },
				check:   oneOf("mode", "ask", "strict", "edits", "auto", "plan", "all", "none"),
				strict:  []string{"none", "plan", "strict", "ask", "edits", "auto", "all"},
			},
			{
				name: "max_iterations", short: "0 or more",
				doc: "The maximum number of turns of one prompt (a turn is a model request and its tool calls); then the " +
					"prompt stops, and Enter continues it with as many again. 0 means no limit. A project's file may only lower it.",
				pointer: func(c *Config, _ *Profile) any { return &c.Agent.MaxIterations },
				tighter: lower,
			},
			{
				name: "max_repeats", short: "0 or more",
				doc: "How many times in a row an answer may repeat a text of 50 characters or more before buddy cuts it " +
					"off and asks the model once more; 0 means no limit. Small models may repeat themselves endlessly.",
				pointer: func(c *Config, _ *Profile) any { return &c.Agent.MaxRepeats },
			},
			{
				name: "max_cost", short: "dollars, 0 or more",
				doc: "The maximum cost of one prompt; 0 means no limit. The request that reaches the limit is the last. " +
					"Only requests with a known price count. A project's file may only lower it.",
				pointer: func(c *Config, _ *Profile) any { return &c.Agent.MaxCost },
				tighter: lower,
			},
			{
				name: "warn_at", short: "1 to 100", most: 100,
				doc: "buddy warns you when a prompt has used this percentage of `max_iterations` or `max_cost`, and names " +
					"the tools with the largest results; 100 means no warning.",
				pointer: func(c *Config, _ *Profile) any { return &c.Agent.WarnAt },
			},
			{
				name: "fallback_model", short: "name of a profile",
				doc: "The profile that answers if the model is overloaded (status 429, 503 or 529) or stalls in two " +
					"attempts, which are at most 10 s apart. It answers the rest of the exchange and the prompts of the next five " +
					"minutes; then the first model answers again. `/model` ends this at once.",
				pointer: func(c *Config, _ *Profile) any { return &c.Agent.FallbackModel },
			},
			{
				name: "small_model", short: "name of a profile",
				doc: "The profile of a fast, cheap model for side tasks: it writes a session's title after the first " +
					"answer, and is the model of the subagent `explore`. If unset, the title is the start of the first prompt.",
				pointer: func(c *Config, _ *Profile) any { return &c.Agent.SmallModel },
			},
			{
				name: "style", short: "name of an output style", own: true,
				doc: "How answers are written: `default`, `concise`, `explain`, or the name of a file in `output-styles` " +
					"(docs/extensions.md). `/style` changes it. The style is part of the system prompt, so a change applies " +
					"from the next session.",
				pointer: func(c *Config, _ *Profile) any { return &c.Agent.Style },
			},
			{
				name: "on_stall", short: "`retry`, `fallback`, `abort` or `wait`",
				doc: "What to do when an answer stalls for longer than the profile's `stall_timeout`: `retry` sends the " +
					"request again, then to `fallback_model`; `fallback` sends it to `fallback_model` at once; `abort` ends " +
					"the prompt; `wait` waits for as long as it takes.",
				pointer: func(c *Config, _ *Profile) any { return (*string)(&c.Agent.OnStall) },
				check:   oneOf("way to recover", "retry", "fallback", "abort", "wait"),
			},
		},
	},
	contextSection,
	agentsSection,
	toolsSection,
	sandboxSection,
	remindersSection,
	hooksSection,
	pluginsSection,
	sessionsSection,
	hostSection,
	uiSection,
	keysSection,
	{
		name: "models", named: true, access: trusted,
		doc: "A profile: an endpoint, a model and the source of the key. Set at most one of `api_key`, `api_key_env` " +
			"and `api_key_file`; endpoints on this machine need none. If this file holds a key, let nobody else read it " +
			"(`chmod 600`).",
		fields: []field{
			{
				name: "api_base_url", short: "http or https URL",
				doc: "Required. The API's address without its last part: `https://api.openai.com/v1`. buddy sends a query, " +
					"as in `…/openai/v1?api-version=preview`, with every request.",
				pointer: func(_ *Config, p *Profile) any { return &p.BaseURL },
				check:   func(v string, _ *file) (string, error) { return cleanURL(v, true) },
			},
			apiField,
			{
				name: "model", short: "model id",
				doc:     "The model's id at the endpoint; if unset, the profile's name.",
				pointer: func(_ *Config, p *Profile) any { return &p.Model },
				check:   func(v string, _ *file) (string, error) { return v, checkID(v) },
			},
			{
				name: "api_key", short: "the key itself",
				doc:     "The key. An empty string means that the endpoint needs none.",
				pointer: func(_ *Config, p *Profile) any { return &p.APIKey },
			},
			{
				name: "api_key_env", short: "name of a variable",
				doc:     "The environment variable that holds the key.",
				pointer: func(_ *Config, p *Profile) any { return &p.KeyEnv },
				check:   checkEnvName,
			},
			{
				name: "api_key_file", short: "path",
				doc:     "A file that holds the key and nothing else. `~/` is your home; a relative path starts at the folder of this file.",
				pointer: func(_ *Config, p *Profile) any { return &p.KeyFile },
				check:   checkPath,
			},
			{
				name: "reasoning_effort", short: "`none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`",
				doc: "How much a reasoning model thinks. Models support different values; the error for an unsupported " +
					"value names the supported ones. If unset, the provider decides. `/effort` changes it for a session.",
				pointer: func(_ *Config, p *Profile) any { return &p.Effort },
				check:   oneOf("value", "none", "minimal", "low", "medium", "high", "xhigh", "max"),
			},
			{
				name: "calls", short: "`auto`, `native` or `blocks`",
				doc: "How the model calls tools. `native`: with the tool calls of its protocol. `blocks`: with commands " +
					"and files as fenced blocks of text, which is easier for small models and needs no support by the server. " +
					"`auto`, the default: with blocks if a server on this machine says that the model has fewer than 4 " +
					"billion parameters, or if the server accepts no tools (docs/local.md).",
				pointer: func(_ *Config, p *Profile) any { return &p.Calls },
				check:   oneOf("way to call tools", "auto", Native, Blocks),
			},
			{
				name: "temperature", short: "0 to 2", most: 2,
				doc: "How random answers are; if unset, the provider decides. `anthropic` allows 0 to 1; its newer " +
					"models, like many reasoning models, refuse both this and `top_p`.",
				pointer: func(_ *Config, p *Profile) any { return &p.Temperature },
			},
			{
				name: "top_p", short: "0 to 1", most: 1,
				doc: "Limits answers to the likeliest words whose probabilities add up to this; if unset, the provider " +
					"decides. Providers advise setting either this or `temperature`.",
				pointer: func(_ *Config, p *Profile) any { return &p.TopP },
			},
			{
				name: "context_limit", short: "tokens, 0 or more",
				doc:     "The context window in tokens; 0 means the documented window, if buddy knows it.",
				pointer: func(_ *Config, p *Profile) any { return &p.ContextLimit },
			},
			{
				name: "max_tokens", short: "tokens, 0 or more",
				doc: "The maximum number of tokens in one answer, including its reasoning. Only `anthropic` needs such a limit. 0 means " +
					"a twentieth of the context window, but at least 8192, and never more than the model's documented limit.",
				pointer: func(_ *Config, p *Profile) any { return &p.MaxTokens },
			},
			{
				name: "server_compaction", short: "tokens, 0 or more",
				doc: "With `anthropic` and `responses`: the size of a request from which the provider summarises the " +
					"conversation itself (Anthropic accepts 50000 or more); 0 means never. `[context]` still says what " +
					"buddy does if the context fills anyway.",
				pointer: func(_ *Config, p *Profile) any { return &p.ServerCompaction },
			},
			{
				name: "price_input", short: "dollars",
				doc: "The price of a million input tokens; set `price_output`, too. If both are unset, buddy uses the " +
					"model's documented prices at its maker's endpoint; if these are unknown, it shows no costs.",
				pointer: func(_ *Config, p *Profile) any { return &p.Prices.Input },
			},
			{
				name: "price_cached", short: "dollars",
				doc:     "The price of a million cached input tokens; 0 means the price of other input.",
				pointer: func(_ *Config, p *Profile) any { return &p.Prices.Cached },
			},
			{
				name: "price_cache_write", short: "dollars",
				doc: "The price of a million input tokens that the provider writes to its cache; 0 means the price of " +
					"other input.",
				pointer: func(_ *Config, p *Profile) any { return &p.Prices.CacheWrite },
			},
			{
				name: "price_output", short: "dollars",
				doc:     "The price of a million output tokens.",
				pointer: func(_ *Config, p *Profile) any { return &p.Prices.Output },
			},
			{
				name: "first_byte_timeout", short: "seconds, 0 or more",
				doc: "How long the first piece of an answer may take; 0 means 300, or 600 for a server on this machine or " +
					"network, which needs longer for long prompts and gets no second request.",
				pointer: func(_ *Config, p *Profile) any { return &p.FirstByteTimeout },
			},
			{
				name: "stall_timeout", short: "seconds, 0 or more",
				doc: "How long the server may send nothing after an answer has started; 0 means 120, or 300 once the model " +
					"thinks or writes a call. `on_stall` decides what happens then.",
				pointer: func(_ *Config, p *Profile) any { return &p.StallTimeout },
			},
			{
				name: "keepalive_timeout", short: "seconds, 0 or more",
				doc:     "How long the server may send only keep-alive signals, such as pings; 0 means 600.",
				pointer: func(_ *Config, p *Profile) any { return &p.KeepAliveTimeout },
			},
			{
				name: "headers", short: "list of `Name: value`",
				doc:     "Additional headers of every request. A key belongs in `api_key_env` and the like.",
				pointer: func(_ *Config, p *Profile) any { return &p.Headers },
				check:   checkHeader,
			},
			{
				name: "api_key_header", short: "name of a header",
				doc: "The header that holds the key, such as Azure's `api-key`; empty means the protocol's header. In " +
					"`Authorization`, `Bearer` precedes the key.",
				pointer: func(_ *Config, p *Profile) any { return &p.KeyHeader },
				check:   checkHeaderName,
			},
			{
				name: "ca_file", short: "path",
				doc: "A PEM file of certificate authorities to trust for this endpoint in addition to the system's, such " +
					"as your company's. `SSL_CERT_FILE` and `SSL_CERT_DIR` replace the system's authorities for all of " +
					"buddy's connections (not on macOS).",
				pointer: func(_ *Config, p *Profile) any { return &p.CAFile },
				check:   checkPath,
			},
			{
				name: "auth", short: "`api-key` or `login`",
				doc: "`login`: `buddy login NAME` logs in with a browser, at `login_issuer` or, without one, at the provider. " +
					"OpenRouter's login works without a client; for other providers, `buddy login NAME` says what to set. " +
					"If unset, a profile with `login_issuer` uses the login. If there is a key, buddy uses the key.",
				pointer: func(_ *Config, p *Profile) any { return &p.Login.Auth },
				check:   oneOf("value", ByKey, ByLogin),
			},
			{
				name: "login_issuer", short: "https URL",
				doc: "The OAuth issuer for a login instead of a key; it has to offer the device flow or, for a browser on " +
					"this machine, the code flow with PKCE. `buddy login NAME` logs in; profiles with the same issuer and " +
					"client share the login. If there is a key, buddy uses the key.",
				pointer: func(_ *Config, p *Profile) any { return &p.Login.Issuer },
				check:   checkIssuer,
			},
			{
				name: "login_client_id", short: "text",
				doc:     "The client id that the issuer gave you for the login.",
				pointer: func(_ *Config, p *Profile) any { return &p.Login.ClientID },
			},
			{
				name: "login_scopes", short: "words",
				doc:     "The scopes of the login, separated by spaces, such as `openid offline_access`.",
				pointer: func(_ *Config, p *Profile) any { return &p.Login.Scopes },
			},
		},
	},
	targetsSection,
	mcpSection,
	lspSection,
}, ruleSections()...)

// keySources are the fields of a profile that exclude each other.
var keySources = []string{"api_key", "api_key_env", "api_key_file"}

// trustedSections may be set by a project's file only if the folder is trusted, even if this version does not know
// them.
var trustedSections = []string{"models", "keys", "login", "hooks", "ssh", "targets"}

// examples are the profiles in the template, all commented out.
var examples = []struct {
	doc     string
	profile Profile
}{
	{
		"OpenAI's models for code. --model gpt-codex and --model gpt-spark work without these lines.",
		Profile{
			Name: "gpt-codex", BaseURL: "https://api.openai.com/v1", API: Responses,
			Model: "gpt-5.3-codex", KeyEnv: "OPENAI_API_KEY",
		},
	},
	{
		"The same, smaller and faster",
		Profile{
			Name: "gpt-spark", BaseURL: "https://api.openai.com/v1", API: Responses,
			Model: "gpt-5.3-codex-spark", KeyEnv: "OPENAI_API_KEY",
		},
	},
	{
		"OpenRouter sells the models of others. A provider whose key is in its usual variable needs no\n" +
			"# profile: buddy models lists them.",
		Profile{
			Name: "openrouter-deepseek", BaseURL: "https://openrouter.ai/api/v1", API: Completions,
			Model: "deepseek/deepseek-v3.2", KeyEnv: "OPENROUTER_API_KEY",
		},
	},
	{
		"GLM, at OpenRouter",
		Profile{
			Name: "openrouter-glm", BaseURL: "https://openrouter.ai/api/v1", API: Completions,
			Model: "z-ai/glm-4.7", KeyEnv: "OPENROUTER_API_KEY",
		},
	},
	{
		"Ollama on this machine; no key",
		Profile{
			Name: "local", BaseURL: "http://localhost:11434/v1", API: Completions,
			Model: "qwen3",
		},
	},
}

// cleanURL checks an endpoint and removes a trailing slash. The URL may have a query if query is set. Errors never
// repeat a URL that contains a password.
func cleanURL(s string, query bool) (string, error) {
	const allowed = "(allowed: http://HOST/… or https://HOST/…)"
	if strings.TrimSpace(s) == "" {
		return "", errors.New("is empty " + allowed)
	}
	if strings.Contains(s, "@") {
		return "", errors.New("has an @, as in a URL with a password (allowed: a plain URL; keys go to api_key, api_key_env or api_key_file)")
	}
	u, err := url.Parse(s)
	if err != nil {
		return "", fmt.Errorf("%q is not a URL %s", s, allowed)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("%q has no http or https scheme %s", s, allowed)
	case u.Hostname() == "":
		return "", fmt.Errorf("%q has no host %s", s, allowed)
	case u.Port() != "" && !isPort(u.Port()):
		return "", fmt.Errorf("%q has the port %s (allowed: 1 to 65535)", s, u.Port())
	case !query && (u.RawQuery != "" || u.ForceQuery):
		return "", fmt.Errorf("%q has a query %s", s, allowed)
	case strings.Contains(s, "#"):
		return "", fmt.Errorf("%q has a fragment %s", s, allowed)
	}
	base, rest, _ := strings.Cut(s, "?")
	if rest != "" {
		rest = "?" + rest
	}
	return strings.TrimRight(base, "/") + rest, nil
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

// local reports whether an endpoint is on this machine, where no key is needed.
func local(baseURL string) bool {
	u, err := url.Parse(baseURL)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.Unmap().IsLoopback()
}

// checkHeader accepts a header that cannot hold a key. Its errors do not repeat a value.
func checkHeader(v string, _ *file) (string, error) {
	name, value, ok := strings.Cut(v, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if _, err := checkHeaderName(name, nil); err != nil || !ok {
		return "", errors.New(`is not a header (example: "X-Title: buddy")`)
	}
	if !httpguts.ValidHeaderFieldValue(value) {
		return "", fmt.Errorf("the value of %s has characters that are not allowed in a header", name)
	}
	for _, own := range []string{"Authorization", "X-Api-Key", "Api-Key", "Host", "Content-Type", "Content-Length", "Accept-Encoding", "Transfer-Encoding", "Connection"} {
		if strings.EqualFold(name, own) {
			return "", fmt.Errorf("%s can't be set here; a key belongs to api_key, api_key_env or api_key_file, its header to api_key_header", name)
		}
	}
	return name + ": " + value, nil
}

func checkHeaderName(v string, _ *file) (string, error) {
	if !httpguts.ValidHeaderFieldName(v) {
		return "", errors.New("is not the name of a header")
	}
	return v, nil
}

// checkIssuer accepts the address of an issuer: tokens must not cross a network unencrypted.
func checkIssuer(v string, _ *file) (string, error) {
	v, err := cleanURL(v, false)
	if err == nil && !strings.HasPrefix(v, "https://") && !local(v) {
		err = fmt.Errorf("%q is neither https nor on this machine", v)
	}
	return v, err
}

// checkID accepts names of profiles and ids of models that fit on one line and in a request.
func checkID(v string) error {
	switch {
	case strings.TrimSpace(v) != v || v == "":
		return fmt.Errorf("%q is empty or begins or ends with a space", v)
	case len(v) > 200:
		return fmt.Errorf("has %d bytes (allowed: 200)", len(v))
	case strings.IndexFunc(v, unprintable) >= 0:
		return fmt.Errorf("%q has unprintable characters", v)
	}
	return nil
}

// checkEnvName accepts the name of a variable. Errors do not repeat the value, which may be a key pasted into the wrong
// field.
func checkEnvName(v string, _ *file) (string, error) {
	if v == "" || v[0] >= '0' && v[0] <= '9' || strings.IndexFunc(v, notBare) >= 0 || strings.Contains(v, "-") {
		return "", errors.New("is not an environment variable name (allowed: letters, digits and _); a key itself belongs to api_key")
	}
	return v, nil
}

func checkPath(v string, f *file) (string, error) {
	if v == "" || strings.Contains(v, "\x00") {
		return "", errors.New("is not a path")
	}
	if rest, ok := strings.CutPrefix(v, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("%q: %w", v, err)
		}
		return filepath.Join(home, rest), nil
	}
	if filepath.IsAbs(v) {
		return filepath.Clean(v), nil
	}
	return filepath.Join(f.dir, v), nil
}

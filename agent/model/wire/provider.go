package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"buddy/texts"
)

// Effort selects how much a model thinks before it answers; "" leaves it to the provider.
type Effort string

// efforts are the allowed values, in ascending order.
var efforts = []Effort{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// Provider names a provider, recognized by the address of its endpoint.
type Provider string

// The providers that deviate from OpenAI's protocols, and OpenAI itself.
const (
	OpenAI     Provider = "OpenAI"
	Anthropic  Provider = "Anthropic"
	OpenRouter Provider = "OpenRouter"
	Mistral    Provider = "Mistral"
	Ollama     Provider = "Ollama"
	LMStudio   Provider = "LM Studio"
	VLLM       Provider = "vLLM"
	LlamaCPP   Provider = "llama.cpp"
)

// ports maps the default ports of local servers to the servers. If another server uses such a port, it gets fields that
// it does not know and ignores.
var ports = map[string]Provider{
	"11434": Ollama,   // docs.ollama.com/api/openai-compatibility
	"1234":  LMStudio, // lmstudio.ai/docs/developer/openai-compat
	"8000":  VLLM,     // docs.vllm.ai/en/latest/serving/openai_compatible_server
	"8080":  LlamaCPP, // until github.com/ggml-org/llama.cpp/pull/26508
	"9931":  LlamaCPP, // github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
}

// owners maps the "owned_by" of a model to the server that it shows, on any port. Seen in llama.cpp build 11434.
var owners = map[string]Provider{"llamacpp": LlamaCPP}

// providerAt returns the provider at a base URL, "" if unknown.
func providerAt(base string) Provider {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	switch strings.ToLower(u.Hostname()) {
	case "api.openai.com":
		return OpenAI
	case "api.anthropic.com":
		return Anthropic
	case "openrouter.ai":
		return OpenRouter
	case "api.mistral.ai":
		return Mistral
	}
	return ports[u.Port()]
}

// family describes the models whose names start with prefix.
type family struct {
	prefix   string
	efforts  []Effort // the efforts that it accepts; empty: it does not reason
	textOnly bool     // it takes no images
}

var (
	lowToHigh = []Effort{"low", "medium", "high"}
	lowToMax  = []Effort{"low", "medium", "high", "xhigh", "max"}
	noneToMax = []Effort{"none", "low", "medium", "high", "xhigh", "max"}
	noneToX   = []Effort{"none", "low", "medium", "high", "xhigh"}
)

// families describes OpenAI's models; the first match counts. Source for which models reason and how much:
// developers.openai.com/api/docs/guides/reasoning and the models' pages there. "none" exists since 5.1, and "minimal"
// only before: learn.microsoft.com/javascript/api/@azure/ai-projects/reasoningeffort. Source for images: the models'
// pages, "Modalities".
var families = []family{
	{"gpt-3.5", nil, true},
	{"gpt-4", nil, false},
	{"chatgpt-", nil, false},
	{"o1-mini", nil, true},
	{"o1-preview", nil, true},
	{"o3-mini", lowToHigh, true},
	{"o1", lowToHigh, false},
	{"o3", lowToHigh, false},
	{"o4", lowToHigh, false},
	{"gpt-5-chat", nil, false},
	{"gpt-5-pro", []Effort{"high"}, false},
	{"gpt-5-codex", lowToHigh, false},
	{"gpt-5.1", []Effort{"none", "low", "medium", "high"}, false},
	{"gpt-5.6-cyber", lowToMax, false}, // from here: npm @earendil-works/pi-ai 1.5.2
	{"gpt-5.6", noneToMax, false},
	{"gpt-5.2-pro", []Effort{"medium", "high", "xhigh"}, false},
	{"gpt-5.4-pro", []Effort{"medium", "high", "xhigh"}, false},
	{"gpt-5.5-pro", []Effort{"medium", "high", "xhigh"}, false},
	{"gpt-5.3-codex-spark", []Effort{"low", "medium", "high", "xhigh"}, false},
	{"gpt-5.", noneToX, false},
	{"gpt-5", []Effort{"minimal", "low", "medium", "high"}, false},
	{"gpt-6.1-sol", lowToMax, false},
	{"gpt-6-astra", lowToMax, false},
	{"gpt-6", noneToMax, false},
	{"gpt-oss", lowToHigh, true},
}

// plainName returns the name of a model without its maker: "OpenAI/gpt-5" is gpt-5.
func plainName(model string) string {
	return strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
}

// familyOf finds a model by its plain name. ok is false for unknown models.
func familyOf(model string) (f family, ok bool) {
	model = plainName(model)
	i := slices.IndexFunc(families, func(f family) bool { return strings.HasPrefix(model, f.prefix) })
	if i < 0 {
		return family{}, false
	}
	return families[i], true
}

// WantsSignatures reports whether the model refuses tool calls without a thought signature, as Gemini does since
// version 3. OpenRouter adds signatures itself.
func (c *Client) WantsSignatures() bool {
	version, ok := strings.CutPrefix(plainName(c.info.Model), "gemini-")
	return ok && c.provider != OpenRouter && !strings.HasPrefix(version, "1") && !strings.HasPrefix(version, "2")
}

// Reasons reports whether a model of OpenAI thinks before it answers. For an unknown model, it returns true.
func Reasons(model string) bool {
	f, ok := familyOf(model)
	return !ok || len(f.efforts) > 0
}

// checkEffort returns the effort in canonical spelling. Its error names the setting and the allowed values.
func checkEffort(c Config, api string, p Provider) (Effort, error) {
	e := Effort(strings.ToLower(strings.TrimSpace(string(c.Effort))))
	if e == "" {
		return "", nil
	}
	allowed, who := efforts, ""
	if f, ok := familyOf(cmp.Or(c.Model, c.Profile)); ok && p == OpenAI {
		allowed, who = f.efforts, "the model "+cmp.Or(c.Model, c.Profile)
	}
	switch {
	case p == Ollama: // "none" and three levels: docs.ollama.com/api/openai-compatibility
		allowed, who = []Effort{"none", "low", "medium", "high"}, string(p)
	case p == LMStudio && api == "completions":
		// LM Studio ignores the effort: github.com/lmstudio-ai/lmstudio-bug-tracker/issues/988 and 1250.
		return "", fmt.Errorf("%s = %q: LM Studio ignores it in this protocol; use api = \"responses\", or set it in LM Studio", c.key("reasoning_effort"), c.Effort)
	case p == LMStudio: // lmstudio.ai/docs/developer/openai-compat/responses
		allowed, who = lowToHigh, string(p)
	}
	switch {
	case slices.Contains(allowed, e):
		return e, nil
	case len(allowed) == 0:
		return "", fmt.Errorf("%s = %q: %s does not reason; leave the key out", c.key("reasoning_effort"), c.Effort, who)
	case who != "":
		who = " with " + who
	}
	return "", fmt.Errorf("%s = %q is not possible%s (allowed: %s)", c.key("reasoning_effort"), c.Effort, who, texts.Names(allowed))
}

// Effort returns the configured effort; "" if none is set.
func (c *Client) Effort() Effort { return c.effort }

// EffortOf returns the effort for a request, or "" if none is set or a remedy removes it.
func (c *Client) EffortOf(with *Remedied) Effort {
	if c.effort == "" || with.With(NoEffort) {
		return ""
	}
	return c.effort
}

// Provider returns the provider that the address of the endpoint belongs to, or "" if it is unknown.
func (c *Client) Provider() Provider { return c.provider }

// Sampling holds the temperature and top_p of requests. A nil value is not sent.
type Sampling struct{ Temperature, TopP *float64 }

// Sample sets temperature and top_p. Call it before the first request.
func (c *Client) Sample(s Sampling) { c.sampling = s }

// SamplingOf returns the sampling for a request, which is empty if a remedy removes it.
func (c *Client) SamplingOf(with *Remedied) Sampling {
	if c.sampling == (Sampling{}) || with.With(NoSampling) {
		return Sampling{}
	}
	return c.sampling
}

func (s Sampling) members() Members {
	m := make(Members)
	for name, v := range map[string]*float64{"temperature": s.Temperature, "top_p": s.TopP} {
		if v != nil {
			m[name], _ = json.Marshal(*v) // of a finite number
		}
	}
	return m
}

// WithSampling returns m, the members of a request, with the sampling added; m itself does not change. The fields of
// OpenAI's SDK are not used, because they don't send a zero.
func (c *Client) WithSampling(m Members, with *Remedied) Members {
	all := c.SamplingOf(with).members()
	maps.Copy(all, m)
	return all
}

// Extra returns members for a Chat Completions request that are not part of OpenAI's protocol, or that depend on the
// effort. tools reports whether the request offers tools.
func (c *Client) Extra(tools bool, with *Remedied) Members {
	m := make(Members)
	set := func(key string, value any) {
		m[key], _ = json.Marshal(value) // of strings, booleans and maps of them
	}
	template := func(key string, value any) { set("chat_template_kwargs", map[string]any{key: value}) }
	switch e := c.EffortOf(with); {
	case c.provider == OpenRouter && e != "":
		// openrouter.ai/docs/use-cases/reasoning-tokens: OpenRouter accepts the effort in this form for all models.
		set("reasoning", map[string]any{"effort": e})
	case c.provider == OpenRouter:
		// The same page, "Legacy parameters": this asks for the reasoning and lets the model choose the effort.
		set("include_reasoning", true)
	case e == "none" && (c.provider == VLLM || c.provider == LlamaCPP):
		// The templates of some models, such as Qwen, can only switch thinking on and off:
		// docs.vllm.ai/en/latest/features/reasoning_outputs; llama.cpp tools/server/README.md.
		template("enable_thinking", false)
	case e != "" && c.provider == LlamaCPP:
		// The template of gpt-oss reads this: github.com/ggml-org/llama.cpp/discussions/15396.
		template("reasoning_effort", e)
	case e != "":
		set("reasoning_effort", e)
	}
	if tools && c.provider == LlamaCPP && !with.With(NoParallelCalls) {
		// This is off by default: github.com/ggml-org/llama.cpp/blob/master/docs/function-calling.md.
		set("parallel_tool_calls", true)
	}
	if c.provider == LlamaCPP && !with.With(NoProgress) {
		set("return_progress", true) // github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
	}
	return m
}

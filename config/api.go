package config

// API names a wire format.
type API string

// Wire formats.
const (
	Completions API = "completions" // OpenAI Chat Completions
	Anthropic   API = "anthropic"   // Anthropic Messages
	Responses   API = "responses"   // OpenAI Responses
)

var apiField = field{
	name: "api", short: "`completions`, `responses` or `anthropic`",
	doc: "The wire format: `completions` is OpenAI Chat Completions, which most servers speak; `responses` is OpenAI Responses, " +
		"in which reasoning models keep their reasoning across tool calls; `anthropic` is " +
		"Anthropic Messages, at `https://api.anthropic.com/v1` and the like.",
	pointer: func(_ *Config, p *Profile) any { return (*string)(&p.API) },
	check:   oneOf("API", string(Completions), string(Responses), string(Anthropic)),
}

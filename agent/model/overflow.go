package model

import (
	"regexp"
	"strconv"
	"strings"
)

// overflows match the words by which servers say that a conversation does not fit, each from a message that the servers
// named are known to send. Collections of them: github.com/badlogic/pi-mono, packages/ai/src/utils/overflow.ts;
// github.com/sst/opencode, packages/opencode/src/provider/error.ts; github.com/letta-ai/letta, letta/llm_api/error_utils.py;
// github.com/BerriAI/litellm, litellm/litellm_core_utils/exception_mapping_utils.py.
var overflows = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`context_length_exceeded`,           // OpenAI, Azure, OpenRouter, DeepSeek: error.code
	`context length`,                    // the same, vLLM, SGLang, LM Studio, Groq: "maximum context length is 8192 tokens"
	`context window`,                    // OpenAI's Responses: "Your input exceeds the context window of this model"; MiniMax: "context window exceeds limit"
	`context the overflows`,             // LM Studio: "Trying to keep the first 9000 tokens when context the overflows"
	`context size (has been )?exceeded`, // LM Studio, llama.cpp: "Context size has been exceeded"
	`context limit`,                     // Anthropic: "input length and max_tokens exceed context limit: 190000 + 20000 > 200000"
	`context ?window ?exceeded`,         // LiteLLM: ContextWindowExceededError
	`exceed_context_size`,               // llama.cpp: error.type
	`exceeds the available context`,     // llama.cpp: "request (9000 tokens) exceeds the available context size (4096 tokens)"
	`(prompt|input|request|conversation) (is )?too (long|large)`,         // Anthropic: "prompt is too long: 210000 tokens > 200000 maximum"; Bedrock: "Input is too long for requested model"; Ollama: "prompt too long"; Fireworks
	`too large for model with`,                                           // Mistral: "Prompt contains 40000 tokens … too large for model with 32768 maximum context length"
	`model_max_prompt_tokens_exceeded|prompt token count of \d+ exceeds`, // GitHub Copilot
	`maximum prompt length`,                                              // xAI: "This model's maximum prompt length is 131072 but the request contains 537812 tokens"
	`maximum model length`,                                               // vLLM: "The decoder prompt (length 9000) is longer than the maximum model length of 8192"
	`exceeds? (the )?max(imum)?[ _](input |prompt )?(length|tokens)`,     // Z.ai 1261: "Prompt exceeds max length"
	`exceeded model token limit`,                                         // Moonshot: "Your request exceeded model token limit: 262144 (requested: 265312)"
	`range of input length`,                                              // DashScope: "Range of input length should be [1, 129024]"
	`input token count`,                                                  // Gemini: "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)"
	`exceeds the maximum number of tokens`,                               // Vertex AI
	`too many (input |prompt )?tokens([:.,]|$)`,                          // Cohere: "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000"; Bedrock
	`reduce the length of the (messages|prompt|input)`,                   // Groq: "Please reduce the length of the messages or completion"
	`inputs. tokens \+ .max_new_tokens. must be`,                         // Together, Hugging Face TGI: "`inputs` tokens + `max_new_tokens` must be <= 8193"
	`exceed max message tokens`,                                          // Volcengine Ark: "Total tokens of image and text exceed max message tokens"
	`input tokens exceed`,                                                // OpenAI's realtime and Letta's proxy: "Input tokens exceed the configured limit of 272000 tokens"
	`token limit exceeded|exceeds? (the )?token limit`,                   // Databricks, NVIDIA NIM and others
}, "|"))

// windows match where such a message has the size of the window, the surest first.
var windows = []*regexp.Regexp{
	regexp.MustCompile(`"?n_ctx"?\s*[:=]\s*(\d+)`),
	regexp.MustCompile(`(?:>|<=)\s*([\d,]+)`),
	regexp.MustCompile(`\[\s*\d+\s*,\s*(\d+)\s*\]`),
	regexp.MustCompile(`([\d,]+) (?:tokens? )?maximum`),
	regexp.MustCompile(`(?i)(?:maximum|\bmax|limit|\bonly|cannot exceed|context (?:length|size|window)|model length)\D{0,40}?([\d,]*\d)`),
}

// excess matches by how much something is too long, which is no window.
var excess = regexp.MustCompile(`(?i)\bby [\d,]+`)

// Overflow reports whether what a server says of a refused request means that the conversation is longer than its model
// takes, and how many tokens that takes; 0 = it does not say.
func Overflow(said string) (window int, ok bool) {
	if !overflows.MatchString(said) {
		return 0, false
	}
	const least, most = 2048, 100_000_000 // of what can be a window
	text := excess.ReplaceAllString(said, "")
	for _, w := range windows {
		for _, m := range w.FindAllStringSubmatch(text, 10) {
			if n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", "")); err == nil && n >= least && n <= most {
				return n, true
			}
		}
	}
	return 0, true
}

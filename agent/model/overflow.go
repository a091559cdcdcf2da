package model

import (
	"regexp"
	"strconv"
	"strings"
)

// overflows matches the messages with which servers report that a conversation is too long. Each pattern comes from a
// message in an issue or a pull request on GitHub, or from the lists in pi (github.com/earendil-works/pi,
// packages/ai/src/utils/overflow.ts) and in LiteLLM (github.com/BerriAI/litellm,
// litellm/litellm_core_utils/exception_mapping_utils.py).
var overflows = regexp.MustCompile(`(?i)` + strings.Join([]string{
	// OpenAI's error.code, anomalyco/opencode/issues/6071.
	`context_length_exceeded`,
	// OpenAI, DeepSeek, OpenRouter, vLLM: "This model's maximum context length is 4097 tokens", Nutlope/aicommits/issues/259;
	// LM Studio: "greater than the context length (n_keep: 13055>= n_ctx: 4096)", Gitlawb/openclaude/issues/353; Together: pi.
	`context length`,
	// OpenAI's Responses: "Your input exceeds the context window of this model", anomalyco/opencode/issues/6071; llama-cpp-python:
	// "Requested tokens (2285) exceed context window of 2048", fedora-copr/logdetective-website/pull/193; MiniMax: pi.
	`context window`,
	// LM Studio: "Trying to keep the first 111490 tokens when context the overflows", lmstudio-ai/lmstudio-bug-tracker/issues/546.
	`context the overflows`,
	// llama.cpp, with status 500: "Context size has been exceeded.", ggml-org/llama.cpp/issues/19774.
	`context size (has been )?exceeded`,
	// Anthropic: "input length and max_tokens exceed context limit: 86888 + 119866 > 204648", stackblitz/bolt.new/issues/7422.
	`context limit`,
	// LiteLLM: ContextWindowExceededError, its collection.
	`context ?window ?exceeded`,
	// llama.cpp's error.type, ggml-org/llama.cpp/pull/15780.
	`exceed_context_size`,
	// llama.cpp: "request (4390 tokens) exceeds the available context size (4096 tokens)", ggml-org/llama.cpp/issues/19774.
	`exceeds the available context`,
	// Anthropic: "prompt is too long: 219898 tokens > 200000 maximum", earendil-works/pi/issues/102; Bedrock: "input is too long for
	// requested model", Ollama: "prompt too long; exceeded max context length by 8080 tokens", both pi.
	`(prompt|input|request|conversation) (is )?too (long|large)`,
	// Mistral: "Prompt contains 40000 tokens … too large for model with 32768 maximum context length", pi.
	`too large for model with`,
	// GitHub Copilot: "prompt token count of 138898 exceeds the limit of 64000", microsoft/copilot-intellij-feedback/issues/94.
	`model_max_prompt_tokens_exceeded|prompt token count of \d+ exceeds`,
	// xAI: "This model's maximum prompt length is 131072 but the request contains 136973 tokens.", cline/cline/issues/3120.
	`maximum prompt length`,
	// vLLM: "The decoder prompt (length 17772) is longer than the maximum model length of 16384.", xorbitsai/inference/issues/3785.
	`maximum model length`,
	// Z.ai 1261: "Prompt exceeds max length", zeroclaw-labs/zeroclaw/issues/4124; Volcengine Ark: "Input length 203743 exceeds the
	// maximum length 202752", langgenius/dify/issues/32221; Poolside: "exceeds the maximum allowed input length of 131072 tokens",
	// pi; NVIDIA NIM: "Input length 1024 exceeds maximum allowed token size 512", NVIDIA/nim-anywhere/issues/58.
	`exceeds? (the )?max(imum)?[ _](allowed )?(input |prompt )?(length|tokens|token size)`,
	// Z.ai 1210: "tokens in request more than max tokens allowed", NousResearch/hermes-agent/pull/61728.
	`more than max tokens allowed`,
	// Moonshot: "Your request exceeded model token limit: 262144 (requested: 265312)", pi.
	`exceeded model token limit`,
	// DashScope: "Range of input length should be [1, 204800]", QwenLM/qwen-code/issues/98.
	`range of input length`,
	// SiliconFlow's code 20015: "max_total_tokens (172191) must be less than or equal to max_seq_len (131072)",
	// bytedance/deer-flow/issues/376.
	`less than or equal to max_seq_len`,
	// Gemini: "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
	// google-gemini/gemini-cli/issues/6678.
	`input token count`,
	// Cohere: "too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354",
	// cohere-ai/sandbox-topically/issues/4. Bedrock throttles with "Too many tokens, please wait before trying again.", pi.
	`too many (input |prompt )?tokens([:.]|$)`,
	// Groq, Cerebras: "Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000",
	// cline/cline/issues/5140.
	`reduce the length of the (messages|prompt|input)`,
	// Hugging Face TGI: "`inputs` tokens + `max_new_tokens` must be <= 2048", huggingface/llm-vscode/issues/94.
	`inputs. tokens \+ .max_new_tokens. must be`,
	// Volcengine Ark: "Total tokens of image and text exceed max message tokens", bytedance/deer-flow/issues/583.
	`exceed max message tokens`,
	// OpenAI: "Input tokens exceed the configured limit of 272000 tokens.", cline/cline/issues/5474.
	`input tokens exceed`,
}, "|"))

// windows match the size of the window in a message that overflows matches, the most reliable pattern first.
var windows = []*regexp.Regexp{
	regexp.MustCompile(`"?n_ctx"?\s*[:=]\s*(\d+)`),
	regexp.MustCompile(`max_seq_len \((\d+)`),
	regexp.MustCompile(`(?:>|<=)\s*([\d,]+)`),
	regexp.MustCompile(`\[\s*\d+\s*,\s*(\d+)\s*\]`),
	regexp.MustCompile(`([\d,]+) (?:tokens? )?maximum`),
	regexp.MustCompile(`(?i)(?:maximum|\bmax|limit|\bonly|cannot exceed|context (?:length|size|window)|model length)\D{0,40}?([\d,]*\d)`),
}

// excess matches by how many tokens the conversation is too long, which must not be taken for the window.
var excess = regexp.MustCompile(`(?i)\bby [\d,]+`)

// Overflow reports whether a server's message means that the conversation is too long for the model. window is the
// model's window in tokens, or 0 if the message does not state it.
func Overflow(said string) (window int, ok bool) {
	if !overflows.MatchString(said) {
		return 0, false
	}
	const least, most = 2048, 100_000_000 // plausible windows
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

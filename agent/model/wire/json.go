package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"buddy/agent/model"
	"buddy/texts/quickjson"
)

// Members is a JSON object with some known keys.
type Members map[string]json.RawMessage

// Parameters returns the schema of a tool's parameters. If the tool has none, it returns the schema of an empty object.
func Parameters(d model.ToolDef) json.RawMessage {
	if len(d.Parameters) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return d.Parameters
}

// DataURL returns an image as a data URL, as OpenAI's protocols expect it.
func DataURL(i model.Image) string {
	return "data:" + i.MediaType + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}

// String decodes a JSON string; ok is false for anything else.
func String(raw json.RawMessage) (s string, ok bool) {
	if s, ok := quickjson.String(raw); ok {
		return s, true
	}
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// Text returns the text of a string or of {"value": "…"}; "" for anything else.
func Text(raw json.RawMessage) string {
	if s, ok := String(raw); ok {
		return s
	}
	var v struct{ Value string }
	_ = json.Unmarshal(raw, &v) // the zero value is the result then
	return v.Value
}

// Usage reads token counts under the names that servers use, as numbers or as strings; nil if there are none.
func Usage(raw json.RawMessage) *model.Usage {
	var m Members
	if len(raw) == 0 || json.Unmarshal(raw, &m) != nil {
		return nil
	}
	prompt, okP := Count(m, "prompt_tokens", "input_tokens")
	completion, okC := Count(m, "completion_tokens", "output_tokens")
	if !okP && !okC {
		return nil
	}
	u := &model.Usage{Prompt: prompt, Completion: completion}
	u.Cached, okP = Count(m, "cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
	u.CacheWrite, okC = Count(m, "cache_write_tokens", "cache_creation_input_tokens")
	for _, k := range []string{"prompt_tokens_details", "input_tokens_details"} {
		var details Members
		if json.Unmarshal(m[k], &details) != nil {
			continue
		}
		if !okP {
			u.Cached, okP = Count(details, "cached_tokens")
		}
		if !okC { // openrouter.ai/docs/features/prompt-caching
			u.CacheWrite, okC = Count(details, "cache_write_tokens")
		}
	}
	u.CacheUnknown = !okP
	u.Completion += thoughtApart(m, u)
	u.Cost = cost(m["cost"])
	return u
}

// cost reads the cost of a request that a gateway reports: OpenRouter, where a credit is a dollar
// (openrouter.ai/docs/use-cases/usage-accounting), or LiteLLM with include_cost_in_streaming_usage.
func cost(raw json.RawMessage) model.Money {
	f, _ := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64) // 0 if it is not a number
	return model.Dollars(f)
}

// thoughtApart returns the number of reasoning tokens that are charged but not included in the tokens of the answer.
// xAI counts in this way: its total is the sum of the prompt, the answer and the reasoning
// (github.com/vercel/ai/issues/12425).
func thoughtApart(m Members, u *model.Usage) int {
	total, _ := Count(m, "total_tokens")
	for _, k := range []string{"completion_tokens_details", "output_tokens_details"} {
		var details Members
		if json.Unmarshal(m[k], &details) != nil {
			continue
		}
		if thought, ok := Count(details, "reasoning_tokens"); ok && total == u.Prompt+u.Completion+thought {
			return thought
		}
	}
	return 0
}

// Count returns the number under the first of the keys that has one. A string of digits counts as a number.
func Count(m Members, keys ...string) (int, bool) {
	for _, k := range keys {
		var s string
		if json.Unmarshal(m[k], &s) != nil {
			s = string(m[k])
		}
		if f, err := strconv.ParseFloat(s, 64); err == nil && f >= 0 && f < 1<<50 {
			return int(f), true
		}
	}
	return 0, false
}

package anthropic

import (
	"encoding/json"

	"buddy/agent/model"
	"buddy/agent/model/wire"
)

// usage holds the server's token counts by name. A count that arrives later replaces the earlier one, unless it is
// zero.
type usage map[string]int

// The names of the counts. inputTokens excludes tokens that were read from the cache or written to it.
const (
	inputTokens  = "input_tokens"
	outputTokens = "output_tokens"
	cacheRead    = "cache_read_input_tokens"
	cacheWrite   = "cache_creation_input_tokens"
)

func (u *usage) add(raw json.RawMessage) {
	var m wire.Members
	if len(raw) == 0 || json.Unmarshal(raw, &m) != nil {
		return
	}
	for _, k := range []string{inputTokens, outputTokens, cacheRead, cacheWrite} {
		if n, ok := wire.Count(m, k); ok && (n > 0 || (*u)[k] == 0) {
			if *u == nil {
				*u = make(usage)
			}
			(*u)[k] = n
		}
	}
}

// total returns the usage, nil if the server counted nothing.
func (u usage) total() *model.Usage {
	_, in := u[inputTokens]
	_, out := u[outputTokens]
	_, cached := u[cacheRead]
	if !in && !out {
		return nil
	}
	return &model.Usage{
		Prompt: u[inputTokens] + u[cacheRead] + u[cacheWrite], Completion: u[outputTokens],
		Cached: u[cacheRead], CacheWrite: u[cacheWrite], CacheUnknown: !cached,
	}
}

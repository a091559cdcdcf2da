package anthropic

import (
	"encoding/json"

	"buddy/agent/model"
)

// usage is what a server counted. Later counts of an answer replace earlier ones.
type usage struct {
	Input   *int `json:"input_tokens"` // without what the cache read or wrote
	Output  *int `json:"output_tokens"`
	Read    *int `json:"cache_read_input_tokens"`
	Created *int `json:"cache_creation_input_tokens"`
}

func (u *usage) add(raw json.RawMessage) {
	var n usage
	if len(raw) == 0 || json.Unmarshal(raw, &n) != nil {
		return
	}
	for _, f := range []struct{ to, from **int }{{&u.Input, &n.Input}, {&u.Output, &n.Output}, {&u.Read, &n.Read}, {&u.Created, &n.Created}} {
		if *f.from != nil && **f.from >= 0 {
			*f.to = *f.from
		}
	}
}

// total is nil when the server counted nothing (A29).
func (u *usage) total() *model.Usage {
	if u.Input == nil && u.Output == nil {
		return nil
	}
	n := func(p *int) int {
		if p == nil {
			return 0
		}
		return *p
	}
	return &model.Usage{Prompt: n(u.Input) + n(u.Read) + n(u.Created), Completion: n(u.Output), Cached: n(u.Read)}
}

package modeltest

import "fmt"

// chat writes answers in the format of Chat Completions.
type chat struct{}

func (c chat) text(p *wire, s string) {
	c.field(p, "content", s)
}

func (c chat) reasoning(p *wire, r Reasoning) {
	if r.Field == "" {
		r.Field = "reasoning_content"
	}
	c.field(p, r.Field, r.Text)
}

// field sends the pieces of one field of the message.
func (c chat) field(p *wire, name, text string) {
	p.pieces(text, func(s string) { p.event(c.delta(p, `{`+encode(name)+`:`+encode(s)+`}`, "null")) })
}

func (c chat) call(p *wire, call Call) {
	p.event(c.delta(p, fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]}`, p.calls, encode(call.ID), encode(call.Name)), "null"))
	head := fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":`, p.calls)
	p.calls++
	p.pieces(call.Arguments, func(s string) { p.event(c.delta(p, head+encode(s)+`}}]}`, "null")) })
}

func (chat) compaction(*wire, string) {} // the protocol has none

func (chat) ping(p *wire) { p.comment() }

func (chat) failure(p *wire, object string) { p.event(`{"error":` + object + `}`) }

func (c chat) end(p *wire) {
	p.event(c.delta(p, "{}", encode(c.reason(p))))
	if p.usage != nil && p.req.usage {
		p.event(c.head(p) + `[],"usage":` + encode(c.usage(p)) + `}`)
	}
	p.event("[DONE]")
}

func (chat) reason(p *wire) string {
	switch {
	case p.finish != "":
		return p.finish
	case p.calls > 0:
		return "tool_calls"
	}
	return "stop"
}

func (chat) usage(p *wire) map[string]any {
	u := p.usage
	return map[string]any{
		"prompt_tokens": u.Prompt, "completion_tokens": u.Completion, "total_tokens": u.Prompt + u.Completion,
		"prompt_tokens_details": map[string]any{"cached_tokens": u.Cached, "cache_write_tokens": u.CacheWrite},
	}
}

// delta returns one event; both arguments are JSON.
func (c chat) delta(p *wire, delta, finish string) string {
	return c.head(p) + `[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}],"usage":null}`
}

func (chat) head(p *wire) string {
	return `{"id":"chatcmpl-1","object":"chat.completion.chunk","model":` + encode(p.req.Model) + `,"choices":`
}

func (c chat) document(p *wire, a Answer) any {
	text := ""
	message := map[string]any{"role": "assistant", "content": nil}
	var calls []any
	for _, part := range a {
		switch part := part.(type) {
		case Text:
			text += string(part)
			message["content"] = text
		case Reasoning:
			message[part.Field] = part.Text
		case Call:
			calls = append(calls, map[string]any{"id": part.ID, "type": "function", "function": map[string]any{"name": part.Name, "arguments": part.Arguments}})
			message["tool_calls"] = calls
		}
	}
	body := map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "model": p.req.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": c.reason(p)}},
	}
	if p.usage != nil {
		body["usage"] = c.usage(p)
	}
	return body
}

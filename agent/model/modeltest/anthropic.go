package modeltest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"

	"buddy/agent/model"
)

// In the Messages protocol, parts have the same meaning as in Chat Completions, with these exceptions: Reasoning
// becomes a signed thinking block, or a redacted one if its Field is redacted_thinking; KeepAlive sends pings; and
// Usage is always sent.

// signature returns the server's signature for a thinking block. CheckMessages requires that clients send it back.
func signature(thinking string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(thinking)) // a hash accepts everything
	return fmt.Sprintf("signed-%016x", h.Sum64())
}

// readMessages decodes a request of the Messages protocol, so that a script can examine it.
func readMessages(h http.Header, body []byte) Request {
	req := Request{Header: h, Body: body, Refused: CheckMessages(body)}
	if req.Refused == nil && h.Get("Anthropic-Version") == "" {
		req.Refused = fmt.Errorf("the header anthropic-version is missing")
	}
	if req.Refused != nil {
		return req
	}
	var b struct {
		Model    string
		System   []contentBlock
		Messages []struct {
			Role    model.Role
			Content []contentBlock
		}
		Stream bool
		Tools  []struct {
			Name, Description string
			Schema            json.RawMessage `json:"input_schema"`
		}
	}
	if req.Refused = json.Unmarshal(body, &b); req.Refused != nil {
		return req
	}
	req.Model, req.stream = b.Model, b.Stream
	for _, t := range b.Tools {
		req.Tools = append(req.Tools, model.ToolDef{Name: t.Name, Description: t.Description, Parameters: t.Schema})
	}
	for _, c := range b.System {
		req.Messages = append(req.Messages, model.Message{Role: model.System, Content: c.Text})
	}
	for _, m := range b.Messages {
		if m.Role == model.Assistant {
			req.Messages = append(req.Messages, answer(m.Content))
			continue
		}
		req.Messages = append(req.Messages, userMessages(m.Content)...)
	}
	return req
}

// userMessages returns the messages in a user turn. Images are attached to the text that follows them.
func userMessages(blocks []contentBlock) (msgs []model.Message) {
	var images []model.Image
	for _, c := range blocks {
		switch c.Type {
		case "tool_result":
			msgs = append(msgs, model.Message{Role: model.Tool, ToolCallID: c.ToolUseID, Content: str(c.Content)})
		case "image":
			images = append(images, c.image())
		default:
			msgs = append(msgs, model.Message{Role: model.User, Content: c.Text, Images: images})
			images = nil
		}
	}
	if images != nil {
		msgs = append(msgs, model.Message{Role: model.User, Images: images})
	}
	return msgs
}

func answer(blocks []contentBlock) model.Message {
	m := model.Message{Role: model.Assistant}
	for _, c := range blocks {
		switch c.Type {
		case "text":
			m.Content += c.Text
		case "tool_use":
			m.ToolCalls = append(m.ToolCalls, model.ToolCall{ID: c.ID, Name: c.Name, Arguments: string(c.Input)})
		}
	}
	return m
}

// messages writes answers in the format of the Messages protocol.
type messages struct {
	started bool
	index   int
	open    string // the kind of the open block; "" = none
	sign    string // the signature of the open block
	// paused means that the answer has had only a compaction so far.
	paused bool
}

func (m *messages) text(p *wire, s string) {
	if m.open != "text" {
		m.begin(p, "text", members{"text": ""})
	}
	m.pieces(p, s, "text_delta", "text")
}

func (m *messages) reasoning(p *wire, r Reasoning) {
	if r.Field == "redacted_thinking" {
		m.begin(p, r.Field, members{"data": r.Text})
		return
	}
	m.begin(p, "thinking", members{"thinking": "", "signature": ""})
	m.sign = signature(r.Text)
	m.pieces(p, r.Text, "thinking_delta", "thinking")
}

func (m *messages) call(p *wire, c Call) {
	m.begin(p, "tool_use", members{"id": c.ID, "name": c.Name, "input": members{}})
	p.calls++
	m.pieces(p, c.Arguments, "input_json_delta", "partial_json")
}

func (m *messages) compaction(p *wire, summary string) {
	m.begin(p, "compaction", members{"content": nil})
	m.event(p, "content_block_delta", members{"index": m.index, "delta": members{
		"type": "compaction_delta", "content": summary, "encrypted_content": "sealed",
	}})
	m.paused = true
}

func (m *messages) ping(p *wire) { m.event(p, "ping", members{}) }

func (m *messages) failure(p *wire, object string) {
	p.send("event: error\n")
	p.event(`{"type":"error","error":` + object + `}`)
}

// begin ends the open block and starts a new one.
func (m *messages) begin(p *wire, kind string, block members) {
	if !m.started {
		m.started = true
		head := m.message(p, []any{}, 1)
		head["stop_reason"] = nil
		m.event(p, "message_start", members{"message": head})
	}
	m.close(p)
	m.open, block["type"], m.paused = kind, kind, false
	m.event(p, "content_block_start", members{"index": m.index, "content_block": block})
}

func (m *messages) close(p *wire) {
	if m.open == "" {
		return
	}
	if m.sign != "" {
		m.delta(p, "signature_delta", "signature", m.sign)
		m.sign = ""
	}
	m.event(p, "content_block_stop", members{"index": m.index})
	m.index++
	m.open = ""
}

func (m *messages) pieces(p *wire, s, kind, member string) {
	p.pieces(s, func(s string) { m.delta(p, kind, member, s) })
}

func (m *messages) delta(p *wire, kind, member, value string) {
	m.event(p, "content_block_delta", members{"index": m.index, "delta": members{"type": kind, member: value}})
}

// event sends one event under its name.
func (*messages) event(p *wire, name string, body members) {
	body["type"] = name
	p.send("event: " + name + "\n")
	p.event(encode(body))
}

func (m *messages) end(p *wire) {
	m.close(p)
	end := members{"delta": members{"stop_reason": m.reason(p), "stop_sequence": nil}}
	if p.usage != nil {
		end["usage"] = members{"output_tokens": p.usage.Completion}
	}
	m.event(p, "message_delta", end)
	m.event(p, "message_stop", members{})
}

func (m *messages) reason(p *wire) string {
	switch {
	case m.paused && p.finish == "":
		return "compaction"
	case p.finish != "":
		return p.finish
	case p.calls > 0:
		return "tool_use"
	}
	return "end_turn"
}

// message is a complete answer, or the start of one.
func (m *messages) message(p *wire, content []any, output int) members {
	body := members{
		"id": "msg_1", "type": "message", "role": "assistant", "model": p.req.Model, "content": content,
		"stop_reason": m.reason(p), "stop_sequence": nil,
	}
	if u := p.usage; u != nil {
		body["usage"] = members{
			"input_tokens": u.Prompt - u.Cached - u.CacheWrite, "cache_creation_input_tokens": u.CacheWrite,
			"cache_read_input_tokens": u.Cached, "output_tokens": output,
		}
	}
	return body
}

func (m *messages) document(p *wire, a Answer) any {
	content, output := []any{}, 0
	for _, part := range a {
		switch part := part.(type) {
		case Text:
			content = append(content, members{"type": "text", "text": part})
		case Reasoning:
			if part.Field == "redacted_thinking" {
				content = append(content, members{"type": part.Field, "data": part.Text})
				continue
			}
			content = append(content, members{"type": "thinking", "thinking": part.Text, "signature": signature(part.Text)})
		case Call:
			content = append(content, members{"type": "tool_use", "id": part.ID, "name": part.Name, "input": json.RawMessage(part.Arguments)})
		case Compaction:
			content = append(content, members{"type": "compaction", "content": part, "encrypted_content": "sealed"})
			m.paused = len(a) == 1
		case Usage:
			output = part.Completion
		}
	}
	return m.message(p, content, output)
}

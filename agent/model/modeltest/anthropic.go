package modeltest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"
	"time"

	"buddy/agent/model"
)

// On /messages the parts of an answer mean the same, with these differences: Reasoning
// is a signed thinking block, or with the Field redacted_thinking a block of that kind;
// KeepAlive sends pings; Usage is always sent.

// signature is what the server signs a thinking block with. CheckMessages wants it back.
func signature(thinking string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(thinking)) // a hash takes everything
	return fmt.Sprintf("signed-%016x", h.Sum64())
}

// anthropic reports whether a request is one of Messages.
func anthropic(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/messages") }

// readMessages reads a request into the form that scripts know.
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
	req.Model, req.stream, req.usage = b.Model, b.Stream, true
	for _, t := range b.Tools {
		req.Tools = append(req.Tools, model.ToolDef{Name: t.Name, Description: t.Description, Parameters: t.Schema})
	}
	for _, c := range b.System {
		req.Messages = append(req.Messages, model.Message{Role: model.System, Content: c.Text})
	}
	for _, m := range b.Messages {
		if m.Role == model.Assistant {
			req.Messages = append(req.Messages, said(m.Content))
			continue
		}
		for _, c := range m.Content {
			if c.Type == "tool_result" {
				req.Messages = append(req.Messages, model.Message{Role: model.Tool, ToolCallID: c.ToolUseID, Content: str(c.Content)})
				continue
			}
			req.Messages = append(req.Messages, model.Message{Role: model.User, Content: c.Text})
		}
	}
	return req
}

func said(blocks []contentBlock) model.Message {
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

// blocks is a wire that speaks Messages.
type blocks struct {
	*wire
	begun bool
	index int
	open  string // the kind of the block that has begun; "" = none
	sign  string // what the open block is signed with
}

// playMessages sends an answer.
func playMessages(w http.ResponseWriter, r *http.Request, req Request, a Answer) {
	p := &blocks{wire: &wire{ctx: r.Context(), w: w, req: req}}
	for _, part := range a {
		if u, ok := part.(Usage); ok {
			p.usage = &u
		}
	}
	if len(a) > 0 {
		switch first := a[0].(type) {
		case Status:
			p.status(first)
			return
		case HTML:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			p.send(string(first))
			return
		case Plain:
			p.document(a[1:])
			return
		}
	}
	if !req.stream {
		p.document(a)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	for _, part := range a {
		if !p.over && p.ctx.Err() == nil {
			p.play(part)
		}
	}
	if !p.over && p.ctx.Err() == nil {
		p.end()
	}
}

func (p *blocks) play(part Part) {
	switch part := part.(type) {
	case Text:
		if p.open != "text" {
			p.begin("text", `{"type":"text","text":""}`)
		}
		p.pieces(string(part), "text_delta", "text")
	case Reasoning:
		p.reasoning(part)
	case Call:
		p.begin("tool_use", `{"type":"tool_use","id":`+encode(part.ID)+`,"name":`+encode(part.Name)+`,"input":{}}`)
		p.calls++
		p.pieces(part.Arguments, "input_json_delta", "partial_json")
	case KeepAlive:
		for range part.N {
			p.named("ping", `{"type":"ping"}`)
			p.pause(part.Every)
		}
	case ErrorObject:
		p.named("error", `{"type":"error","error":`+string(part)+`}`)
		p.over = true
	case Usage: // known from the beginning
	default:
		p.wire.play(part)
	}
}

func (p *blocks) reasoning(r Reasoning) {
	if r.Field == "redacted_thinking" {
		p.begin(r.Field, `{"type":"redacted_thinking","data":`+encode(r.Text)+`}`)
		return
	}
	p.begin("thinking", `{"type":"thinking","thinking":"","signature":""}`)
	p.sign = signature(r.Text)
	p.pieces(r.Text, "thinking_delta", "thinking")
}

// begin ends the block before and starts one.
func (p *blocks) begin(kind, block string) {
	if !p.begun {
		p.begun = true
		p.named("message_start", `{"type":"message_start","message":`+encode(map[string]any{
			"id": "msg_1", "type": "message", "role": "assistant", "model": p.req.Model, "content": []any{},
			"stop_reason": nil, "stop_sequence": nil, "usage": p.counts(1),
		})+`}`)
	}
	p.close()
	p.open = kind
	p.named("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, p.index, block))
}

func (p *blocks) close() {
	if p.open == "" {
		return
	}
	if p.sign != "" {
		p.delta("signature_delta", "signature", p.sign)
		p.sign = ""
	}
	p.named("content_block_stop", fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, p.index))
	p.index++
	p.open = ""
}

// pieces sends a text in deltas of the size that Chunks says.
func (p *blocks) pieces(s, kind, member string) {
	for first := true; s != "" || first; first = false {
		n := p.cut(s)
		p.delta(kind, member, s[:n])
		if s = s[n:]; s != "" && p.chunks.Every > 0 {
			p.pause(p.chunks.Every)
		}
		if p.ctx.Err() != nil {
			return
		}
	}
}

func (p *blocks) delta(kind, member, value string) {
	p.named("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":%q,%q:%s}}`, p.index, kind, member, encode(value)))
}

func (p *blocks) named(name, data string) { p.send("event: " + name + "\ndata: " + data + "\n\n") }

func (p *blocks) end() {
	p.close()
	end := map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": p.reason(), "stop_sequence": nil}}
	if p.usage != nil {
		end["usage"] = map[string]any{"output_tokens": p.usage.Completion}
	}
	p.named("message_delta", encode(end))
	p.named("message_stop", `{"type":"message_stop"}`)
	p.flush()
}

func (p *blocks) reason() string {
	switch {
	case p.finish != "":
		return p.finish
	case p.calls > 0:
		return "tool_use"
	}
	return "end_turn"
}

// counts is the usage; half of what was not cached is being written to the cache.
func (p *blocks) counts(output int) any {
	if p.usage == nil {
		return nil
	}
	fresh := p.usage.Prompt - p.usage.Cached
	return map[string]any{
		"input_tokens": fresh - fresh/2, "cache_creation_input_tokens": fresh / 2,
		"cache_read_input_tokens": p.usage.Cached, "output_tokens": output,
	}
}

// document sends the parts as one JSON body.
func (p *blocks) document(a Answer) {
	content := []any{}
	for _, part := range a {
		switch part := part.(type) {
		case Text:
			content = append(content, map[string]any{"type": "text", "text": part})
		case Reasoning:
			if part.Field == "redacted_thinking" {
				content = append(content, map[string]any{"type": part.Field, "data": part.Text})
				continue
			}
			content = append(content, map[string]any{"type": "thinking", "thinking": part.Text, "signature": signature(part.Text)})
		case Call:
			p.calls++
			content = append(content, map[string]any{"type": "tool_use", "id": part.ID, "name": part.Name, "input": json.RawMessage(part.Arguments)})
		case Finish:
			p.finish = string(part)
		case Pause:
			p.pause(time.Duration(part))
		}
	}
	body := map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": p.req.Model, "content": content,
		"stop_reason": p.reason(), "stop_sequence": nil,
	}
	if p.usage != nil {
		body["usage"] = p.counts(p.usage.Completion)
	}
	p.w.Header().Set("Content-Type", "application/json")
	p.send(strings.TrimSpace(encode(body)))
}

package modeltest

import (
	"fmt"
	"slices"
	"strings"

	"buddy/agent/model"
)

// itemFormat writes answers in the format of Responses. Like OpenAI, it sends each text first in deltas, and then as a
// whole in three events.
type itemFormat struct {
	seq     int
	output  []any  // the finished items
	message string // the text of the open message
	open    bool   // a message is open
}

type members = map[string]any

// event returns an event as JSON, with the next sequence number.
func (r *itemFormat) event(kind string, m members) string {
	m["type"], m["sequence_number"] = "response."+kind, r.seq
	r.seq++
	return encode(m)
}

// at adds the position and the id of the next item to m and returns m.
func (r *itemFormat) at(m members) members {
	m["output_index"], m["item_id"] = len(r.output), r.id()
	return m
}

func (r *itemFormat) id() string { return fmt.Sprintf("item_%d", len(r.output)) }

// added sends the event that starts an item.
func (r *itemFormat) added(p *wire, item members) {
	p.event(r.event("output_item.added", members{"output_index": len(r.output), "item": item}))
}

// done sends the event that ends an item.
func (r *itemFormat) done(p *wire, item members) {
	p.event(r.event("output_item.done", members{"output_index": len(r.output), "item": item}))
	r.output = append(r.output, item)
}

func messageItem(id, text string) members {
	return members{"id": id, "type": "message", "role": "assistant", "status": "completed", "content": []any{textPart(text)}}
}

func textPart(text string) members {
	return members{"type": "output_text", "text": text, "annotations": []any{}}
}

// callItem returns a call as an item. If free is true, it is a call of a custom tool, whose input is c.Arguments as
// plain text.
func callItem(id string, c Call, free bool) members {
	m := members{"id": id, "type": "function_call", "status": "completed", "call_id": c.ID, "name": c.Name}
	if free {
		m["type"], m["input"] = "custom_tool_call", c.Arguments
	} else {
		m["arguments"] = c.Arguments
	}
	return m
}

// reasoningItem returns reasoning as an item, with a summary or, if the field is reasoning_text, with its text. Real
// encrypted content is opaque to clients; here it is the length of the text.
func reasoningItem(id string, r Reasoning) members {
	m := members{"id": id, "type": "reasoning", "summary": []any{}, "encrypted_content": fmt.Sprintf("sealed %d", len(r.Text))}
	if r.Field == "reasoning_text" {
		m["content"] = []any{members{"type": "reasoning_text", "text": r.Text}}
	} else if r.Text != "" {
		m["summary"] = []any{members{"type": "summary_text", "text": r.Text}}
	}
	return m
}

func (r *itemFormat) text(p *wire, s string) {
	if !r.open {
		r.open = true
		item := messageItem(r.id(), "")
		item["status"], item["content"] = "in_progress", []any{}
		r.added(p, item)
		p.event(r.event("content_part.added", r.at(members{"content_index": 0, "part": textPart("")})))
	}
	r.message += s
	p.pieces(s, func(s string) {
		p.event(r.event("output_text.delta", r.at(members{"content_index": 0, "delta": s, "logprobs": []any{}})))
	})
}

func (r *itemFormat) close(p *wire) {
	if !r.open {
		return
	}
	p.event(r.event("output_text.done", r.at(members{"content_index": 0, "text": r.message})))
	p.event(r.event("content_part.done", r.at(members{"content_index": 0, "part": textPart(r.message)})))
	r.done(p, messageItem(r.id(), r.message))
	r.open, r.message = false, ""
}

func (r *itemFormat) reasoning(p *wire, part Reasoning) {
	r.close(p)
	r.added(p, members{"id": r.id(), "type": "reasoning", "summary": []any{}})
	kind, index, piece := "reasoning_summary_text", "summary_index", "reasoning_summary_part"
	if part.Field == "reasoning_text" {
		kind, index, piece = part.Field, "content_index", "content_part"
	}
	whole := members{"type": strings.TrimPrefix(kind, "reasoning_"), "text": part.Text}
	if part.Field == "reasoning_text" {
		whole["type"] = part.Field
	}
	p.event(r.event(piece+".added", r.at(members{index: 0, "part": members{"type": whole["type"], "text": ""}})))
	p.pieces(part.Text, func(s string) { p.event(r.event(kind+".delta", r.at(members{index: 0, "delta": s}))) })
	p.event(r.event(kind+".done", r.at(members{index: 0, "text": part.Text})))
	p.event(r.event(piece+".done", r.at(members{index: 0, "part": whole})))
	r.done(p, reasoningItem(r.id(), part))
}

func (r *itemFormat) call(p *wire, c Call) {
	r.close(p)
	free := p.req.free(c.Name)
	opened := callItem(r.id(), Call{ID: c.ID, Name: c.Name}, free)
	event, field := "custom_tool_call_input", "input"
	if !free {
		opened["status"] = "in_progress"
		event, field = "function_call_arguments", "arguments"
	}
	r.added(p, opened)
	p.pieces(c.Arguments, func(s string) { p.event(r.event(event+".delta", r.at(members{"delta": s}))) })
	p.event(r.event(event+".done", r.at(members{field: c.Arguments})))
	r.done(p, callItem(r.id(), c, free))
}

// free reports whether the model may call a tool of the request with plain text.
func (r Request) free(tool string) bool {
	return slices.ContainsFunc(r.Tools, func(d model.ToolDef) bool { return d.Name == tool && d.Free != nil })
}

func (r *itemFormat) compaction(p *wire, summary string) {
	r.close(p)
	item := compactionItem(r.id(), summary)
	r.added(p, item)
	r.done(p, item)
}

func compactionItem(id, summary string) members {
	return members{"id": id, "type": "compaction", "encrypted_content": fmt.Sprintf("sealed %d", len(summary))}
}

func (*itemFormat) ping(p *wire) { p.comment() }

func (r *itemFormat) failure(p *wire, object string) {
	p.event(`{"type":"response.failed","response":{"status":"failed","error":` + object + `}}`)
}

func (r *itemFormat) end(p *wire) {
	r.close(p)
	body := r.body(p)
	p.event(r.event(body["status"].(string), members{"response": body}))
}

func (r *itemFormat) body(p *wire) members {
	body := members{"id": "resp_1", "object": "response", "model": p.req.Model, "status": "completed", "error": nil, "incomplete_details": nil, "output": r.output}
	switch p.finish {
	case "length":
		body["status"], body["incomplete_details"] = "incomplete", members{"reason": "max_output_tokens"}
	case "content_filter":
		body["status"], body["incomplete_details"] = "incomplete", members{"reason": p.finish}
	case "error":
		body["status"], body["error"] = "failed", members{"code": "server_error", "message": "it failed"}
	}
	if u := p.usage; u != nil {
		body["usage"] = members{
			"input_tokens": u.Prompt, "output_tokens": u.Completion, "total_tokens": u.Prompt + u.Completion,
			"input_tokens_details": members{"cached_tokens": u.Cached, "cache_write_tokens": u.CacheWrite},
		}
	}
	return body
}

func (r *itemFormat) document(p *wire, a Answer) any {
	flush := func() {
		if r.message != "" {
			r.output = append(r.output, messageItem(r.id(), r.message))
			r.message = ""
		}
	}
	for _, part := range a {
		switch part := part.(type) {
		case Text:
			r.message += string(part)
		case Reasoning:
			flush()
			r.output = append(r.output, reasoningItem(r.id(), part))
		case Call:
			flush()
			r.output = append(r.output, callItem(r.id(), part, p.req.free(part.Name)))
		case Compaction:
			flush()
			r.output = append(r.output, compactionItem(r.id(), string(part)))
		}
	}
	flush()
	return r.body(p)
}

package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// wire is an answer while it is sent.
type wire struct {
	ctx     context.Context
	w       http.ResponseWriter
	req     Request
	chunks  Chunks
	dribble bool
	calls   int
	usage   *Usage
	finish  string
	over    bool // nothing may follow
}

// play sends an answer.
func play(w http.ResponseWriter, r *http.Request, req Request, a Answer) {
	p := &wire{ctx: r.Context(), w: w, req: req}
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

func (p *wire) status(s Status) {
	for k, v := range s.Header {
		p.w.Header().Set(k, v)
	}
	p.w.WriteHeader(s.Code)
	p.send(s.Body)
}

func (p *wire) play(part Part) {
	switch part := part.(type) {
	case Text:
		p.pieces(string(part), func(s string) string { return `{"content":` + encode(s) + `}` })
	case Reasoning:
		if part.Field == "" {
			part.Field = "reasoning_content"
		}
		p.pieces(part.Text, func(s string) string { return `{` + encode(part.Field) + `:` + encode(s) + `}` })
	case Call:
		p.call(part)
	case Usage:
		p.usage = &part
	case Finish:
		p.finish = string(part)
	case Pause:
		p.pause(time.Duration(part))
	case Chunks:
		p.chunks = part
	case Event:
		p.event(string(part))
	case KeepAlive:
		for range part.N {
			p.send(": keep-alive\n\n")
			p.pause(part.Every)
		}
	case Dribble:
		p.dribble = true
	default:
		p.fault(part)
	}
}

func (p *wire) fault(part Part) {
	switch part := part.(type) {
	case Raw:
		p.send(string(part))
	case LongLine:
		p.longLine(int(part))
	case ErrorObject:
		p.event(`{"error":` + string(part) + `}`)
		p.over = true
	case End:
		p.over = true
	case Cut:
		p.flush()
		panic(http.ErrAbortHandler)
	case Hang:
		p.flush()
		<-p.ctx.Done()
		p.over = true
	}
}

// pieces sends a text in deltas of the size that Chunks says.
func (p *wire) pieces(s string, delta func(string) string) {
	for first := true; s != "" || first; first = false {
		n := p.cut(s)
		p.delta(delta(s[:n]), "null")
		if s = s[n:]; s != "" && p.chunks.Every > 0 {
			p.pause(p.chunks.Every)
		}
		if p.ctx.Err() != nil {
			return
		}
	}
}

// cut returns the length of the next piece, which splits no code point.
func (p *wire) cut(s string) int {
	n := p.chunks.Bytes
	if n <= 0 || n >= len(s) {
		return len(s)
	}
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	return n
}

func (p *wire) call(c Call) {
	p.delta(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]}`, p.calls, encode(c.ID), encode(c.Name)), "null")
	head := fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":`, p.calls)
	p.calls++
	p.pieces(c.Arguments, func(s string) string { return head + encode(s) + `}}]}` })
}

func (p *wire) end() {
	p.delta("{}", encode(p.reason()))
	if p.usage != nil && p.req.usage {
		p.event(p.head() + `[],"usage":` + encode(p.usage.json()) + `}`)
	}
	p.event("[DONE]")
	p.flush()
}

func (p *wire) reason() string {
	switch {
	case p.finish != "":
		return p.finish
	case p.calls > 0:
		return "tool_calls"
	}
	return "stop"
}

func (u Usage) json() map[string]any {
	return map[string]any{
		"prompt_tokens": u.Prompt, "completion_tokens": u.Completion, "total_tokens": u.Prompt + u.Completion,
		"prompt_tokens_details": map[string]any{"cached_tokens": u.Cached},
	}
}

// delta sends one event; both arguments are JSON.
func (p *wire) delta(delta, finish string) {
	p.event(p.head() + `[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}],"usage":null}`)
}

func (p *wire) head() string {
	return `{"id":"chatcmpl-1","object":"chat.completion.chunk","model":` + encode(p.req.Model) + `,"choices":`
}

func encode(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // of maps and strings: cannot happen
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (p *wire) event(data string) { p.send("data: " + data + "\n\n") }

// document sends the parts as one JSON body.
func (p *wire) document(a Answer) {
	var text strings.Builder
	message := map[string]any{"role": "assistant", "content": nil}
	var calls []any
	for _, part := range a {
		switch part := part.(type) {
		case Text:
			text.WriteString(string(part))
			message["content"] = text.String()
		case Reasoning:
			message[part.Field] = part.Text
		case Call:
			calls = append(calls, map[string]any{"id": part.ID, "type": "function", "function": map[string]any{"name": part.Name, "arguments": part.Arguments}})
			message["tool_calls"] = calls
			p.calls++
		case Usage:
			p.usage = &part
		case Finish:
			p.finish = string(part)
		}
	}
	body := map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "model": p.req.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": p.reason()}},
	}
	if p.usage != nil {
		body["usage"] = p.usage.json()
	}
	p.w.Header().Set("Content-Type", "application/json")
	p.send(encode(body))
}

func (p *wire) longLine(n int) {
	p.send(`data: {"choices":[{"index":0,"delta":{"content":"`)
	block := strings.Repeat("x", 64<<10)
	for n > 0 && p.ctx.Err() == nil {
		p.send(block[:min(n, len(block))])
		n -= len(block)
	}
}

// send writes s. A client that is gone is known from ctx, not from here.
func (p *wire) send(s string) {
	if !p.dribble {
		_, _ = io.WriteString(p.w, s)
		return
	}
	for i := range len(s) {
		_, _ = io.WriteString(p.w, s[i:i+1])
		p.flush()
	}
}

func (p *wire) flush() {
	if f, ok := p.w.(http.Flusher); ok {
		f.Flush()
	}
}

// pause lets the client see what was sent, and waits.
func (p *wire) pause(d time.Duration) {
	p.flush()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.ctx.Done():
	}
}

package modeltest

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"buddy/texts"
)

// wire sends an answer.
type wire struct {
	ctx     context.Context
	w       http.ResponseWriter
	req     Request
	format  format
	chunks  Chunks
	dribble *Dribble // nil: bytes are sent together
	calls   int
	usage   *Usage
	finish  string
	over    bool // nothing may follow
}

// format encodes the parts of an answer for a protocol.
type format interface {
	text(p *wire, s string)
	reasoning(p *wire, r Reasoning)
	call(p *wire, c Call)
	compaction(p *wire, summary string)
	ping(p *wire)
	failure(p *wire, object string)
	end(p *wire)
	document(p *wire, a Answer) any // all in one body
}

// answer sends an answer. Headers come before everything else, and some formats start with the usage.
func (p *wire) answer(a Answer) {
	for _, part := range a {
		switch part := part.(type) {
		case Usage:
			p.usage = &part
		case Headers:
			for k, v := range part {
				p.w.Header().Set(k, v)
			}
		}
	}
	if len(a) > 0 {
		switch first := a[0].(type) {
		case Status:
			p.status(first)
			return
		case HTML:
			p.w.Header().Set("Content-Type", "text/html; charset=utf-8")
			p.send(string(first))
			return
		case Plain:
			p.document(a[1:])
			return
		}
	}
	if !p.req.stream {
		p.document(a)
		return
	}
	p.w.Header().Set("Content-Type", "text/event-stream")
	p.w.WriteHeader(http.StatusOK)
	for _, part := range a {
		if !p.over && p.ctx.Err() == nil {
			p.play(part)
		}
	}
	if !p.over && p.ctx.Err() == nil {
		p.format.end(p)
		p.flush()
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
		p.format.text(p, string(part))
	case Reasoning:
		p.format.reasoning(p, part)
	case Call:
		p.format.call(p, part)
	case Compaction:
		p.format.compaction(p, string(part))
	case Finish:
		p.finish = string(part)
	case Pause:
		p.pause(time.Duration(part))
	case Until:
		p.await(part)
	case Chunks:
		p.chunks = part
	case Event:
		p.event(string(part))
	case KeepAlive:
		for range part.N {
			p.format.ping(p)
			p.pause(part.Every)
		}
	case Dribble:
		p.dribble = &part
	default:
		p.fault(part)
	}
}

// await flushes the answer and waits until done is closed or the request ends.
func (p *wire) await(done <-chan struct{}) {
	p.flush()
	select {
	case <-done:
	case <-p.ctx.Done():
	}
}

func (p *wire) fault(part Part) {
	switch part := part.(type) {
	case Raw:
		p.send(string(part))
	case LongLine:
		p.longLine(int(part))
	case ErrorObject:
		p.format.failure(p, string(part))
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

// pieces calls event for each piece of a text. Chunks sets the size of the pieces.
func (p *wire) pieces(s string, event func(string)) {
	for first := true; s != "" || first; first = false {
		n := p.cut(s)
		event(s[:n])
		if s = s[n:]; s != "" && p.chunks.Every > 0 {
			p.pause(p.chunks.Every)
		}
		if p.ctx.Err() != nil {
			return
		}
	}
}

// cut returns the length of the next piece of s. It splits no code point.
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

func encode(v any) string {
	b, err := texts.JSON(v)
	if err != nil {
		panic(err) // maps and strings: cannot happen
	}
	return string(b)
}

func (p *wire) event(data string) { p.send("data: " + data + "\n\n") }

func (p *wire) comment() { p.send(": keep-alive\n\n") }

// document sends the parts as one JSON body.
func (p *wire) document(a Answer) {
	for _, part := range a {
		switch part := part.(type) {
		case Finish:
			p.finish = string(part)
		case Call:
			p.calls++
		}
	}
	p.w.Header().Set("Content-Type", "application/json")
	p.send(encode(p.format.document(p, a)))
}

func (p *wire) longLine(n int) {
	p.send(`data: {"choices":[{"index":0,"delta":{"content":"`)
	block := strings.Repeat("x", 64<<10)
	for n > 0 && p.ctx.Err() == nil {
		p.send(block[:min(n, len(block))])
		n -= len(block)
	}
}

// send writes s. It ignores errors, because ctx ends when the client disconnects.
func (p *wire) send(s string) {
	if p.dribble == nil {
		_, _ = io.WriteString(p.w, s)
		return
	}
	for i := 0; i < len(s) && p.ctx.Err() == nil; i++ {
		_, _ = io.WriteString(p.w, s[i:i+1])
		if p.flush(); p.dribble.Every > 0 {
			p.pause(p.dribble.Every)
		}
	}
}

func (p *wire) flush() {
	if f, ok := p.w.(http.Flusher); ok {
		f.Flush()
	}
}

// pause sends what is buffered, and waits for d or until the request ends.
func (p *wire) pause(d time.Duration) {
	p.flush()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.ctx.Done():
	}
}

package turn

import (
	"sync"
	"unicode/utf8"

	"buddy/agent/event"
	"buddy/agent/redact"
	"buddy/agent/stream"
	"buddy/tools"
)

// runningCall publishes the live output of a call without secrets, including secrets that are split between chunks.
type runningCall struct {
	stream     *stream.Stream
	redact     *redact.Redactor // may be nil
	task, turn int
	callID     string

	mu      sync.Mutex // guards streams, and the order of the events
	streams map[tools.Stream]*liveStream
}

// liveStream holds the state of one output stream.
type liveStream struct {
	redact *redact.Stream
	cut    []byte // bytes of an incomplete character
	total  int64
}

func newLive(s *stream.Stream, secrets *redact.Redactor, task, turn int, callID string) *runningCall {
	return &runningCall{stream: s, redact: secrets, task: task, turn: turn, callID: callID, streams: make(map[tools.Stream]*liveStream)}
}

// write publishes a chunk. It holds back an incomplete character at the end, and text that may be the start of a
// secret.
func (l *runningCall) write(c tools.Chunk) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.Stream == tools.Keys {
		l.stream.Publish(l.task, l.turn, event.ToolWaits{CallID: l.callID, Waits: len(c.Text) > 0 && c.Text[len(c.Text)-1] == 1})
		return
	}
	s := l.streams[c.Stream]
	if s == nil {
		s = &liveStream{redact: l.redact.Stream()}
		l.streams[c.Stream] = s
	}
	text := append(s.cut, c.Text...)
	whole := wholeRunes(text)
	s.cut = append([]byte(nil), text[whole:]...)
	s.total = c.Total
	l.show(c.Stream, s, s.redact.Write(string(text[:whole])))
}

// flush publishes the text that was held back, after the last chunk.
func (l *runningCall) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range []tools.Stream{tools.Stdout, tools.Stderr} {
		if s := l.streams[name]; s != nil {
			l.show(name, s, s.redact.Flush())
		}
	}
}

func (l *runningCall) show(name tools.Stream, s *liveStream, text string) {
	if text != "" {
		l.stream.Publish(l.task, l.turn, event.ToolOutput{CallID: l.callID, Stream: string(name), Text: text, BytesTotal: s.total})
	}
}

// wholeRunes returns the length of p without an incomplete character at its end. Invalid bytes count as whole.
func wholeRunes(p []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(p); back++ {
		b := p[len(p)-back]
		if utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(p[len(p)-back:]) {
				return len(p) - back
			}
			break
		}
	}
	return len(p)
}

package turn

import (
	"sync"
	"unicode/utf8"

	"buddy/agent/event"
	"buddy/agent/redact"
	"buddy/agent/stream"
	"buddy/tools"
)

// runningCall publishes the live output of a call, without secrets: also those that come in
// two pieces.
type runningCall struct {
	stream     *stream.Stream
	redact     *redact.Redactor // may be nil
	task, turn int
	callID     string

	mu      sync.Mutex // guards what follows, and the order of the events
	streams map[tools.Stream]*liveStream
}

// liveStream is one stream of it.
type liveStream struct {
	redact *redact.Stream
	cut    []byte // the beginning of a character
	total  int64
}

func newLive(s *stream.Stream, secrets *redact.Redactor, task, turn int, callID string) *runningCall {
	return &runningCall{stream: s, redact: secrets, task: task, turn: turn, callID: callID, streams: make(map[tools.Stream]*liveStream)}
}

// write takes the next chunk. An incomplete character at its end is held back
// until its rest arrives, and so is text that may be the beginning of a secret.
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

// flush shows what was held back, when nothing more comes.
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

// wholeRunes returns how much of p ends with a whole character. What can't be the
// beginning of one counts as whole.
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

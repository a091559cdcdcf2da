package headless

import (
	"fmt"
	"time"

	"buddy/agent/event"
)

const (
	longPrompt   = 500              // tokens of a prompt long enough for a message when a server starts to process it
	readingEvery = 10 * time.Second // minimum time between messages
)

// readings formats a local server's progress with a prompt, rarely and only for a terminal.
type readings struct {
	shown bool
	last  time.Time // of a message, or of the start
}

// progress returns the message for an event, "" for none.
func (r *readings) progress(p event.ModelReading, now time.Time) string {
	done := p.Done - p.Cached
	if !r.shown || p.Done >= p.Total {
		return ""
	}
	if done <= 0 {
		r.last = now
		if p.Total-p.Cached < longPrompt {
			return ""
		}
		return fmt.Sprintf("the model is reading the prompt (%d tokens)", p.Total-p.Cached)
	}
	if now.Sub(r.last) < readingEvery {
		return ""
	}
	r.last = now
	left := time.Duration(p.TookMS) * time.Millisecond / time.Duration(done) * time.Duration(p.Total-p.Done)
	return fmt.Sprintf("the model has read %d%% of the prompt, about %v left", p.Done*100/p.Total, left.Round(time.Second))
}

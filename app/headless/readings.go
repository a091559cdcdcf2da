package headless

import (
	"fmt"
	"time"

	"buddy/agent/event"
)

const (
	longPrompt   = 500              // tokens of a prompt that is worth a line when a server begins to process it
	readingEvery = 10 * time.Second // the least time to the next line
)

// readings says how far a server on this machine is with a prompt, seldom and only to a terminal.
type readings struct {
	shown bool
	last  time.Time // of a line, or of the beginning
}

// progress returns the line for an event, "" for none.
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

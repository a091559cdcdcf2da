package compose

import (
	"fmt"
	"sync/atomic"
	"time"

	"buddy/agent/event"
	"buddy/sessions"
)

// outputsMost returns the size limit of all full outputs of the project's sessions, in bytes.
func outputsMost(p *Program) int64 { return int64(p.Config.Sessions.Outputs) << 20 }

// tidied publishes a notice about the removed files.
func tidied(p *Program, c sessions.Collected, err error) {
	if err != nil {
		p.Live.Publish(event.Warning{Text: "old outputs were not removed: " + err.Error(), Code: "tidy"})
	}
	if c.Trash+c.Outs+c.Files > 0 {
		text := fmt.Sprintf("cleaned up: %d sessions from the trash, output of %d old sessions", c.Trash, c.Outs)
		if c.Files > 0 {
			text += fmt.Sprintf(", output of %d commands", c.Files)
		}
		p.Live.Publish(event.Notice{Text: fmt.Sprintf("%s (%d MB)", text, (c.Bytes+1<<20-1)>>20), Code: "tidy"})
	}
}

// looksPerLimit is the number of checks that outputLimit makes while a session prints as many bytes as the limit
// allows.
const looksPerLimit = 8

// outputLimit keeps full outputs within their limit while a session prints.
type outputLimit struct {
	program *Program
	since   int64       // bytes printed since the last check
	looking atomic.Bool // a check is running
}

// see counts the output of a command, and removes old outputs when it is time for a check.
func (l *outputLimit) see(env event.Envelope) {
	r, ok := env.Payload.(event.ToolResult)
	if !ok || r.FullOutput == nil {
		return
	}
	most := outputsMost(l.program)
	if l.since += r.FullOutput.Bytes; l.since < most/looksPerLimit || l.looking.Swap(true) {
		return
	}
	l.since = 0
	go func() {
		defer l.looking.Store(false)
		c, err := sessions.LimitOutputs(l.program.Store, time.Now(), most)
		tidied(l.program, c, err)
	}()
}

package pane

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"

	"buddy/texts"
)

const (
	displayMax  = 1 << 20                // backlog of the pane in bytes
	displayKeep = 64 << 10               // bytes shown after a skip
	displayLine = 4 << 10                // a longer line may be shown from its middle
	displayHold = 250 * time.Millisecond // pause between two looks at a flood
	drainMost   = 250 * time.Millisecond // maximum wait of a command for its prompt line
)

// display writes to the pane without blocking the writer: with a backlog of more than displayMax it skips ahead, shows
// how much it omitted, and updates the pane a few times a second.
type display struct {
	w     io.Writer
	flush chan struct{} // ends the pause

	mu       sync.Mutex // guards the fields below
	wake     sync.Cond
	room     sync.Cond // signals new room, the end of waits, or an empty queue
	buf      []byte
	skipped  int64
	skipping bool
	writing  bool // a write to the pane is in progress
	waits    bool // lossless: Write waits instead of skipping, because full-screen programs need all output
	column0  bool // the last byte was a newline
	escapes  bool // there was an escape sequence since the last prompt
}

func newDisplay(w io.Writer) *display {
	d := &display{w: w, flush: make(chan struct{}, 1), column0: true}
	d.wake.L, d.room.L = &d.mu, &d.mu
	go d.run()
	return d
}

// Write queues p.
func (d *display) Write(p []byte) (int, error) {
	if d == nil || len(p) == 0 {
		return len(p), nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.waits && len(d.buf) > displayMax {
		d.room.Wait()
	}
	d.column0 = p[len(p)-1] == '\n'
	if !d.escapes && bytes.IndexByte(p, 0x1b) >= 0 {
		d.escapes = true
	}
	d.put(p)
	return len(p), nil
}

func (d *display) put(p []byte) {
	if !d.skipping && !d.waits && len(d.buf)+len(p) > displayMax {
		d.skipping = true
	}
	if d.skipping {
		had := len(d.buf) + len(p)
		d.buf = keepLast(d.buf, p, displayKeep)
		d.skipped += int64(had - len(d.buf))
	} else {
		d.buf = append(d.buf, p...)
	}
	d.wake.Signal()
}

// prompt shows the start of a command.
func (d *display) prompt(text string) {
	d.say(func() string { return "\x1b[1m$\x1b[m " + text + "\r\n" })
}

// drain waits until the queue has been written, but at most drainMost. Without it, a command's own output to /dev/tty
// could precede the line with its prompt.
func (d *display) drain() {
	if d == nil {
		return
	}
	late := time.Now().Add(drainMost)
	wake := time.AfterFunc(drainMost, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.room.Broadcast()
	})
	defer wake.Stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	for (d.writing || len(d.buf) > 0) && time.Now().Before(late) {
		d.room.Wait()
	}
}

// setLossless makes writers wait for the terminal instead of skipping output.
func (d *display) setLossless(on bool) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waits = on
	d.room.Broadcast()
}

// end resets the terminal after a command and shows how it ended, if not normally.
func (d *display) end(note string) {
	d.say(func() string {
		s := ""
		if d.escapes {
			// Ends an open sequence, the alternate screen, hidden cursor, line drawing, colours, mouse
			// and key modes.
			s = "\x18\x1b[?1049l\x1b[?25h\x0f\x1b(B\x1b[m\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?2004l\x1b[?1l\x1b>"
		}
		d.escapes = false
		if !d.column0 {
			s += "\r\n"
		}
		if note != "" {
			s += "\x1b[2m[" + note + "]\x1b[m\r\n"
		}
		return s
	})
	if d != nil {
		select {
		case d.flush <- struct{}{}:
		default:
		}
	}
}

func (d *display) say(text func() string) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s := text()
	if s != "" {
		d.put([]byte(s))
		d.column0 = true
	}
}

// run writes the queued output; it runs as long as the process.
func (d *display) run() {
	var spare []byte
	for {
		d.mu.Lock()
		d.writing = false
		d.room.Broadcast()
		for len(d.buf) == 0 {
			d.wake.Wait()
		}
		if d.skipping {
			d.mu.Unlock()
			d.hold()
			d.mu.Lock()
			over := len(d.buf) - displayKeep
			if over > 0 {
				d.buf = d.buf[over:]
				d.skipped += int64(over)
			}
		}
		p, skipped := d.buf, d.skipped
		d.buf, d.skipped, d.skipping, d.writing = spare[:0], 0, false, true
		d.room.Broadcast()
		d.mu.Unlock()
		if skipped > 0 {
			if i := bytes.IndexByte(p, '\n'); i >= 0 && i < displayLine {
				p = p[i+1:] // starts at a line
				skipped += int64(i + 1)
			}
			_, _ = fmt.Fprintf(d.w, "\x18\x1b[m\r\n… %s skipped\r\n", texts.ByteCount(skipped))
		}
		_, _ = d.w.Write(p) // a closed terminal ends the process by a signal
		spare = p[:0]
		if cap(spare) > 4*displayKeep {
			spare = nil
		}
	}
}

func (d *display) hold() {
	t := time.NewTimer(displayHold)
	defer t.Stop()
	select {
	case <-d.flush: // an old token only causes one extra update
	case <-t.C:
	}
}

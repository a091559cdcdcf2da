package socket

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"buddy/agent/event"
	"buddy/app/client"
	"buddy/texts"
)

const (
	maxLine     = 64 << 20         // bytes of a message; a prompt may have pictures
	maxGreeting = 64 << 10         // bytes of a first message
	writeTime   = 10 * time.Second // for one write; a screen that does not read for this long is disconnected
	keepBuffer  = 1 << 20          // bytes of a buffer kept for reuse
)

// Screen describes a screen to the host.
type Screen struct {
	Protocol int               `json:"protocol"`
	Version  string            `json:"version"`
	Looks    bool              `json:"looks,omitempty"`  // it shows nothing to a user, so it does not count as attended
	Env      map[string]string `json:"env,omitempty"`    // variables of its terminal that commands need, such as SSH_AUTH_SOCK
	Secret   string            `json:"secret,omitempty"` // of the process that started the host, see [Server]
	Editor   bool              `json:"editor,omitempty"` // an editor shows the session

	// Set by the host, from the kernel.
	PID      int    `json:"-"` // of its process
	Terminal string `json:"-"` // the name of its terminal, such as pts/3; "" for none
	Watches  bool   `json:"-"` // it may only watch and stop
}

// message is a line that is not an event.
type message struct {
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// subscription asks for events.
type subscription struct {
	After   uint64 `json:"after"`
	EveryMS int    `json:"every_ms"`
	Durable bool   `json:"durable,omitempty"` // leave out all other events
}

// refused tells a screen that its command had no effect, because the screen may only watch and stop.
type refused struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

// request and reply have the same ID.
type request struct {
	ID   uint64          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type reply struct {
	ID    uint64          `json:"id"`
	Value json.RawMessage `json:"value,omitempty"`
	Error string          `json:"error,omitempty"`
}

// errTooLong means that a line is longer than a message may be.
var errTooLong = errors.New("a message is too long")

type lines struct {
	r   *bufio.Reader
	buf []byte
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line of at most limit bytes, which is valid until the next call.
func (l *lines) next(limit int) ([]byte, error) {
	if cap(l.buf) > keepBuffer {
		l.buf = nil
	}
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if err == nil && len(l.buf) == 0 && len(part) <= limit {
			return part, nil
		}
		if len(l.buf)+len(part) > limit {
			return nil, fmt.Errorf("%w (at most %d bytes)", errTooLong, limit)
		}
		l.buf = append(l.buf, part...)
		switch {
		case err == nil:
			return l.buf, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err // a message that was cut off is dropped
		}
	}
}

// more reports whether another line may be buffered already.
func (l *lines) more() bool { return l.r.Buffered() > 0 }

// isEvent reports whether a line is an event, which always starts with its number.
func isEvent(line []byte) bool { return bytes.HasPrefix(line, []byte(`{"seq":`)) }

func encode(name string, payload any) ([]byte, error) {
	raw, err := texts.JSON(payload)
	if err != nil {
		return nil, fmt.Errorf("message %s: %w", name, err)
	}
	line, err := texts.JSON(message{name, raw})
	return append(line, '\n'), err
}

// writer writes lines to a connection. Any goroutine may use it.
type writer struct {
	conn *net.UnixConn
	time time.Duration // for one write

	mu  sync.Mutex // guards buf
	buf []byte
}

// write writes complete lines at once.
func (w *writer) write(line []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flush(line)
}

func (w *writer) flush(p []byte) error {
	if err := w.conn.SetWriteDeadline(time.Now().Add(w.time)); err != nil {
		return err
	}
	_, err := w.conn.Write(p)
	_ = w.conn.SetWriteDeadline(time.Time{}) // otherwise its timer wakes an idle process; a closed connection needs none
	return err
}

func (w *writer) message(name string, payload any) error {
	line, err := encode(name, payload)
	if err != nil {
		return err
	}
	return w.write(line)
}

// events writes a batch, in one piece unless it is large.
func (w *writer) events(batch []event.Envelope) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if cap(w.buf) > keepBuffer {
		w.buf = nil
	}
	w.buf = w.buf[:0]
	for _, env := range batch {
		line, err := env.AppendJSON(w.buf)
		if err != nil {
			return err
		}
		w.buf = append(line, '\n')
		if len(w.buf) > keepBuffer {
			if err := w.flush(w.buf); err != nil {
				return err
			}
			w.buf = w.buf[:0]
		}
	}
	return w.flush(w.buf)
}

// mismatch returns an error if host and screen have different protocols. The error tells the user which of the two to
// replace, and how. Both sides get the same error.
func mismatch(host client.Hello, screen Screen) error {
	if host.Protocol == screen.Protocol {
		return nil
	}
	older, next := "screen", fmt.Sprintf("attach with buddy %s", host.Version)
	if host.Protocol < screen.Protocol {
		older, next = "session", fmt.Sprintf("end it (buddy %s stop, or kill %d), then resume it with buddy %s", host.Version, host.PID, screen.Version)
	}
	return fmt.Errorf("the %s uses an older buddy: the session runs buddy %s (protocol %d), the screen runs buddy %s (protocol %d); %s",
		older, host.Version, host.Protocol, screen.Version, screen.Protocol, next)
}

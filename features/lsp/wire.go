package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Limits of a server's messages.
const (
	maxHeader = 8 << 10  // bytes of a header
	maxBody   = 32 << 20 // bytes of a body
)

// fault is a violation of the protocol by a server.
type fault string

func (f fault) Error() string { return string(f) }

var errHeader = fault(fmt.Sprintf("it sent a header that is invalid or over %d KiB", maxHeader>>10))

// wire reads and writes framed messages. It is a channel of jrpc2, which gets only answers and calls. wire handles
// notifications itself, because their order matters and the library does not keep it.
type wire struct {
	in     *bufio.Reader
	out    io.WriteCloser
	notify func(method string, params json.RawMessage) // called in order of arrival
	passed func(barrier int)                           // the server has read everything sent before the barrier

	most   int       // messages in one second
	second time.Time // start of the second in which count counts
	count  int

	writing sync.Mutex // keeps messages from mixing

	mu  sync.Mutex // guards the field below
	err error      // why reading ended
}

func newWire(in io.Reader, out io.WriteCloser, most int) *wire {
	return &wire{most: most, in: bufio.NewReaderSize(in, maxHeader), out: out}
}

// Send writes one message.
func (w *wire) Send(message []byte) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	text := make([]byte, 0, len(message)+40)
	text = append(text, "Content-Length: "...)
	text = strconv.AppendInt(text, int64(len(message)), 10)
	text = append(text, "\r\n\r\n"...)
	_, err := w.out.Write(append(text, message...))
	return err
}

// barrierID starts the ids of barriers. jrpc2 uses numbers as ids, so they can't collide.
const barrierID = "barrier-"

// barrier sends a request that every server answers at once with an error, because no server knows its method. passed
// is called with the number when the answer arrives.
func (w *wire) barrier(number int) error {
	return w.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"%s%d","method":"$/barrier","params":{}}`, barrierID, number))
}

// Recv returns the next answer or call of the server, and handles the notifications before it.
func (w *wire) Recv() ([]byte, error) {
	for {
		message, err := w.read()
		if err != nil {
			w.mu.Lock()
			w.err = err
			w.mu.Unlock()
			return nil, err
		}
		var head struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if json.Unmarshal(message, &head) != nil {
			return message, nil // the library reports the error
		}
		if number, ok := strings.CutPrefix(strings.Trim(string(head.ID), `"`), barrierID); ok && head.Method == "" {
			if n, err := strconv.Atoi(number); err == nil {
				w.passed(n)
			}
			continue
		}
		if head.Method != "" && head.ID == nil {
			w.notify(head.Method, head.Params)
			continue
		}
		return message, nil
	}
}

// broken returns the server's violation of the protocol, or nil.
func (w *wire) broken() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f, ok := errors.AsType[fault](w.err); ok {
		return f
	}
	return nil
}

// read reads one message.
func (w *wire) read() ([]byte, error) {
	size, err := w.header()
	if err != nil {
		return nil, err
	}
	if now := time.Now(); now.Sub(w.second) > time.Second {
		w.second, w.count = now, 0
	}
	if w.count++; w.count > w.most {
		return nil, fault(fmt.Sprintf("it sent more than %d messages in a second", w.most))
	}
	var body bytes.Buffer // grows with the data, whatever the header announces
	if _, err := io.CopyN(&body, w.in, size); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return body.Bytes(), nil
}

// header reads the header of a message and returns the size of its body.
func (w *wire) header() (int64, error) {
	size, left := int64(-1), maxHeader
	for {
		line, err := w.in.ReadSlice('\n')
		if left -= len(line); errors.Is(err, bufio.ErrBufferFull) || left < 0 {
			return 0, errHeader
		}
		if err != nil {
			return 0, err
		}
		text := strings.TrimSpace(string(line))
		if text == "" {
			break
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return 0, errHeader
		}
		if strings.EqualFold(strings.TrimSpace(name), "content-length") {
			if size, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil || size < 0 {
				return 0, errHeader
			}
		}
	}
	switch {
	case size < 0:
		return 0, errHeader
	case size > maxBody:
		return 0, fault(fmt.Sprintf("it announced a message of %d bytes (at most %d MiB)", size, maxBody>>20))
	}
	return size, nil
}

// Close closes the input of the server.
func (w *wire) Close() error { return w.out.Close() }

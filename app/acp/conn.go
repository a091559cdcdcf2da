package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"buddy/texts"
)

const (
	// maxLine limits a message in bytes. A longer one is skipped, and answered with an error.
	maxLine = 8 << 20

	// maxRunning limits the editor's requests that are handled at the same time.
	maxRunning = 64

	keepBuffer = 1 << 20 // bytes of a line's buffer kept for reuse
)

// Codes of errors in JSON-RPC and in the protocol.
const (
	codeParse        = -32700
	codeInvalid      = -32600
	codeNoMethod     = -32601
	codeParams       = -32602
	codeInternal     = -32603
	codeAuthRequired = -32000
	codeNotFound     = -32002
)

// rpcError is the error in the answer to a request.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

func failf(code int, format string, args ...any) *rpcError {
	return &rpcError{code, fmt.Sprintf(format, args...)}
}

// message is any message of JSON-RPC 2.0.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"` // nil: a notification
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// reply answers a request, once: with a result, or with an error. It may be called from any goroutine.
type reply func(result any, err error)

// handler handles messages from the other side. request must not block: a slow answer must come from another goroutine.
// A notification has no answer.
type handler interface {
	request(method string, params json.RawMessage, answer reply)
	notify(method string, params json.RawMessage)
}

// conn is a connection with one JSON-RPC message per line. Any goroutine may send.
type conn struct {
	ctx    context.Context // ends with the connection
	cancel context.CancelFunc
	slots  chan struct{} // has room for the requests being handled

	writing sync.Mutex // guards out
	out     io.Writer

	mu      sync.Mutex               // guards the fields below
	running map[string]bool          // ids of requests being handled
	waiting map[uint64]chan *message // requests to the other side
	number  uint64                   // of the last of them
}

func newConn(out io.Writer) *conn {
	c := &conn{out: out, slots: make(chan struct{}, maxRunning), running: make(map[string]bool), waiting: make(map[uint64]chan *message)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// serve passes messages to h until in or the connection ends. If only in has ended, answers can still be sent.
func (c *conn) serve(in io.Reader, h handler) {
	r := &lines{r: bufio.NewReaderSize(in, 64<<10)}
	for c.ctx.Err() == nil {
		line, err := r.next()
		switch {
		case errors.Is(err, errTooLong):
			c.fail(nil, failf(codeInvalid, "a message longer than %d MiB was skipped; send large files as links, and use smaller pictures", maxLine>>20))
		case err != nil:
			return
		case len(line) > 0:
			c.handle(line, h)
		}
	}
}

// lines reads lines of limited length.
type lines struct {
	r   *bufio.Reader
	buf []byte
}

var errTooLong = errors.New("a line is too long")

// next returns the next line without surrounding spaces. The line is valid until the next call. For a line longer than
// maxLine, which is skipped, the error is errTooLong. A last line without a line end is returned like the others.
func (l *lines) next() ([]byte, error) {
	if cap(l.buf) > keepBuffer {
		l.buf = nil
	}
	l.buf = l.buf[:0]
	for long := false; ; {
		part, err := l.r.ReadSlice('\n')
		if long = long || len(l.buf)+len(bytes.TrimRight(part, "\r\n")) > maxLine; long {
			l.buf = l.buf[:0]
		} else {
			l.buf = append(l.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (long || len(l.buf) == 0):
			return nil, err
		case long:
			return nil, errTooLong
		}
		return bytes.TrimSpace(l.buf), nil
	}
}

func (c *conn) handle(line []byte, h handler) {
	if line[0] == '[' {
		c.fail(nil, failf(codeInvalid, "a batch of messages is not supported: send one message per line"))
		return
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		code := codeInvalid
		if !json.Valid(line) {
			code = codeParse
		}
		c.fail(nil, failf(code, "a line is not a JSON-RPC message: %v", err))
		return
	}
	switch {
	case m.ID != nil && !isID(m.ID):
		c.fail(nil, failf(codeInvalid, "the id of a message must be a string, a number or null"))
	case m.Method == "":
		c.answered(&m)
	case m.ID == nil:
		h.notify(m.Method, bytes.Clone(m.Params))
	default:
		c.begin(&m, h)
	}
}

// isID reports whether an id is a string, a number or null.
func isID(id json.RawMessage) bool { return bytes.IndexByte([]byte(`{[tf`), id[0]) < 0 }

// begin passes a request to h and sends its answer.
func (c *conn) begin(m *message, h handler) {
	id := bytes.Clone(m.ID)
	c.mu.Lock()
	twice := c.running[string(id)]
	c.running[string(id)] = true
	c.mu.Unlock()
	if twice {
		c.fail(id, failf(codeInvalid, "the id %s is already used by a request that has no answer yet", texts.Clip(string(id), 40)))
		return
	}
	select {
	case c.slots <- struct{}{}:
	case <-c.ctx.Done():
		return
	}
	var once sync.Once
	h.request(m.Method, bytes.Clone(m.Params), func(result any, err error) {
		once.Do(func() {
			<-c.slots
			c.mu.Lock()
			delete(c.running, string(id))
			c.mu.Unlock()
			c.settle(id, result, err)
		})
	})
}

// settle sends the answer to a request.
func (c *conn) settle(id json.RawMessage, result any, err error) {
	if err != nil {
		e, coded := errors.AsType[*rpcError](err)
		if !coded {
			e = &rpcError{codeInternal, err.Error()}
		}
		c.fail(id, e)
		return
	}
	raw, err := texts.JSON(result)
	if err != nil {
		c.fail(id, failf(codeInternal, "%v", err))
		return
	}
	c.send(&message{ID: id, Result: raw})
}

// fail answers a request with an error. id is nil if the request's id can't be read.
func (c *conn) fail(id json.RawMessage, err *rpcError) {
	if id == nil {
		id = json.RawMessage("null")
	}
	c.send(&message{ID: id, Error: err})
}

func (c *conn) notify(method string, params any) {
	raw, err := texts.JSON(params)
	if err == nil {
		c.send(&message{Method: method, Params: raw})
	}
}

// send writes a message. The connection ends if that fails.
func (c *conn) send(m *message) {
	m.JSONRPC = "2.0"
	line, err := texts.JSON(m)
	if err != nil {
		return // all parts are valid JSON
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.out.Write(append(line, '\n')); err != nil {
		c.cancel()
	}
}

// ask sends a request and reads its result into result. When ctx ends, the other side is informed that the answer is no
// longer needed.
func (c *conn) ask(ctx context.Context, method string, params, result any) error {
	raw, err := texts.JSON(params)
	if err != nil {
		return err
	}
	done := make(chan *message, 1)
	c.mu.Lock()
	c.number++
	n := c.number
	c.waiting[n] = done
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, n)
	}()
	id := json.RawMessage(strconv.FormatUint(n, 10))
	c.send(&message{ID: id, Method: method, Params: raw})
	select {
	case m := <-done:
		if m.Error != nil {
			return m.Error
		}
		return json.Unmarshal(m.Result, result)
	case <-ctx.Done():
		c.notify("$/cancel_request", map[string]any{"requestId": n})
		return ctx.Err()
	case <-c.ctx.Done():
		return c.ctx.Err()
	}
}

// answered passes an answer to the goroutine that waits for it. It ignores answers that nobody waits for.
func (c *conn) answered(m *message) {
	n, err := strconv.ParseUint(string(m.ID), 10, 64)
	if err != nil {
		if m.Error == nil { // an error without a known id is an answer, too
			c.fail(nil, failf(codeInvalid, "a message has neither a method nor the id of a request"))
		}
		return
	}
	c.mu.Lock()
	done := c.waiting[n]
	delete(c.waiting, n)
	c.mu.Unlock()
	if done != nil {
		copied := *m
		copied.Result = bytes.Clone(m.Result)
		done <- &copied
	}
}

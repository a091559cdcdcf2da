package socket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"buddy/agent/event"
	"buddy/app/client"
	"buddy/texts"
)

// ErrGone means that a session's host has ended without ending the session.
var ErrGone = errors.New("the process that ran this session has ended")

// errGarbled means that the host has sent an unreadable message.
var errGarbled = errors.New("the process that runs this session sent an unreadable message")

// Client is one screen's connection to a session in a host. If the connection is lost, Client reconnects without losing
// an event. The caller closes it.
type Client struct {
	path   string
	screen Screen
	ctx    context.Context // ends with Close
	cancel func()

	greeted chan struct{} // closed once hello has arrived or can't arrive any more
	batches chan []event.Envelope

	mu      sync.Mutex // guards all below
	conn    *net.UnixConn
	out     *writer
	hello   client.Hello
	asked   *subscription       // nil before Subscribe
	watched event.Command       // the latest WatchPanes, sent again after a reconnect
	waiting map[uint64]answerTo // requests without a reply
	number  uint64              // of the last request
	closed  bool                // the session was closed
	lost    error               // why the connection was given up
}

// answerTo is a request that waits for its reply.
type answerTo struct {
	request client.Request
	done    chan<- answered
}

type answered struct {
	value any
	err   error
}

// Dial connects to the host whose socket is at path. The host may still be starting: messages wait in the socket until
// the host reads them. Dial fails if no process has the socket open, or if it is another user's process.
func Dial(path string, screen Screen) (*Client, error) {
	screen.Protocol = client.Protocol
	ctx, cancel := context.WithCancel(context.Background())
	c := &Client{
		path: path, screen: screen, ctx: ctx, cancel: cancel,
		greeted: make(chan struct{}), batches: make(chan []event.Envelope), waiting: make(map[uint64]answerTo),
	}
	if err := c.connect(); err != nil {
		cancel()
		return nil, err
	}
	go c.follow()
	return c, nil
}

// Close disconnects from the session, which keeps running.
func (c *Client) Close() {
	c.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.conn.Close()
}

// connect opens a connection and sends the host the screen, the subscription and the watched panes.
func (c *Client) connect() error {
	raw, err := net.Dial("unix", c.path)
	if err != nil {
		return err
	}
	conn := raw.(*net.UnixConn)
	if err := checkOwner(conn); err != nil {
		_ = conn.Close()
		return fmt.Errorf("socket %s: %w", c.path, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forsake(errors.New("the connection to the session was lost; try again")) // of the earlier connection
	c.conn, c.out = conn, &writer{conn: conn, time: writeTime}
	if c.ctx.Err() != nil {
		_ = conn.Close()
		return c.ctx.Err()
	}
	// A host that refuses may have closed the connection, but its message can still be read.
	_ = c.out.message("hello", c.screen)
	if c.asked != nil {
		_ = c.out.message("subscribe", *c.asked)
	}
	if c.watched != nil {
		_ = c.write(c.watched)
	}
	return nil
}

// follow reads the host's messages, reconnecting as often as necessary.
func (c *Client) follow() {
	var err error
	for {
		var heard bool
		heard, err = c.read()
		if !heard || errors.Is(err, errGarbled) || c.over() || c.connect() != nil {
			break // a host that sent nothing, or garbage, would send the same after a reconnect
		}
	}
	c.mu.Lock()
	if !c.closed && c.ctx.Err() == nil && c.lost == nil {
		c.lost = ErrGone
		if errors.Is(err, errTooLong) || errors.Is(err, errGarbled) {
			c.lost = err
		}
	}
	subscribed := c.asked != nil
	_ = c.conn.Close()
	c.cancel()
	c.forsake(c.gone())
	c.mu.Unlock()
	c.meet(client.Hello{})
	if subscribed {
		close(c.batches)
	}
}

// over reports whether the session was closed, the connection was given up or Close was called.
func (c *Client) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed || c.lost != nil || c.ctx.Err() != nil
}

// gone returns an error that explains why the session is no longer connected. The caller holds c.mu.
func (c *Client) gone() error {
	switch {
	case c.lost != nil:
		return c.lost
	case c.closed:
		return errors.New("the session has been closed")
	}
	return context.Canceled
}

// forsake makes all requests without a reply fail with err. The caller holds c.mu.
func (c *Client) forsake(err error) {
	for _, w := range c.waiting {
		w.done <- answered{err: err} // has room for one
	}
	clear(c.waiting)
}

// read reads messages until the connection ends. heard reports whether at least one message arrived.
func (c *Client) read() (heard bool, err error) {
	in := newLines(c.conn)
	var batch []event.Envelope
	for {
		line, err := in.next(maxLine)
		if err != nil {
			return heard, err
		}
		heard = true
		if !isEvent(line) {
			if len(batch) > 0 && !c.deliver(batch) {
				return heard, c.ctx.Err()
			}
			batch = nil
			if err := c.handle(line); err != nil {
				return heard, fmt.Errorf("%w: %w", errGarbled, err)
			}
			continue
		}
		env, err := event.Decode(line)
		if err != nil {
			return heard, fmt.Errorf("%w: %w", errGarbled, err)
		}
		batch = append(batch, env)
		if in.more() && len(batch) < 256 {
			continue
		}
		if !c.deliver(batch) {
			return heard, c.ctx.Err()
		}
		batch = nil
	}
}

// deliver passes events to the screen, and records their last number.
func (c *Client) deliver(batch []event.Envelope) bool {
	select {
	case c.batches <- batch:
	case <-c.ctx.Done():
		return false
	}
	last := batch[len(batch)-1]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked.After = last.Seq
	_, end := last.Payload.(event.SessionClosed)
	c.closed = c.closed || end
	return true
}

// handle handles a message that is not an event.
func (c *Client) handle(line []byte) error {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return err
	}
	switch m.Type {
	case "hello":
		var hello client.Hello
		if err := json.Unmarshal(m.Payload, &hello); err != nil {
			return err
		}
		c.meet(hello)
	case "reply":
		var r reply
		if err := json.Unmarshal(m.Payload, &r); err != nil {
			return err
		}
		c.settle(r)
	}
	return nil
}

// meet records the first greeting of the session. Later ones, after a reconnect, are ignored.
func (c *Client) meet(hello client.Hello) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.greeted:
		return
	default:
	}
	c.hello = hello
	switch {
	case c.lost != nil || c.ctx.Err() != nil:
	case mismatch(hello, c.screen) != nil:
		c.lost = mismatch(hello, c.screen)
	case hello.Failed != nil:
		c.lost = *hello.Failed
	}
	close(c.greeted)
}

// settle passes a reply to its request.
func (c *Client) settle(r reply) {
	c.mu.Lock()
	w, ok := c.waiting[r.ID]
	delete(c.waiting, r.ID)
	c.mu.Unlock()
	if !ok {
		return // no longer awaited
	}
	a := answered{value: w.request.Reply()}
	if r.Error != "" {
		a = answered{err: errors.New(r.Error)}
	} else if err := json.Unmarshal(r.Value, a.value); err != nil {
		a = answered{err: fmt.Errorf("reply to %s: %w", client.Name(w.request), err)}
	}
	w.done <- a
}

// Hello returns the greeting of the session. It waits for the host to send it.
func (c *Client) Hello(ctx context.Context) (client.Hello, error) {
	select {
	case <-c.greeted:
	case <-ctx.Done():
		return client.Hello{}, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hello.Session == "" || c.lost != nil {
		if c.lost == nil {
			return c.hello, context.Canceled
		}
		return c.hello, c.lost
	}
	return c.hello, nil
}

// Subscribe returns the events after a number; see [client.Session]. It can be called once.
func (c *Client) Subscribe(ctx context.Context, after uint64, every time.Duration) (<-chan []event.Envelope, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked != nil {
		return nil, errors.New("a second subscription")
	}
	if c.lost != nil {
		return nil, c.lost
	}
	if c.ctx.Err() != nil {
		return nil, ErrGone
	}
	c.asked = &subscription{After: after, EveryMS: int(max(every, 0) / time.Millisecond), Durable: every == client.DurableOnly}
	_ = c.out.message("subscribe", *c.asked) // a lost connection is replaced
	context.AfterFunc(ctx, c.Close)
	return c.batches, nil
}

// Send sends a command. If it can't be written, the command and the connection are lost.
func (c *Client) Send(command event.Command) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := command.(event.WatchPanes); ok {
		c.watched = command
	}
	if c.write(command) != nil {
		_ = c.conn.Close() // it reconnects if the host is there
	}
}

func (c *Client) write(command event.Command) error {
	name, payload, err := event.EncodeCommand(command)
	if err != nil {
		return err
	}
	line, err := texts.JSON(message{name, payload})
	if err != nil {
		return err
	}
	return c.out.write(append(line, '\n'))
}

// Request asks the host; see [client.Session].
func (c *Client) Request(ctx context.Context, q client.Request) (any, error) {
	args, err := texts.JSON(q)
	if err != nil {
		return nil, err
	}
	done := make(chan answered, 1)
	id, err := c.ask(q, args, done)
	if err != nil {
		return nil, err
	}
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, id)
		return nil, ctx.Err()
	}
}

func (c *Client) ask(q client.Request, args json.RawMessage, done chan<- answered) (id uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost != nil {
		return 0, c.lost
	}
	if c.ctx.Err() != nil {
		return 0, ErrGone
	}
	c.number++
	if err := c.out.message("request", request{c.number, client.Name(q), args}); err != nil {
		return 0, fmt.Errorf("request %s: %w", client.Name(q), err)
	}
	c.waiting[c.number] = answerTo{q, done}
	return c.number, nil
}

// Err returns why the events ended, nil if the session was closed or still runs.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}

package socket

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"buddy/agent/event"
	"buddy/app/client"
	"buddy/app/exit"
	"buddy/app/version"
	"buddy/texts"
)

const (
	maxScreens  = 64          // connections at once
	maxRequests = 16          // per screen at once
	lingering   = time.Second // time for a screen to read the end
)

// Server connects screens to a session.
type Server struct {
	// Connect attaches a screen to a session until ctx ends.
	Connect func(ctx context.Context, s Screen) client.Session

	// Tmux returns the current and former processes of the supervisors' tmux server; nil if there is none.
	Tmux func() []int

	// Secret is known only to the process that started the host. A screen with the secret needs no terminal, and
	// neither does any screen if the user's settings set WithoutTerminal.
	Secret          string
	WithoutTerminal bool

	patience time.Duration                  // with a screen that does not read; 0 is writeTime
	host     int                            // the process whose descendants are refused; 0 is this one
	look     func(pid int) (process, error) // nil asks the system

	screens sync.WaitGroup
	mu      sync.Mutex // guards count
	count   int
}

// Serve accepts screens until the listener is closed.
func (s *Server) Serve(l *net.UnixListener) {
	for {
		conn, err := l.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(100 * time.Millisecond) // too many open files; other goroutines may close some
			continue
		}
		s.screens.Go(func() { s.serve(conn) })
	}
}

// Wait waits until every screen has read the end of the session or has disconnected.
func (s *Server) Wait() { s.screens.Wait() }

// Count returns the number of connections.
func (s *Server) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// reserve reports whether another connection is allowed, and counts it.
func (s *Server) reserve() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == maxScreens {
		return false
	}
	s.count++
	return true
}

func (s *Server) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count--
}

// serve serves one screen until it disconnects or the session ends.
func (s *Server) serve(conn *net.UnixConn) {
	defer conn.Close() //nolint:errcheck // the other end notices
	c := &connection{in: newLines(conn), out: &writer{conn: conn, time: cmp.Or(s.patience, writeTime)}, free: make(chan struct{}, maxRequests)}
	if !s.reserve() {
		_ = c.out.message("hello", refusal(fmt.Errorf("the session has the maximum of %d screens; detach one of them", maxScreens)))
		return
	}
	defer s.release()
	c.drain = sync.OnceFunc(func() {
		for range maxRequests {
			c.free <- struct{}{}
		}
	})
	screen, err := s.admit(conn, c.in)
	if err != nil {
		_ = c.out.message("hello", refusal(err))
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.watches = screen.Watches
	c.session = s.Connect(ctx, screen)
	c.ctx, c.cancel = ctx, func() { cancel(); _ = conn.Close() }
	go c.greet()
	c.read()
	cancel()
	c.drain()
}

// admit reads the greeting of a peer. It returns an error if the peer may not connect to the session.
func (s *Server) admit(conn *net.UnixConn, in *lines) (screen Screen, err error) {
	pid, terminal, err := s.checkPeer(conn)
	if err != nil {
		return screen, err
	}
	if err := conn.SetReadDeadline(time.Now().Add(writeTime)); err != nil {
		return screen, err
	}
	line, err := in.next(maxGreeting)
	if err != nil {
		return screen, fmt.Errorf("no greeting: %w", err)
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil || m.Type != "hello" || json.Unmarshal(m.Payload, &screen) != nil {
		return screen, errors.New("the first message is not a hello")
	}
	if err := mismatch(refusal(nil), screen); err != nil {
		return screen, err
	}
	screen.PID, screen.Terminal = pid, terminal
	if screen.Watches = terminal == "" && !s.WithoutTerminal && !s.matches(screen.Secret); screen.Watches {
		screen.Looks, screen.Env = true, nil // it must not change the environment of commands
	}
	screen.Secret = ""
	return screen, conn.SetReadDeadline(time.Time{})
}

// refusal returns the hello that a host sends to a screen that it refuses because of err.
func refusal(err error) client.Hello {
	hello := client.Hello{Protocol: client.Protocol, Version: version.Number, PID: os.Getpid()}
	if err != nil {
		hello.Failed = &exit.Error{Code: exit.Failed, Text: err.Error()}
	}
	return hello
}

// connection is the connection to one screen.
type connection struct {
	session client.Session
	ctx     context.Context // ends with the connection
	cancel  func()
	in      *lines
	out     *writer
	free    chan struct{} // has room for the requests that are answered at once
	drain   func()        // waits for running requests, and accepts no more
	events  bool          // a subscription exists
	watches bool          // it may only watch and stop
}

// greet sends hello. It may have to wait until the session has been read.
func (c *connection) greet() {
	hello, err := c.session.Hello(c.ctx)
	if err != nil {
		hello = refusal(err)
	}
	hello.Watches = c.watches
	if c.out.message("hello", hello) != nil {
		c.cancel()
	}
}

// read handles the screen's messages until it disconnects.
func (c *connection) read() {
	for {
		line, err := c.in.next(maxLine)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(line, &m) != nil {
			return // later bytes can't be trusted
		}
		if c.handle(m) != nil {
			return
		}
	}
}

// handle handles one message. An error ends the connection.
func (c *connection) handle(m message) error {
	switch {
	case m.Type == "subscribe":
		var s subscription
		if err := json.Unmarshal(m.Payload, &s); err != nil {
			return err
		}
		return c.subscribe(s)
	case m.Type == "request":
		var q request
		if err := json.Unmarshal(m.Payload, &q); err != nil {
			return err
		}
		c.answer(q)
	case event.IsCommand(m.Type):
		command, err := event.DecodeCommand(m.Type, m.Payload)
		if err != nil {
			return err
		}
		if c.watches && !stops(command) {
			return c.out.message("refused", refused{m.Type, errWatches.Error()})
		}
		c.session.Send(command)
	}
	return nil // a message of a later version
}

// subscribe sends events until the session ends or the screen does not read.
func (c *connection) subscribe(s subscription) error {
	if c.events {
		return errors.New("a second subscription")
	}
	c.events = true
	every := time.Duration(min(max(s.EveryMS, 0), 1000)) * time.Millisecond
	if s.Durable {
		every = client.DurableOnly
	}
	batches, err := c.session.Subscribe(c.ctx, s.After, every)
	if err != nil {
		return err
	}
	go func() {
		for batch := range batches {
			if c.out.events(batch) != nil {
				c.cancel()
				return
			}
		}
		if c.ctx.Err() != nil {
			return
		}
		if s.Durable { // nobody waits for a dashboard
			c.cancel()
			return
		}
		c.drain() // the reply to the request that ended the session
		_ = c.out.conn.CloseWrite()
		time.AfterFunc(lingering, c.cancel)
	}()
	return nil
}

// answer answers a request in the background.
func (c *connection) answer(q request) {
	select {
	case c.free <- struct{}{}:
	default:
		_ = c.out.message("reply", reply{ID: q.ID, Error: fmt.Sprintf("%d requests are being answered; try again", maxRequests)})
		return
	}
	go func() {
		defer func() { <-c.free }()
		value, err := c.value(q)
		r := reply{ID: q.ID, Value: value}
		if err != nil {
			r = reply{ID: q.ID, Error: err.Error()}
		}
		if c.out.message("reply", r) != nil {
			c.cancel()
		}
	}()
}

func (c *connection) value(q request) (json.RawMessage, error) {
	r, err := client.DecodeRequest(q.Name, q.Args)
	if err != nil {
		return nil, err
	}
	if c.watches && !watches(r) {
		return nil, errWatches
	}
	value, err := c.session.Request(c.ctx, r)
	if err != nil {
		return nil, err
	}
	return texts.JSON(value)
}

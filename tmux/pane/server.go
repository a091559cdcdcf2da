package pane

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	burst = 64 << 10             // bytes of live output sent without a pause
	rest  = 4 * time.Millisecond // pause after a burst, so that a flood does not use both processors
)

// Server lets clients use a [Shell]. Commands run one at a time, in the order of their requests; a client that
// disconnects does not end its command.
type Server struct {
	shell *Shell
	slot  chan struct{}  // holds a token while a command runs
	conns sync.WaitGroup // connections that wait to report an end

	mu        sync.Mutex // guards the fields below
	running   map[string]*Command
	lingering []*Command // ended commands whose output a background job may hold
	greeted   int        // open connections of greeted clients
	closed    bool
}

// NewServer returns a Server, which then owns shell.
func NewServer(shell *Shell) *Server {
	return &Server{shell: shell, slot: make(chan struct{}, 1), running: map[string]*Command{}}
}

// Serve accepts connections until l is closed.
func (s *Server) Serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go s.ServeConn(c)
	}
}

// ServeConn serves one client and closes conn.
func (s *Server) ServeConn(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	w := newWire(conn)
	kind, p, err := w.receive()
	if err != nil || kind != frameRequest {
		return
	}
	var r request
	if err := json.Unmarshal(p, &r); err != nil {
		_ = w.send(frameError, []byte(err.Error()))
		return
	}
	switch {
	case r.Version != protocol:
		err = fmt.Errorf("supervisor speaks version %d, not %d", protocol, r.Version)
	case r.Op == "greet" && r.Greeting != nil:
		s.greet(w, *r.Greeting)
	case r.Op == "look":
		s.mu.Lock()
		info := s.info()
		s.mu.Unlock()
		_ = w.sendJSON(frameInfo, info)
	case r.Op == "run":
		err = s.run(w, r)
	case r.Op == "attach":
		err = s.attach(w, r.Dir)
	default:
		err = fmt.Errorf("request %q: unknown", r.Op)
	}
	if err != nil {
		_ = w.send(frameError, []byte(err.Error()))
	}
}

// greet answers a Greeting, then keeps the connection open until the client disconnects.
func (s *Server) greet(w *wire, g Greeting) {
	s.shell.Greet(g)
	s.mu.Lock()
	s.greeted++
	info := s.info()
	s.mu.Unlock()
	if w.sendJSON(frameInfo, info) == nil {
		_, _ = io.Copy(io.Discard, w.in)
	}
	s.mu.Lock()
	s.greeted--
	s.mu.Unlock()
}

// info returns the Info for clients. The caller holds mu.
func (s *Server) info() Info {
	i := Info{Pid: os.Getpid(), Busy: s.busy()}
	if s.shell.tty != nil {
		i.Pane = os.Getenv("TMUX_PANE")
	}
	return i
}

// busy reports whether anything runs. The caller holds mu.
func (s *Server) busy() bool {
	s.prune()
	for _, c := range s.running {
		select {
		case <-c.Done(): // its client may already know the end
			if !c.background() {
				continue
			}
		default:
		}
		return true
	}
	return len(s.lingering) > 0
}

// prune forgets the commands whose output nobody holds any more. The caller holds mu.
func (s *Server) prune() {
	kept := s.lingering[:0]
	for _, c := range s.lingering {
		if c.background() {
			kept = append(kept, c)
		}
	}
	clear(s.lingering[len(kept):])
	s.lingering = kept
}

// run waits until no other command runs, starts the command and follows it.
func (s *Server) run(w *wire, r request) error {
	cancel, gone, answers := listen(w)
	select {
	case s.slot <- struct{}{}:
	case <-gone:
		return nil
	case <-cancel:
		return errors.New("cancelled before it started")
	}
	s.mu.Lock()
	c, err := s.start(r)
	if err != nil {
		s.mu.Unlock()
		<-s.slot
		return err
	}
	s.running[r.Dir] = c
	s.conns.Add(1)
	s.mu.Unlock()
	defer s.conns.Done()
	if s.shell.patience() > 0 {
		go c.watchUnattended()
	}
	go func() {
		<-c.Done()
		s.mu.Lock()
		delete(s.running, r.Dir)
		s.lingering = append(s.lingering, c)
		s.prune()
		s.mu.Unlock()
		<-s.slot
	}()
	answers(c)
	s.follow(w, c, cancel, gone)
	return nil
}

// start starts a command. The caller holds mu and the slot.
func (s *Server) start(r request) (*Command, error) {
	if s.closed {
		return nil, errors.New("the pane is being closed")
	}
	return s.shell.Start(r.Dir, r.Mode, r.Within)
}

// interrupt passes Ctrl-C on to a sandboxed command.
func (s *Server) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.running {
		c.interrupt()
	}
}

// attach follows a command that another client started.
func (s *Server) attach(w *wire, dir string) error {
	s.mu.Lock()
	c := s.running[dir]
	if c == nil {
		s.mu.Unlock()
		e, err := ReadExit(dir)
		if err != nil {
			return fmt.Errorf("no command runs for %q here", dir)
		}
		_ = w.send(frameStarted)
		_ = w.sendJSON(frameEnd, e)
		return nil
	}
	s.conns.Add(1)
	s.mu.Unlock()
	defer s.conns.Done()
	cancel, gone, answers := listen(w)
	answers(c)
	s.follow(w, c, cancel, gone)
	return nil
}

// listen reads a client's frames on a command's connection. cancel is closed when the client cancels the command, gone
// when it disconnects. answers sets the command that gets the client's answers about hosts.
func listen(w *wire) (cancel, gone chan struct{}, answers func(*Command)) {
	cancel, gone = make(chan struct{}), make(chan struct{})
	var about atomic.Pointer[Command]
	go func() {
		defer close(gone)
		once := sync.OnceFunc(func() { close(cancel) })
		for {
			kind, p, err := w.receive()
			if err != nil {
				return
			}
			switch c := about.Load(); {
			case kind == frameCancel:
				once()
			case kind == frameAnswer && c != nil:
				c.hosts.answer(p)
			}
		}
	}()
	return cancel, gone, about.Store
}

// follow sends the output and the end of c until the client disconnects.
func (s *Server) follow(w *wire, c *Command, cancel, gone <-chan struct{}) {
	box := c.Follow()
	go func() {
		obey(c, cancel, gone)
		select {
		case <-gone:
			box.Close()
			_ = w.conn.Close() // ends a send that waits for the client
		case <-c.Done():
		}
	}()
	err := w.send(frameStarted)
	leave := c.hosts.join(func(h Host) { _ = w.sendJSON(frameHost, h) }) // fails if the client has gone
	go func() { <-gone; leave() }()
	defer leave()
	if err != nil {
		return
	}
	go watchKeys(c, box, gone)
	sent := 0
	for {
		chunk, ok := box.Take()
		if !ok {
			break
		}
		if w.send(frameOutput, outputHead(chunk), chunk.Bytes) != nil {
			return
		}
		if sent += len(chunk.Bytes); sent >= burst {
			sent = 0
			time.Sleep(rest)
		}
	}
	select {
	case <-gone:
	case <-c.Done():
		_ = w.sendJSON(frameEnd, c.Exit())
	}
}

// obey cancels c when its client asks for it, until c ends or the client disconnects.
func obey(c *Command, cancel, gone <-chan struct{}) {
	select {
	case <-cancel:
	case <-gone:
	case <-c.Done():
	}
	select {
	case <-cancel: // the client may have disconnected right after
		c.Cancel()
	default:
	}
}

// Shutdown ends the running command; why is the reason that its Exit states. It waits for the command's end, at most
// twice the given time, then until its clients have received that end, at most the given time. It reports whether a
// client that has sent a Greeting is connected. No command starts afterwards.
func (s *Server) Shutdown(why string, wait time.Duration) bool {
	s.mu.Lock()
	s.closed = true
	all := slices.Collect(maps.Values(s.running))
	s.mu.Unlock()
	for _, c := range all {
		c.hangUp(why, wait)
	}
	notified := make(chan struct{})
	go func() { s.conns.Wait(); close(notified) }()
	select {
	case <-notified:
	case <-time.After(wait):
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.greeted > 0
}

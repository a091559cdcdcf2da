package lsp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"buddy/agent/event"
	"buddy/tools"
)

const (
	// maxRestarts limits the restarts of a server that died.
	maxRestarts = 2
	// maxOpen limits the open files of a server; it reads others from disk.
	maxOpen = 50
)

// change describes the changes of a file since the server last got its text.
type change struct {
	path          string
	before, after string
	had, has      bool // whether before and after are text
	there         bool // the file exists
}

// server runs a language server in one folder. Its goroutine starts the program and exchanges messages with it; callers
// queue changes.
type server struct {
	all  *Clients
	def  Server
	root string
	ctx  context.Context
	stop context.CancelFunc
	wake chan struct{}
	disk *disk
	conn *connection // nil: not running; set by the goroutine with mu held, so that others can read it with mu held
	died int         // number of crashes; used by the goroutine only

	mu       sync.Mutex // guards the fields below
	findings *findings  // of the present run
	queue    []change
	settled  chan struct{} // closed when all changes have been judged
	behind   bool          // a wait for settled has timed out
	ended    bool          // it no longer accepts changes
	used     time.Time
}

func newServer(all *Clients, def Server, root string) *server {
	s := &server{all: all, def: def, root: root, wake: make(chan struct{}, 1), findings: newFindings(), settled: make(chan struct{}), used: time.Now()}
	s.ctx, s.stop = context.WithCancel(all.ctx)
	s.disk = newDisk(root, def)
	close(s.settled)
	all.work.Go(s.run)
	return s
}

func (s *server) key() string { return key(s.def, s.root) }

// key identifies a server of a folder.
func key(def Server, root string) string { return def.Name + "\x00" + root }

// present returns the findings of the present run.
func (s *server) present() *findings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.findings
}

// enqueue queues a changed file; false means that it was not accepted.
func (s *server) enqueue(f tools.Before) bool {
	c := change{path: f.Path}
	if f.Existed {
		if c.before, c.had = textOf(f.Data); !c.had || f.Lost {
			return false
		}
	}
	c.after, c.has = readText(f.Path)
	_, err := os.Lstat(f.Path)
	c.there = err == nil
	return s.add(c)
}

// add queues a change that has its texts.
func (s *server) add(c change) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.used = time.Now()
	if i := slices.IndexFunc(s.queue, func(q change) bool { return q.path == c.path }); i >= 0 {
		s.queue[i].after, s.queue[i].has, s.queue[i].there = c.after, c.has, c.there
	} else {
		s.queue = append(s.queue, c)
	}
	select {
	case <-s.settled:
		s.settled = make(chan struct{})
	default:
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return true
}

// settling returns a channel that is closed when all changes have been judged, and whether a wait for it has timed out.
func (s *server) settling() (settled <-chan struct{}, behind bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settled, s.behind
}

// fallBehind records that a wait for the server timed out, unless the server is done.
func (s *server) fallBehind() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.settled:
	default:
		s.behind = true
	}
}

// lastUse returns when the server was last needed, and whether it accepts changes.
func (s *server) lastUse() (at time.Time, runs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, !s.ended
}

// addTo adds the server's new problems to a report, unless it still has changes to judge, because its findings would
// then be about old texts.
func (s *server) addTo(r *report) {
	settled, _ := s.settling()
	select {
	case <-settled:
	default:
		return
	}
	s.present().addTo(r, s.def.Name, s.all.inside, s.all.show)
}

// end ends the server and releases everybody who waits for it.
func (s *server) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.stop()
}

func (s *server) run() {
	defer s.finish()
	timer := time.NewTimer(s.all.limits.check) // the only timer while nothing changes
	defer timer.Stop()
	for {
		var over <-chan struct{}
		if s.conn != nil {
			over = s.conn.over
		}
		select {
		case <-s.ctx.Done():
			return
		case <-s.wake:
			if err := s.work(); err != nil {
				s.fail(err)
				return
			}
		case <-over:
			if err := s.bury(); err != nil {
				s.fail(err)
				return
			}
		case <-timer.C:
			if err := s.look(); err != nil {
				s.fail(err)
				return
			}
			if s.idle() {
				s.all.forget(s)
				return
			}
			timer.Reset(s.all.limits.check)
		}
	}
}

// finish ends the program and releases everybody who waits.
func (s *server) finish() {
	if s.conn != nil {
		s.conn.stop()
	}
	s.mu.Lock()
	s.ended, s.queue = true, nil
	s.mu.Unlock()
	s.rest()
}

// rest marks all changes as judged, unless there are new ones.
func (s *server) rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) > 0 {
		return
	}
	s.behind = false
	select {
	case <-s.settled:
	default:
		close(s.settled)
	}
}

// fail stops using the server in this session and publishes the reason.
func (s *server) fail(err error) {
	if s.ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.all.o.Publish(event.Warning{
		Text: fmt.Sprintf("language server %s: %s; there are no diagnostics of its files any more", s.def.Name, oneLine(err.Error())), Code: "lsp",
	})
}

// idle reports whether nothing has changed for long, and if so stops accepting changes.
func (s *server) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = len(s.queue) == 0 && time.Since(s.used) >= s.all.limits.idle
	return s.ended
}

// look returns an error if the server uses too much memory.
func (s *server) look() error {
	if s.conn == nil {
		return nil
	}
	size, err := s.conn.link.Resident()
	if err == nil && size > s.all.limits.resident {
		return fmt.Errorf("it was ended, because it used %d MiB of memory (at most %d)", size>>20, s.all.limits.resident>>20)
	}
	return nil // an unknown size ends nothing
}

// bury cleans up after a crash. It returns an error after too many crashes.
func (s *server) bury() error {
	c := s.conn
	s.attach(nil)
	why := c.explain(errors.New("it closed the connection"))
	c.stop()
	s.fresh()
	if s.died++; s.died > maxRestarts {
		return fmt.Errorf("%w; it was started %d times", why, s.died)
	}
	return nil
}

// fresh drops the findings of the last run.
func (s *server) fresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.findings = newFindings()
}

// work judges the queued changes. The error is the reason why the server is no longer used.
func (s *server) work() error {
	defer s.rest()
	s.mu.Lock()
	batch := s.queue
	s.queue = nil
	s.mu.Unlock()
	for len(batch) > 0 && s.ctx.Err() == nil {
		if s.conn == nil {
			if err := s.connect(); err != nil {
				return err
			}
		}
		err := s.judge(batch)
		if err == nil || s.ctx.Err() != nil {
			return nil
		}
		if err := s.bury(); err != nil {
			return err
		}
	}
	return nil
}

// connect starts the server.
func (s *server) connect() error {
	s.disk.read() // later changes are reported to the server
	l, err := s.all.start(s.ctx, s.def, s.root, s.all.o)
	if err != nil {
		return err
	}
	f := s.findings
	c, err := connect(s.ctx, s.def, s.root, l, events{published: f.publish, passed: f.pass, changed: f.changed}, s.all.limits.messages)
	s.attach(c)
	return err
}

// attach sets the connection of the present run; nil: the server is not running.
func (s *server) attach(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn = c
}

// connection returns the connection of the present run, or nil.
func (s *server) connection() *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn
}

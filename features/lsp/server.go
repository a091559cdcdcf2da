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
	// maxRestarts limits how often a server that has died is started again.
	maxRestarts = 2
	// maxOpen limits the files that a server has open; of others it reads what is on disk.
	maxOpen = 50
)

// change holds what calls have done to a file since the server was told of it.
type change struct {
	path          string
	before, after string
	had, has      bool // there is a text before, after
	there         bool // the file exists
}

// server is a server of one folder. Its goroutine starts it and talks to it; others leave changes.
type server struct {
	all  *Clients
	def  Server
	root string
	ctx  context.Context
	stop context.CancelFunc
	wake chan struct{}
	disk *disk
	conn *connection // of the goroutine; nil while none runs
	died int         // how often; of the goroutine

	mu       sync.Mutex // guards what follows
	findings *findings  // of the present run
	queue    []change
	settled  chan struct{} // closed when all changes have been judged
	behind   bool          // somebody has waited for that in vain
	ended    bool          // it takes no changes any more
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

// key names a server of a folder.
func key(def Server, root string) string { return def.Name + "\x00" + root }

// present returns what the present run has found.
func (s *server) present() *findings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.findings
}

// enqueue leaves a change for the server; false means that it takes none.
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

// add is enqueue for a change that was read.
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

// settling returns what is closed when all changes were judged, and whether somebody has waited for
// that in vain already.
func (s *server) settling() (settled <-chan struct{}, behind bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settled, s.behind
}

// fallBehind notes that the server was waited for in vain, unless it is done.
func (s *server) fallBehind() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.settled:
	default:
		s.behind = true
	}
}

// lastUse returns when the server was needed last, and whether it takes changes.
func (s *server) lastUse() (at time.Time, runs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, !s.ended
}

// tell adds to a report what the server has found. One that has not judged all changes tells nothing:
// it would be about texts that are not there any more.
func (s *server) tell(r *report) {
	settled, _ := s.settling()
	select {
	case <-settled:
	default:
		return
	}
	s.present().tell(r, s.def.Name, s.all.inside, s.all.show)
}

// end ends the server. What waits for it goes on.
func (s *server) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.stop()
}

// run is the goroutine of the server.
func (s *server) run() {
	defer s.finish()
	timer := time.NewTimer(s.all.limits.check) // the only one while nothing changes
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

// finish ends the program, and lets go whoever waits.
func (s *server) finish() {
	if s.conn != nil {
		s.conn.stop()
	}
	s.mu.Lock()
	s.ended, s.queue = true, nil
	s.mu.Unlock()
	s.rest()
}

// rest notes that all changes were judged, unless there are new ones.
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

// fail says why the server is not used any more in this session.
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

// idle reports whether nothing has changed for long; then no change is taken any more.
func (s *server) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = len(s.queue) == 0 && time.Since(s.used) >= s.all.limits.idle
	return s.ended
}

// look returns an error when the server uses too much memory.
func (s *server) look() error {
	if s.conn == nil {
		return nil
	}
	size, err := s.conn.link.Resident()
	if err == nil && size > s.all.limits.resident {
		return fmt.Errorf("it was ended, because it used %d MiB of memory (at most %d)", size>>20, s.all.limits.resident>>20)
	}
	return nil // a size that is not known ends nothing
}

// bury ends what is left of a server that has died. The error is that it died too often.
func (s *server) bury() error {
	c := s.conn
	s.conn = nil
	why := c.explain(errors.New("it closed the connection"))
	c.stop()
	s.fresh()
	if s.died++; s.died > maxRestarts {
		return fmt.Errorf("%w; it was started %d times", why, s.died)
	}
	return nil
}

// fresh forgets what the last run has said.
func (s *server) fresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.findings = newFindings()
}

// work judges the changes that wait. The error is why the server can't be used any more.
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
	s.disk.read() // what changes from now on, it is told
	l, err := s.all.start(s.ctx, s.def, s.root, s.all.o)
	if err != nil {
		return err
	}
	f := s.findings
	s.conn, err = connect(s.ctx, s.def, s.root, l, events{published: f.publish, passed: f.pass, changed: f.changed}, s.all.limits.messages)
	return err
}

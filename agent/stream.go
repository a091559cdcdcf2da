package agent

import (
	"context"
	"sync"
	"time"

	"buddy/agent/event"
)

// Journal keeps durable events. The runtime never waits for anything else.
type Journal interface {
	// Append stores env before anyone sees it. An error means that nothing more can be
	// stored.
	Append(env event.Envelope) error
	// Range calls f for every stored event with a number above after, in order, until f
	// returns false.
	Range(after uint64, f func(event.Envelope) bool) error
}

// stream gives events their numbers, stores the durable ones and hands them on, in one
// order for everyone (DESIGN, rule 1).
type stream struct {
	session string
	now     func() time.Time

	mu      sync.Mutex  // guards all below, and so the order of the stream
	branch  map[int]int // of the tasks that are not on the main one
	seq     uint64
	journal Journal // nil when nothing is stored
	broken  error   // the first error of the journal
	subs    []*subscriber
	closed  bool
}

// emit publishes p and returns the journal's error if durable events can't be stored.
func (s *stream) emit(task, turn int, p event.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	env := event.Envelope{Seq: s.seq, Time: s.now().UnixMilli(), Session: s.session, Branch: s.branch[task], Task: task, Turn: turn, Payload: p}
	if p.Durable() && s.journal != nil && s.broken == nil {
		if err := s.journal.Append(env); err != nil {
			s.broken = err
			s.fan(env)
			s.seq++
			env = event.Envelope{Seq: s.seq, Time: env.Time, Session: s.session, Payload: event.Error{
				Text: s.broken.Error(), Code: "journal_broken",
				NextStep: "you can look at the session; nothing new is asked or run until the file can be written, in a new start of buddy",
			}}
		}
	}
	s.fan(env)
	return s.broken
}

// bind says on which branch a task works.
func (s *stream) bind(task, branch int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if branch == 0 {
		delete(s.branch, task)
		return
	}
	s.branch[task] = branch
}

// last returns the number of the latest event.
func (s *stream) last() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seq
}

func (s *stream) fan(env event.Envelope) {
	for _, sub := range s.subs {
		sub.put(env)
	}
}

// readOnly returns why durable events can't be stored, or nil.
func (s *stream) readOnly() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

func (s *stream) subscribe(ctx context.Context) <-chan event.Envelope {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub := &subscriber{notify: make(chan struct{}, 1), out: make(chan event.Envelope), gone: ctx.Done(), journal: s.journal, after: s.seq, latest: make(map[source]int)}
	if s.closed {
		close(sub.out)
		return sub.out
	}
	s.subs = append(s.subs, sub)
	go sub.forward()
	return sub.out
}

// close ends every subscription after what it still holds.
func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	for _, sub := range s.subs {
		sub.end()
	}
}

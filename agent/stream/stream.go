// Package stream numbers the events of a session, stores the durable ones and hands all of
// them to bounded subscribers.
//
// Its invariant: there is one order. An event gets its number, is in the journal if it is
// durable, and is in the queue of every subscriber, before the next event gets a number; one
// lock, which is held for no longer than a write to the journal, sees to it. A slow
// subscriber holds up nobody: what is transient is merged or dropped for it, what is durable
// it reads from the journal later.
//
//	s := stream.New("session", time.Now, journal)
//	events := s.Subscribe(ctx)
//	s.Publish(0, 0, event.Notice{Text: "hello"})
//	s.Close()
//	for env := range events { … }
package stream

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"buddy/agent/event"
)

// Journal keeps durable events. The stream never waits for anything else.
type Journal interface {
	// Append stores env before anyone sees it. An error means that nothing more can be
	// stored.
	Append(env event.Envelope) error
	// Range calls f for every stored event with a number above after, in order, until f
	// returns false.
	Range(after uint64, f func(event.Envelope) bool) error
}

// Stream gives events their numbers, stores the durable ones and hands them on, in one
// order for everyone. It is safe for concurrent use; use New.
type Stream struct {
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

// New returns the stream of a session. A nil journal stores nothing.
func New(session string, now func() time.Time, journal Journal) *Stream {
	return &Stream{session: session, now: now, journal: journal, branch: make(map[int]int)}
}

// Publish is Record for what goes on whatever the journal's state.
func (s *Stream) Publish(task, turn int, p event.Event) { _ = s.Record(task, turn, p) }

// Record publishes p as an event of a task and a turn, 0 for none, and returns the
// journal's error if durable events can't be stored.
func (s *Stream) Record(task, turn int, p event.Event) error {
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

// Reject publishes why a command is not followed.
func (s *Stream) Reject(format string, args ...any) {
	s.Publish(0, 0, event.Error{Text: fmt.Sprintf(format, args...), Code: "bad_command"})
}

// Bind makes the events of a task those of a branch, 0 for the main one.
func (s *Stream) Bind(task, branch int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if branch == 0 {
		delete(s.branch, task)
		return
	}
	s.branch[task] = branch
}

// Last returns the number of the latest event.
func (s *Stream) Last() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seq
}

// resumeStep is where a resumed stream goes on counting: at the next multiple. An earlier
// process may have shown events with numbers that were not stored.
const resumeStep = 1_000_000

// Resume counts on from an earlier process whose last stored event is given.
func (s *Stream) Resume(last uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq = (last/resumeStep + 1) * resumeStep
}

func (s *Stream) fan(env event.Envelope) {
	for _, sub := range s.subs {
		sub.put(env)
	}
}

// ReadOnly returns why durable events can't be stored, or nil.
func (s *Stream) ReadOnly() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// Subscribe returns the events from now on. The channel is closed after the last event, or
// when ctx ends. A slow reader loses no durable event; of what is transient it gets the
// newest, merged.
func (s *Stream) Subscribe(ctx context.Context) <-chan event.Envelope {
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

// Close ends every subscription after what it still holds. The journal stays open.
func (s *Stream) Close() {
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

// NewID returns 16 random hex digits, which name something in events.
func NewID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

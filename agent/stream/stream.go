// Package stream numbers the events of a session, stores the durable ones and delivers all of them to subscribers, in
// one order.
//
// An event has its number, is in the journal if it is durable, and is queued for every subscriber before the next
// event gets a number. One lock ensures this; it is held for at most one write to the journal. The queues are
// bounded, and a slow subscriber delays nobody: its transient events are merged or dropped, and it reads durable ones
// from the journal later.
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
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"buddy/agent/event"
	"buddy/agent/record"
	"buddy/agent/redact"
)

// Journal stores durable events. The stream waits for it, and for nothing else.
type Journal interface {
	// Append stores env before anyone sees it. After an error nothing more can be stored.
	Append(env event.Envelope) error
	// Range calls f for every stored event with a number above the given one, in order, until f returns false.
	Range(after uint64, f func(event.Envelope) bool) error
}

// Stream numbers events, stores the durable ones and delivers them in the same order to everyone. It is safe for
// concurrent use; use New.
type Stream struct {
	session string
	now     func() time.Time
	keys    *redact.Keys // hidden in all events

	mu      sync.Mutex  // guards the fields below, and so the order of the stream
	branch  map[int]int // of tasks that are not on the main branch
	watched map[int]func()
	seq     uint64
	journal Journal // nil when nothing is stored
	broken  error   // the first error of the journal
	subs    []*subscriber
	record  record.Record
	seen    []func(event.Envelope) // observers
	closed  bool
}

// New returns the stream of a session. A nil journal stores nothing.
func New(session string, now func() time.Time, journal Journal) *Stream {
	return &Stream{session: session, now: now, journal: journal, branch: make(map[int]int), watched: make(map[int]func())}
}

// Hide removes keys from all later events; it must be called before the first one. Prompts of a person keep their
// text.
func (s *Stream) Hide(keys *redact.Keys) { s.keys = keys }

// Keys returns the keys that are hidden in events.
func (s *Stream) Keys() *redact.Keys { return s.keys }

// Publish does what Record does, for callers that continue even if the event can't be stored.
func (s *Stream) Publish(task, turn int, p event.Event) { _ = s.Record(task, turn, p) }

// Record publishes p as an event of a task and a turn, 0 for none, and returns the journal's error if durable events
// can't be stored.
func (s *Stream) Record(task, turn int, p event.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.publish(s.branch[task], task, turn, p)
}

// PublishOn publishes p as an event of a branch and of no task.
func (s *Stream) PublishOn(branch int, p event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.publish(branch, 0, 0, p)
}

// nextStep returns what a person can do about a session that can't be written.
func nextStep(err error) string {
	const reads = "you can read the session, but not continue it: "
	if own, ok := errors.AsType[interface {
		error
		NextStep() string
	}](err); ok {
		return reads + own.NextStep()
	}
	return reads + "make the file writable and start buddy again"
}

// publish does what Record does, for an event of a branch. The caller holds s.mu.
func (s *Stream) publish(branch, task, turn int, p event.Event) error {
	if _, prompt := p.(event.PromptSubmitted); !prompt || branch != 0 {
		p, _ = s.keys.Hidden(p).(event.Event)
	}
	s.seq++
	env := event.Envelope{Seq: s.seq, Time: s.now().UnixMilli(), Session: s.session, Branch: branch, Task: task, Turn: turn, Payload: p}
	if event.Durable(p) && s.journal != nil && s.broken == nil {
		if err := s.journal.Append(env); err != nil {
			s.broken = err
			s.fan(env)
			s.seq++
			env = event.Envelope{Seq: s.seq, Time: env.Time, Session: s.session, Payload: event.Error{
				Text: s.broken.Error(), Code: record.Broken,
				NextStep: nextStep(err),
			}}
		}
	}
	s.fan(env)
	if happened := s.watched[task]; happened != nil {
		happened()
	}
	return s.broken
}

// Watch calls the given function at each later event of a task; nil stops the calls. The function must not block or use
// the stream.
func (s *Stream) Watch(task int, happened func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if happened == nil {
		delete(s.watched, task)
		return
	}
	s.watched[task] = happened
}

// Reject publishes why a command is not executed.
func (s *Stream) Reject(format string, args ...any) {
	s.Publish(0, 0, event.Error{Text: fmt.Sprintf(format, args...), Code: event.BadCommand})
}

// Stored calls f for every stored event, in order, until f returns false. It fails when nothing is stored.
func (s *Stream) Stored(f func(event.Envelope) bool) error {
	s.mu.Lock()
	journal := s.journal
	s.mu.Unlock()
	if journal == nil {
		return errors.New("the events of this session are not stored")
	}
	return journal.Range(0, f)
}

// Bind assigns the events of a task to a branch, 0 for the main one.
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

// Resume continues the numbers of an earlier process, whose last stored event has the number last.
func (s *Stream) Resume(last uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq = event.NextSeq(last)
}

// Look calls the given function with the open state of this process. The function must not block, use the stream, or
// keep anything of the record.
func (s *Stream) Look(read func(*record.Record)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	read(&s.record)
}

// Observe calls the given function with each later event, in order and without a queue. The function must not block or
// use the stream.
func (s *Stream) Observe(seen func(event.Envelope)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, seen)
}

func (s *Stream) fan(env event.Envelope) {
	s.record.Apply(env)
	for _, seen := range s.seen {
		seen(env)
	}
	for _, sub := range s.subs {
		sub.put(env)
	}
}

// StoreError returns why durable events can't be stored, or nil.
func (s *Stream) StoreError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// Subscribe returns all later events. The channel is closed after the last event, or when ctx ends. A slow reader
// loses no durable event; it gets the newest transient ones, merged.
func (s *Stream) Subscribe(ctx context.Context) <-chan event.Envelope {
	out := make(chan event.Envelope)
	s.add(&subscriber{gone: ctx.Done(), end: func() { close(out) }, hand: func(batch []event.Envelope) bool {
		for _, env := range batch {
			select {
			case out <- env:
			case <-ctx.Done():
				return false
			}
		}
		return true
	}}, nil)
	return out
}

// Join returns the events with numbers above the given one, without a gap, in batches: first those in the journal, then
// the open parts of running work, then new events. every is the minimum interval between two batches of transient
// events; with 0 they come immediately, as durable ones always do, and if it is negative they are left out. A reader
// may stop at any time and join again after the last number that it got. The channel is closed after the last event, or
// when ctx ends. The reader owns the batch.
func (s *Stream) Join(ctx context.Context, after uint64, every time.Duration) <-chan []event.Envelope {
	out := make(chan []event.Envelope)
	s.add(&subscriber{gone: ctx.Done(), every: every, end: func() { close(out) }, hand: func(batch []event.Envelope) bool {
		select {
		case out <- batch:
			return true
		case <-ctx.Done():
			return false
		}
	}}, &after)
	return out
}

// add starts to queue events for a subscriber: all later ones or, if after is not nil, those with numbers above *after.
func (s *Stream) add(q *subscriber, after *uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.stream, q.notify, q.latest, q.after = s, make(chan struct{}, 1), make(map[source]int), s.seq
	if after != nil {
		q.after, q.lagging = *after, true
		q.wake()
	}
	if s.closed {
		q.stop()
	} else {
		s.subs = append(s.subs, q)
	}
	go func() {
		q.forward()
		s.remove(q)
	}()
}

// remove drops a subscriber whose reader has stopped.
func (s *Stream) remove(q *subscriber) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subs = slices.DeleteFunc(s.subs, func(other *subscriber) bool { return other == q })
}

// rejoin makes a subscriber queue events again, and returns the number of the newest earlier event and the parts that
// are open at that moment.
func (s *Stream) rejoin(q *subscriber) (newest uint64, parts []event.Envelope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lagging, q.queue = false, nil
	q.recount()
	if q.ended {
		q.wake() // the reader must still learn the end
	}
	return s.seq, s.record.Transient(q.after)
}

// Close ends every subscription after its queued events. The journal stays open.
func (s *Stream) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	for _, q := range s.subs {
		q.stop()
	}
}

// NewUUID returns a random UUID (version 4), the form that other programs use for ids of turns.
func NewUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// NewID returns 16 random hex digits.
func NewID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

package agent

import (
	"context"
	"slices"
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
	sub := &subscriber{notify: make(chan struct{}, 1), out: make(chan event.Envelope), gone: ctx.Done(), journal: s.journal, after: s.seq}
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

const (
	maxBehind = 4096    // durable events that a subscriber may lag before it reads the journal (DECISIONS 3)
	maxOutput = 1 << 20 // bytes of tool output that wait for a slow subscriber; the oldest goes
	mergeSize = 4 << 10 // text deltas are merged up to this size
)

// subscriber is a queue between the stream and one reader. It never blocks the stream.
type subscriber struct {
	notify chan struct{}
	out    chan event.Envelope
	gone   <-chan struct{} // closed when nobody reads any more

	journal Journal
	after   uint64 // number of the last event handed to the reader; only forward uses it

	mu      sync.Mutex // guards all below
	queue   []event.Envelope
	durable int  // events in queue that are durable
	output  int  // bytes of tool output in queue
	lagging bool // the queue was dropped: read the journal
	ended   bool
}

func (q *subscriber) put(env event.Envelope) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended || q.lagging {
		return // lagging: the journal has what is durable
	}
	if !q.merge(env) {
		q.queue = append(q.queue, env)
	}
	q.count(env, 1)
	if q.durable > maxBehind && q.journal != nil {
		q.queue, q.durable, q.output, q.lagging = nil, 0, 0, true
	}
	if q.output > maxOutput {
		q.dropOutput()
	}
	q.wake()
}

func (q *subscriber) count(env event.Envelope, sign int) {
	if env.Payload.Durable() {
		q.durable += sign
	}
	if o, ok := env.Payload.(event.ToolOutput); ok {
		q.output += sign * len(o.Text)
	}
}

// merge adds a transient event to the last one if they are alike.
func (q *subscriber) merge(env event.Envelope) bool {
	if len(q.queue) == 0 || env.Payload.Durable() {
		return false
	}
	last := &q.queue[len(q.queue)-1]
	if last.Task != env.Task || last.Turn != env.Turn {
		return false
	}
	p, ok := merged(last.Payload, env.Payload)
	if ok {
		last.Seq, last.Time, last.Payload = env.Seq, env.Time, p
	}
	return ok
}

// merged returns a followed by b as one event, if they are pieces of the same thing.
func merged(a, b event.Event) (event.Event, bool) {
	switch a := a.(type) {
	case event.TextDelta:
		if b, ok := b.(event.TextDelta); ok && len(a.Text) < mergeSize {
			return event.TextDelta{Text: a.Text + b.Text}, true
		}
	case event.ReasoningDelta:
		if b, ok := b.(event.ReasoningDelta); ok && len(a.Text) < mergeSize && a.Field == b.Field {
			return event.ReasoningDelta{Field: b.Field, Text: a.Text + b.Text}, true
		}
	case event.ToolOutput:
		b, ok := b.(event.ToolOutput)
		if ok = ok && len(a.Text) < mergeSize && a.CallID == b.CallID && a.Stream == b.Stream; ok {
			b.Text = a.Text + b.Text
		}
		return b, ok
	case event.PaneScreen:
		b, ok := b.(event.PaneScreen)
		return b, ok && a.Pane == b.Pane
	}
	return nil, false
}

// dropOutput forgets the older half of the tool output that waits; BytesTotal of the
// next event tells the reader.
func (q *subscriber) dropOutput() {
	q.queue = slices.DeleteFunc(q.queue, func(env event.Envelope) bool {
		o, ok := env.Payload.(event.ToolOutput)
		if !ok || q.output <= maxOutput/2 {
			return false
		}
		q.output -= len(o.Text)
		return true
	})
}

func (q *subscriber) wake() {
	select {
	case q.notify <- struct{}{}:
	default:
	}
}

func (q *subscriber) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.wake()
}

// take returns what waits and whether it is the last of it.
func (q *subscriber) take() (batch []event.Envelope, lagging, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch, lagging, ended = q.queue, q.lagging, q.ended
	q.queue, q.durable, q.output, q.lagging = nil, 0, 0, false
	return batch, lagging, ended
}

func (q *subscriber) forward() {
	defer close(q.out)
	for {
		select {
		case <-q.notify:
		case <-q.gone:
			q.end() // nothing is kept for a reader that is gone
			return
		}
		batch, lagging, ended := q.take()
		if lagging && !q.replay() {
			return
		}
		for _, env := range batch {
			if env.Seq > q.after && !q.send(env) {
				return
			}
		}
		if ended {
			return
		}
	}
}

// replay hands on from the journal what the queue could not hold.
func (q *subscriber) replay() bool {
	alive := true
	err := q.journal.Range(q.after, func(env event.Envelope) bool {
		alive = q.send(env)
		return alive
	})
	if err != nil && alive {
		alive = q.send(event.Envelope{Seq: q.after + 1, Payload: event.Error{Text: "events were lost: " + err.Error(), Code: "stream_gap"}})
	}
	return alive
}

func (q *subscriber) send(env event.Envelope) bool {
	select {
	case q.out <- env:
		q.after = env.Seq
		return true
	case <-q.gone:
		return false
	}
}

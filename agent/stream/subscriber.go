package stream

import (
	"math"
	"slices"
	"sync"

	"buddy/agent/event"
	"buddy/agent/model"
)

const (
	maxBehind  = 4096    // durable events that a subscriber may lag before it reads the journal
	maxWaiting = 2 << 20 // bytes of all events that wait for a slow subscriber, about
	maxOutput  = 1 << 20 // bytes of tool output among them; the oldest goes
	mergeSize  = 4 << 10 // text deltas are merged up to this size
	leastSize  = 256     // bytes that an event has with nothing in it, about
)

// subscriber is a queue between the stream and one reader. It never blocks the stream, and
// holds a bounded part of it: what is transient is merged or dropped, what is durable is in
// the journal. Without a journal what is durable waits, however much it is.
type subscriber struct {
	notify chan struct{}
	out    chan event.Envelope
	gone   <-chan struct{} // closed when nobody reads any more

	journal Journal
	after   uint64 // number of the last event handed to the reader; only forward uses it

	mu      sync.Mutex // guards all below
	queue   []event.Envelope
	latest  map[source]int // places in queue of what the next piece may be merged with
	holes   int            // places in queue whose event went into a later one
	waiting waiting
	lagging bool             // the queue was dropped: read the journal
	screens []event.Envelope // the latest of each pane while lagging, by number
	ended   bool
}

// waiting counts a queue.
type waiting struct {
	durable int // events
	bytes   int // of all
	output  int // bytes of tool output
}

// source identifies the pieces that may be merged into one event.
type source struct {
	task, turn int
	kind, id   string
}

// sourceOf returns the source of an event; false for one that is never merged.
func sourceOf(env event.Envelope) (source, bool) {
	s := source{task: env.Task, turn: env.Turn}
	switch p := env.Payload.(type) {
	case event.TextDelta, event.ReasoningDelta: // keep the order among themselves
		s.kind = "answer"
	case event.CallDelta:
		s.kind, s.id = "call", p.CallID
	case event.ToolOutput:
		s.kind, s.id = "output", p.CallID // both streams, in their order
	case event.TaskProgress:
		return source{kind: "progress", task: p.ID}, true
	case event.PaneScreen:
		return source{kind: "screen", id: p.Pane}, true
	case event.PaneHistory:
		return source{kind: "history", id: p.Pane}, true
	default:
		return source{}, false
	}
	return s, true
}

func (q *subscriber) put(env event.Envelope) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.ended:
		return
	case q.lagging: // the journal has what is durable
		q.keepScreen(env)
		return
	}
	q.add(env)
	if q.waiting.output > maxOutput {
		q.dropOutput()
	}
	if q.waiting.durable > maxBehind || q.waiting.bytes > maxWaiting {
		q.drop()
	}
	q.wake()
}

// add appends an event, or what became of it and an earlier one of the same source. Nothing
// is merged across a durable event.
func (q *subscriber) add(env event.Envelope) {
	from, transient := sourceOf(env)
	if !transient {
		clear(q.latest)
	} else if at, ok := q.latest[from]; ok {
		earlier := q.queue[at]
		if p, ok := merged(earlier.Payload, env.Payload); ok {
			q.count(earlier, -1)
			env.Payload = p
			q.queue[at] = event.Envelope{}
			q.holes++
		}
	}
	if q.holes > len(q.queue)/2 {
		q.queue = slices.DeleteFunc(q.queue, func(e event.Envelope) bool { return e.Payload == nil })
		q.recount()
	}
	if transient {
		q.latest[from] = len(q.queue)
	}
	q.queue = append(q.queue, env)
	q.count(env, 1)
}

func (q *subscriber) count(env event.Envelope, sign int) {
	q.waiting.bytes += sign * weight(env.Payload)
	if env.Payload.Durable() {
		q.waiting.durable += sign
	}
	if o, ok := env.Payload.(event.ToolOutput); ok {
		q.waiting.output += sign * len(o.Text)
	}
}

// recount brings what is known of the queue up to date. There are no holes in it.
func (q *subscriber) recount() {
	q.holes, q.waiting = 0, waiting{}
	if q.latest == nil {
		q.latest = make(map[source]int)
	}
	clear(q.latest)
	for i, env := range q.queue {
		q.count(env, 1)
		if from, ok := sourceOf(env); ok {
			q.latest[from] = i
		} else {
			clear(q.latest)
		}
	}
}

// weight is about how many bytes an event takes.
func weight(e event.Event) int {
	n := leastSize
	switch p := e.(type) {
	case event.TextDelta:
		n += len(p.Text)
	case event.ReasoningDelta:
		n += len(p.Text)
	case event.CallDelta:
		n += len(p.Text)
	case event.ToolOutput:
		n += len(p.Text)
	case event.PaneScreen:
		n += sum(p.Rows, rowSize)
	case event.PaneHistory:
		n += sum(p.Rows, rowSize)
	case event.ToolRequested:
		n += 2 * len(p.Arguments) // and what it would do
	case event.ApprovalAsked:
		n += len(p.Action.Command) + len(p.Action.Preview)
	case event.ToolResult:
		n += len(p.Result) + len(p.Tail)
	case event.ModelMessage:
		n += len(p.Message.Content) + len(p.Reasoning) + sum(p.Message.ToolCalls, callSize)
	case event.PromptSubmitted:
		n += len(p.Text) + sum(p.Images, imageSize)
	case event.ReminderAttached:
		n += len(p.Text) + sum(p.Images, imageSize)
	case event.ContextCompacted:
		n += len(p.Summary) + len(p.Restored)
	}
	return n
}

func sum[T any](parts []T, size func(T) int) int {
	n := 0
	for _, p := range parts {
		n += size(p)
	}
	return n
}

func rowSize(r string) int          { return len(r) + 16 }
func imageSize(i model.Image) int   { return len(i.Data) }
func callSize(c model.ToolCall) int { return len(c.Arguments) }

// merged returns a followed by b as one event, if they are pieces of the same thing.
func merged(a, b event.Event) (event.Event, bool) {
	switch a := a.(type) {
	case event.TextDelta:
		if b, ok := more[event.TextDelta](a.Text, b); ok {
			return event.TextDelta{Text: a.Text + b.Text}, true
		}
	case event.ReasoningDelta:
		if b, ok := more[event.ReasoningDelta](a.Text, b); ok && a.Field == b.Field {
			return event.ReasoningDelta{Field: b.Field, Text: a.Text + b.Text}, true
		}
	case event.CallDelta:
		if b, ok := more[event.CallDelta](a.Text, b); ok {
			return event.CallDelta{CallID: b.CallID, Text: a.Text + b.Text}, true
		}
	case event.ToolOutput:
		if b, ok := more[event.ToolOutput](a.Text, b); ok && a.Stream == b.Stream {
			b.Text = a.Text + b.Text
			return b, true
		}
	case event.PaneScreen, event.PaneHistory, event.TaskProgress: // the latest counts
		return b, true
	}
	return nil, false
}

// more returns e as one of type T, and whether it is one that can follow text in one event.
func more[T event.Event](text string, e event.Event) (T, bool) {
	t, ok := e.(T)
	return t, ok && len(text) < mergeSize
}

// dropOutput forgets the older half of the tool output that waits; BytesTotal of the
// next event tells the reader.
func (q *subscriber) dropOutput() {
	left := q.waiting.output
	q.queue = slices.DeleteFunc(q.queue, func(env event.Envelope) bool {
		o, ok := env.Payload.(event.ToolOutput)
		if ok && left > maxOutput/2 {
			left -= len(o.Text)
			return true
		}
		return env.Payload == nil
	})
	q.recount()
}

// drop forgets what waits: what is durable is read from the journal later, and the latest
// screen of each pane stays. Without a journal only what is transient goes.
func (q *subscriber) drop() {
	var left []event.Envelope
	for _, env := range q.queue {
		switch {
		case env.Payload == nil:
		case q.journal != nil:
			q.keepScreen(env)
		case env.Payload.Durable():
			left = append(left, env)
		}
	}
	q.queue, q.lagging = left, q.journal != nil
	q.recount()
}

// keepScreen keeps an event if it is the latest screen of a pane.
func (q *subscriber) keepScreen(env event.Envelope) {
	p, ok := env.Payload.(event.PaneScreen)
	if !ok {
		return
	}
	q.screens = slices.DeleteFunc(q.screens, func(e event.Envelope) bool { return e.Payload.(event.PaneScreen).Pane == p.Pane })
	q.screens = append(q.screens, env)
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

// taken holds what waited for a subscriber, to be handed on.
type taken struct {
	batch   []event.Envelope
	lagging bool // what came before the batch is in the journal, but for screens
	screens []event.Envelope
	ended   bool // nothing comes after it
}

// take empties the queue.
func (q *subscriber) take() taken {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := taken{batch: q.queue, lagging: q.lagging, screens: q.screens, ended: q.ended}
	q.queue, q.lagging, q.screens = nil, false, nil
	q.recount()
	return t
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
		t := q.take()
		if t.lagging && !q.replay(t.screens) {
			return
		}
		for _, env := range t.batch {
			if env.Payload != nil && env.Seq > q.after && !q.send(env) {
				return
			}
		}
		if t.ended {
			return
		}
	}
}

// replay hands on from the journal what the queue could not hold, and the screens that
// stayed in their places.
func (q *subscriber) replay(screens []event.Envelope) bool {
	alive := true
	before := func(seq uint64) {
		for alive && len(screens) > 0 && screens[0].Seq < seq {
			alive = q.send(screens[0])
			screens = screens[1:]
		}
	}
	err := q.journal.Range(q.after, func(env event.Envelope) bool {
		before(env.Seq)
		alive = alive && q.send(env)
		return alive
	})
	before(math.MaxUint64)
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

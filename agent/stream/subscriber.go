package stream

import (
	"slices"
	"sync"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
)

const (
	maxBehind  = 4096    // queued durable events after which a subscriber must read the journal
	maxWaiting = 2 << 20 // approximate bytes of all events queued for a slow subscriber
	maxOutput  = 1 << 20 // bytes of tool output among them; the oldest is dropped
	mergeSize  = 4 << 10 // text deltas are merged up to this size
	leastSize  = 256     // approximate bytes of an empty event
)

// subscriber is a queue between the stream and one reader. It never blocks the stream, and its size is bounded:
// transient events are merged or dropped, durable ones are in the journal. Without a journal all durable events stay
// queued.
type subscriber struct {
	stream *Stream
	notify chan struct{}
	gone   <-chan struct{} // closed when the reader has stopped

	// Only forward uses these.
	hand  func([]event.Envelope) bool // delivers a batch to the reader; false: the reader has stopped
	end   func()                      // called at the end
	every time.Duration               // minimum interval between batches of transient events
	last  time.Time                   // time of the last batch
	after uint64                      // number of the last event delivered

	mu      sync.Mutex // guards the fields below
	queue   []event.Envelope
	latest  map[source]int // positions in queue that the next event may be merged with
	holes   int            // positions in queue whose event was merged into a later one
	waiting waiting
	lagging bool // nothing is queued: the reader must join again
	ended   bool
}

// waiting counts the contents of a queue.
type waiting struct {
	durable   int // durable events
	bytes     int // of all events
	transient int // bytes of transient events
	output    int // bytes of tool output
}

// source identifies events that may be merged.
type source struct {
	task, turn int
	kind, id   string
}

// sourceOf returns the source of an event; false if it is never merged.
func sourceOf(env event.Envelope) (source, bool) {
	s := source{task: env.Task, turn: env.Turn}
	switch p := env.Payload.(type) {
	case event.TextDelta, event.ReasoningDelta: // one source, to keep their order
		s.kind = "answer"
	case event.CallDelta:
		s.kind, s.id = "call", p.CallID
	case event.ToolOutput:
		s.kind, s.id = "output", p.CallID // both streams, in order
	case event.TaskProgress:
		return source{kind: "progress", task: p.ID}, true
	case event.PaneScreen:
		return source{kind: "screen", id: p.Pane}, true
	case event.PaneHistory:
		return source{kind: "history", id: p.Pane}, true
	case event.CommandsListed:
		return source{kind: "commands"}, true
	default:
		return source{}, false
	}
	return s, true
}

func (q *subscriber) put(env event.Envelope) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended || q.lagging || q.skips(env) {
		return
	}
	idle := len(q.queue) == 0
	q.add(env)
	if q.waiting.output > maxOutput {
		q.dropOutput()
	}
	if q.full() {
		q.drop()
	}
	if idle || q.hurries() { // otherwise forward has been woken, and waits for its interval
		q.wake()
	}
}

// skips reports whether the reader gets only durable events and env is transient.
func (q *subscriber) skips(env event.Envelope) bool {
	return q.every < 0 && !event.Durable(env.Payload)
}

// add appends an event, merged with an earlier one of the same source if possible. Nothing is merged across a durable
// event.
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

// full reports whether drop must be called. Without a journal only transient events count, because drop would be slow
// if it searched the many durable events at each new one.
func (q *subscriber) full() bool {
	if q.stream.journal == nil {
		return q.waiting.transient > maxWaiting
	}
	return q.waiting.durable > maxBehind || q.waiting.bytes > maxWaiting
}

func (q *subscriber) count(env event.Envelope, sign int) {
	bytes := sign * weight(env.Payload)
	q.waiting.bytes += bytes
	if event.Durable(env.Payload) {
		q.waiting.durable += sign
	} else {
		q.waiting.transient += bytes
	}
	if o, ok := env.Payload.(event.ToolOutput); ok {
		q.waiting.output += sign * len(o.Text)
	}
}

// recount recomputes the counts of a queue without holes.
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

// weight returns the approximate size of an event in bytes.
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
		n += 2 * len(p.Arguments) // twice, because the action contains them, too
	case event.ApprovalAsked:
		n += len(p.Action.Command) + len(p.Action.Preview)
	case event.ToolResult:
		n += len(p.Result) + len(p.Tail)
	case event.ModelPrefix:
		n += messageSize(p.Message)
	case event.ModelMessage:
		n += messageSize(p.Message) + len(p.Reasoning)
	case event.PromptSubmitted:
		n += len(p.Text) + sum(p.Images, imageSize)
	case event.ContextCompacted:
		n += len(p.Summary) + len(p.Restored)
	default:
		n += extensionWeight(e)
	}
	return n
}

// extensionWeight does what weight does, for events about reminders, skills and commands.
func extensionWeight(e event.Event) int {
	switch p := e.(type) {
	case event.ReminderAttached:
		return len(p.Text) + sum(p.Images, imageSize)
	case event.SkillLoaded:
		return len(p.Text)
	case event.CommandsListed:
		return sum(p.Commands, commandSize)
	}
	return 0
}

func sum[T any](parts []T, size func(T) int) int {
	n := 0
	for _, p := range parts {
		n += size(p)
	}
	return n
}

func commandSize(c event.CustomCommand) int {
	return len(c.Name) + len(c.Args) + len(c.Help) + 64
}

func messageSize(m model.Message) int { return len(m.Content) + sum(m.ToolCalls, callSize) }

func rowSize(r string) int          { return len(r) + 16 }
func imageSize(i model.Image) int   { return len(i.Data) }
func callSize(c model.ToolCall) int { return len(c.Arguments) }

// merged returns one event for a followed by b, if they are parts of the same text.
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
	case event.PaneScreen, event.PaneHistory, event.TaskProgress, event.CommandsListed: // the latest replaces earlier ones
		return b, true
	}
	return nil, false
}

// more returns e as a T, and whether its text can be appended to the given text in one event.
func more[T event.Event](text string, e event.Event) (T, bool) {
	t, ok := e.(T)
	return t, ok && len(text) < mergeSize
}

// dropOutput drops the older half of the queued tool output; the reader sees the gap by BytesTotal of the next event.
func (q *subscriber) dropOutput() {
	size := q.waiting.output
	q.queue = slices.DeleteFunc(q.queue, func(env event.Envelope) bool {
		o, ok := env.Payload.(event.ToolOutput)
		if ok && size > maxOutput/2 {
			size -= len(o.Text)
			return true
		}
		return env.Payload == nil
	})
	q.recount()
}

// drop empties the queue, so that the reader must join again. Without a journal it drops only transient events.
func (q *subscriber) drop() {
	var kept []event.Envelope
	for _, env := range q.queue {
		if q.stream.journal == nil && env.Payload != nil && event.Durable(env.Payload) {
			kept = append(kept, env)
		}
	}
	q.queue, q.lagging = kept, q.stream.journal != nil
	q.recount()
}

func (q *subscriber) wake() {
	select {
	case q.notify <- struct{}{}:
	default:
	}
}

func (q *subscriber) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.wake()
}

// taken holds the contents of a queue, for delivery.
type taken struct {
	batch   []event.Envelope
	lagging bool // the reader must join again for later events
	ended   bool // nothing comes after it
}

// takeAll empties the queue and returns its contents.
func (q *subscriber) takeAll() taken {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := taken{batch: q.queue, lagging: q.lagging, ended: q.ended}
	q.queue = nil
	q.recount()
	return t
}

// urgent reports whether something in the queue must not wait for the interval.
func (q *subscriber) urgent() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.hurries()
}

// hurries does what urgent does, for callers that hold q.mu.
func (q *subscriber) hurries() bool { return q.waiting.durable > 0 || q.lagging || q.ended }

func (q *subscriber) forward() {
	defer q.end()
	for q.wait() {
		t := q.takeAll()
		if t.lagging && !q.join() {
			break
		}
		batch := slices.DeleteFunc(t.batch, func(e event.Envelope) bool { return e.Payload == nil })
		if len(batch) > 0 && !q.send(batch) {
			break
		}
		if t.ended && !t.lagging {
			return
		}
	}
	q.stop() // no more events are queued for the reader
}

// wait returns true when there is something to deliver, false when the reader has stopped.
func (q *subscriber) wait() bool {
	select {
	case <-q.notify:
	case <-q.gone:
		return false
	}
	rest := q.every - time.Since(q.last)
	if rest <= 0 || q.urgent() {
		return true
	}
	pace := time.NewTimer(rest)
	defer pace.Stop()
	for {
		select {
		case <-pace.C:
			return true
		case <-q.notify:
			if q.urgent() {
				return true
			}
		case <-q.gone:
			return false
		}
	}
}

// batchSize is the approximate size of a batch from the journal, in bytes.
const batchSize = 256 << 10

// join sends the reader the events in the journal after its last event, and the open parts, ordered by number. Later
// events are queued meanwhile.
func (q *subscriber) join() bool {
	newest, parts := q.stream.rejoin(q)
	if q.every < 0 {
		parts = nil
	}
	b := batcher{send: q.send}
	var err error
	if q.stream.journal != nil && newest > q.after {
		err = q.stream.journal.Range(q.after, func(env event.Envelope) bool {
			for len(parts) > 0 && parts[0].Seq < env.Seq {
				b.add(parts[0])
				parts = parts[1:]
			}
			return env.Seq <= newest && b.add(env)
		})
	}
	for _, env := range parts {
		b.add(env)
	}
	if err != nil {
		b.add(event.Envelope{Seq: newest, Session: q.stream.session, Payload: event.Error{Text: "events were lost: " + err.Error(), Code: "stream_gap"}})
	}
	return b.flush()
}

// batcher collects events and sends them to a reader in batches.
type batcher struct {
	send  func([]event.Envelope) bool
	batch []event.Envelope
	size  int
	gone  bool // the reader has stopped
}

func (b *batcher) add(env event.Envelope) (alive bool) {
	b.batch = append(b.batch, env)
	if b.size += weight(env.Payload); b.size > batchSize {
		return b.flush()
	}
	return !b.gone
}

func (b *batcher) flush() (alive bool) {
	b.gone = b.gone || len(b.batch) > 0 && !b.send(b.batch)
	b.batch, b.size = nil, 0
	return !b.gone
}

func (q *subscriber) send(batch []event.Envelope) bool {
	q.last = time.Now()
	q.after = batch[len(batch)-1].Seq
	return q.hand(batch)
}

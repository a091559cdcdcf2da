package turn

import (
	"context"
	"slices"
	"sync"

	"buddy/agent/action"
	"buddy/agent/conversation"
	"buddy/agent/decision"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/tools"
)

// early holds the calls of an answer that streams. Calls start in their order. Calls that change nothing and need no
// approval overlap; a call with side effects that needs no approval starts when nothing else runs. The first call that
// has to wait for the whole answer, because it needs an approval, a hook or a person, makes all later ones wait, too.
//
// Before a call with side effects starts, and before the first result is stored, the answer up to that call is stored.
// From then on the attempt is never retried: what ran stays in the conversation, whatever becomes of the answer.
type early struct {
	starting sync.Mutex // taken before mu; guards queue and waits, and is held while calls start
	queue    []*waiting // complete calls that have not started
	waits    bool       // the first queued call waits for the whole answer

	mu      sync.Mutex // guards the fields below, and the fields kept of jobs
	all     []*job     // started calls, in order
	ended   bool       // the answer is complete, or broke off
	stored  int        // number of calls, from the start of all, that are in the conversation
	running int        // jobs without a result
	alone   bool       // a running call has side effects
}

// waiting is a call that has not started.
type waiting struct {
	asked model.ToolCall // with the provider's id
	id    string         // of the call in the session
	text  string         // the answer's text before the call
	said  decision.Output
	job   *job // nil until it is planned
}

// offer queues a call whose answer still streams, and starts calls that may start.
func (b *batch) offer(w *waiting) {
	if b.loop.o.NoEarly {
		return
	}
	e := &b.early
	e.starting.Lock()
	defer e.starting.Unlock()
	w.id = b.loop.uniqueID(b.x, w.asked.ID)
	e.queue = append(e.queue, w)
	b.publish(event.ToolQueued{CallID: w.id, Name: w.asked.Name})
	advance(b)
}

// advance starts the queued calls that may start now. The caller holds the lock starting.
func advance(b *batch) {
	e := &b.early
	for len(e.queue) > 0 && !e.waits && b.ctx.Err() == nil {
		w := e.queue[0]
		if w.job == nil {
			w.job = planWaiting(b, w)
		}
		if e.waits = !startsEarly(b, w.job); e.waits || !free(b, w.job) {
			return
		}
		e.queue = e.queue[1:]
		b.request(w.job)
		b.launch(w.job)
	}
}

// planWaiting plans a queued call under its own id.
func planWaiting(b *batch, w *waiting) *job {
	c := w.asked
	c.ID = w.id
	j := b.plan(c)
	j.asked, j.text, j.said, j.early = w.asked, w.text, w.said, true
	return j
}

// startsEarly reports whether a call may start before its answer is complete.
func startsEarly(b *batch, j *job) bool {
	if j.err != nil || tools.IsBeside(j.tool, j.call) || b.waitsForHooks(j) || b.seen[j.key()] {
		return false
	}
	if j.parallel {
		return true
	}
	if b.loop.o.Durable != nil || len(b.loop.o.Hooks) > 0 { // both get the calls in the order of the whole answer
		return false
	}
	return !tools.IsPatient(j.tool, j.call) && b.judge(j.call.Planned).Decision == action.Allow
}

// free reports whether a call may start while the others run and, if so, counts it as running. It stores the answer up
// to a call with side effects.
func free(b *batch, j *job) bool {
	e := &b.early
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended || e.alone || !j.parallel && e.running > 0 || e.running >= cap(b.slots) {
		return false
	}
	e.running++
	e.all = append(e.all, j)
	if e.alone = !j.parallel; e.alone {
		store(b, len(e.all))
	}
	return true
}

// left records that an early call has ended, and starts those that waited for it.
func left(b *batch, j *job) {
	e := &b.early
	e.starting.Lock()
	defer e.starting.Unlock()
	e.mu.Lock()
	e.running--
	e.alone = e.alone && j.parallel
	e.mu.Unlock()
	advance(b)
}

// store stores the answer up to the n-th early call. The caller holds the lock of early.
func store(b *batch, n int) {
	e := &b.early
	if n <= e.stored {
		return
	}
	m := model.Message{Role: model.Assistant, Content: e.all[n-1].text}
	for _, j := range e.all[:n] {
		c := j.asked
		c.ID = j.call.ID
		m.ToolCalls = append(m.ToolCalls, c)
	}
	e.stored = n
	conversation.StorePrefix(b.x.conv, b.x.task, b.turn, m)
}

// storedEarly reports whether a part of the answer is stored because its calls started.
func storedEarly(b *batch) bool {
	b.early.mu.Lock()
	defer b.early.mu.Unlock()
	return b.early.stored > 0
}

// reports waits until the result of an early call can be stored, and reports whether it can: the call is in the whole
// answer, or in the stored part of an answer that broke off.
func reports(b *batch, j *job) bool {
	e := &b.early
	e.mu.Lock()
	if !e.ended {
		store(b, slices.Index(e.all, j)+1)
		e.mu.Unlock()
		return true
	}
	e.mu.Unlock()
	<-b.settled
	return j.kept
}

// identify gives the calls of the whole answer their ids: those that were queued keep theirs, others get new ones that
// are unique in the session.
func (b *batch) identify(calls []model.ToolCall) []model.ToolCall {
	e := &b.early
	e.starting.Lock()
	defer e.starting.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
	same := func(a, c model.ToolCall) bool { return a.ID == c.ID && a.Name == c.Name && a.Arguments == c.Arguments }
	for i, c := range calls {
		id := ""
		if at := slices.IndexFunc(e.all, func(j *job) bool { return !j.kept && same(j.asked, c) }); at >= 0 {
			e.all[at].kept, id = true, e.all[at].call.ID
		} else if at := slices.IndexFunc(e.queue, func(w *waiting) bool { return same(w.asked, c) }); at >= 0 {
			id = e.queue[at].id
			e.queue = slices.Delete(e.queue, at, at+1)
		} else {
			id = b.loop.uniqueID(b.x, c.ID)
		}
		calls[i].ID = id
	}
	return calls
}

// drop ends the calls of an answer that broke off. Those in its stored part keep running, and drop waits for their
// results; the others are cancelled, and their results discarded.
func (b *batch) drop() {
	e := &b.early
	e.starting.Lock() // so that no call is starting any more
	e.mu.Lock()
	e.ended = true
	for i, j := range e.all {
		j.kept = i < e.stored
	}
	kept := e.stored > 0
	e.mu.Unlock()
	e.starting.Unlock()
	b.settle()
	if !kept {
		b.cancel(nil)
	}
	b.jobs.Wait()
	b.cancel(nil)
}

// settle cancels early calls that are in no stored answer, and lets the others report.
func (b *batch) settle() {
	e := &b.early
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, j := range e.all {
		if j.kept = j.kept || i < e.stored; !j.kept {
			j.cancel()
		}
	}
	select {
	case <-b.settled:
	default:
		close(b.settled)
	}
}

// contextOf returns the context of a call that is launched. A failed command cancels calls that overlap with it.
func contextOf(b *batch, j *job) context.Context {
	if j.early && !j.parallel || tools.IsBeside(j.tool, j.call) {
		return b.whole
	}
	return b.ctx
}

// Package conversation holds what the models of a session are sent.
//
// Its invariant: a history and the stream agree. Code that changes the history of a [Conversation]
// publishes the event that says so under the same lock, so that [Recall] makes the same
// history of the stored events. Each conversation has a lock of its own, and so has the
// [Tree] of them; that of the tree is taken first.
//
//	tree := conversation.NewTree(events, "You are …")
//	c := tree.Main()
//	c.Enter(1, event.PromptSubmitted{Text: "hello"}, event.Opening, "")
//	c.Store(1, 1, answer, "", false)
//	request := c.Messages()
package conversation

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/model"
	"buddy/agent/reminder"
	"buddy/agent/stream"
)

// Conversation is one branch of a session: what its model is sent, and what waits to be. It
// is safe for concurrent use; a [Tree] makes it.
type Conversation struct {
	branch int
	stream *stream.Stream
	own    bool                   // a subagent's, with a system prompt of its own
	off    func(kind string) bool // of reminders; nil: all are told

	mu       sync.Mutex // guards all below, and so the order of its events
	hist     *history.History
	recall   Recall
	date     string // that its model was told last; "" = none, or it may be compacted away
	queue    []event.PromptSubmitted
	news     []string // what its model is told before its next request
	injected string   // the prompt injection because of which the task is trusted less; "" = none
	known    known    // of extensions
}

// Branch returns the number of the conversation, 0 for the main one.
func (c *Conversation) Branch() int { return c.branch }

// Enter puts what a person said into the history. An opening prompt carries today's date
// for the model unless it was told it last; "" is no date.
func (c *Conversation) Enter(task int, p event.PromptSubmitted, kind event.PromptKind, today string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if changed := c.date != "" && today != c.date; changed && c.off != nil && c.off(reminder.DateChange) {
		today = ""
	}
	if kind == event.Opening && today != "" && today != c.date {
		p.Date, c.date = today, today
	}
	c.enter(task, p, kind)
}

// enter is Enter without a date. The caller holds c.mu.
func (c *Conversation) enter(task int, p event.PromptSubmitted, kind event.PromptKind) {
	p.Queued, p.Kind = false, kind
	c.recall.tell(p, kind)
	c.known.prompted(p)
	c.stream.Publish(task, 0, p)
}

// Enqueue lets a prompt wait.
func (c *Conversation) Enqueue(p event.PromptSubmitted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.Queued = true
	c.queue = append(c.queue, p)
	c.stream.PublishOn(c.branch, p)
}

// Requeue lets a prompt wait again that waited when an earlier process ended.
func (c *Conversation) Requeue(p event.PromptSubmitted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, p)
	slices.SortFunc(c.queue, func(a, b event.PromptSubmitted) int { return a.ID - b.ID })
}

// Withdraw removes a prompt that waits and reports whether there was one.
func (c *Conversation) Withdraw(id int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.queue, func(p event.PromptSubmitted) bool { return p.ID == id })
	if i < 0 {
		return false
	}
	c.queue = slices.Delete(slices.Clone(c.queue), i, i+1)
	c.stream.PublishOn(c.branch, event.PromptWithdrawn{ID: id})
	return true
}

// Queue returns the prompts that wait.
func (c *Conversation) Queue() []event.PromptSubmitted {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.queue)
}

// Next takes the prompt out of the queue that has waited longest.
func (c *Conversation) Next() (p event.PromptSubmitted, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		return p, false
	}
	p, c.queue = c.queue[0], c.queue[1:]
	return p, true
}

// Steer lets the prompts that wait steer a task: together, as messages of their own. It returns
// them.
func (c *Conversation) Steer(task int) []event.PromptSubmitted {
	c.mu.Lock()
	defer c.mu.Unlock()
	said := c.queue
	for _, p := range said {
		c.enter(task, p, event.Steering)
	}
	c.queue = nil
	return said
}

// Block takes back a prompt that a hook refused, before a model was sent it.
func (c *Conversation) Block(task int, e event.PromptBlocked) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recall.block(e.ID)
	c.stream.Publish(task, 0, e)
}

// Attach tells the model something beside the prompts.
func (c *Conversation) Attach(task, turn int, e event.ReminderAttached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attach(task, turn, e)
}

// attach is Attach: before the person's words if those are the last, so that these stay the last word; else behind what
// is there. The caller holds c.mu. Kinds that are switched off are not told.
func (c *Conversation) attach(task, turn int, e event.ReminderAttached) {
	if c.off != nil && !slices.ContainsFunc(e.Kinds, func(kind string) bool { return !c.off(kind) }) {
		return
	}
	e.Before = asks(c.hist)
	c.recall.remind(e)
	c.known.restored(e.Names)
	c.known.plan.reminded(e.Kinds)
	c.known.remember(e.States)
	c.date = cmp.Or(e.States[reminder.DateChange], c.date)
	c.stream.Publish(task, turn, e)
}

// asks reports whether a history ends with a person's words, which no model has answered.
func asks(h *history.History) bool {
	msgs := h.Messages()
	return history.Words(msgs) < len(msgs)
}

// Announce keeps a line for the model until its next request.
func (c *Conversation) Announce(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.news = append(c.news, line)
}

// TellNews tells the model what was announced since its last request.
func (c *Conversation) TellNews(task int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.news) == 0 {
		return
	}
	e := event.ReminderAttached{Kinds: []string{reminder.Tasks}, Text: reminder.Wrap(strings.Join(c.news, "\n"))}
	c.news = nil
	c.attach(task, 0, e)
}

// Distrust notes that a prompt injection was found, unless one was already.
func (c *Conversation) Distrust(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.injected == "" {
		c.injected = why
	}
}

// Trust forgets about it: the person has given a new prompt.
func (c *Conversation) Trust() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.injected = ""
}

// Injected returns the prompt injection that was found since the last prompt, or "".
func (c *Conversation) Injected() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.injected
}

// Store appends an answer to the history; part marks it as incomplete. It reports whether
// there was anything to store.
func (c *Conversation) Store(task, turn int, m model.Message, reasoning string, part bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, _ = c.stream.Keys().Hidden(m).(model.Message) // as it is after a restart
	if !c.hist.Assistant(m) {
		return false
	}
	c.recall.said = nil
	c.known.plan.Answers++
	c.known.steps.Quiet++
	c.known.work.Answers++
	c.stream.Publish(task, turn, event.ModelMessage{Message: m, Reasoning: reasoning, Partial: part})
	return true
}

// StoreResult puts the result of a call into the history, which means the tool e.Name with
// these arguments, whatever the model called it.
func (c *Conversation) StoreResult(task, turn int, arguments string, e event.ToolResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, _ = c.stream.Keys().Hidden(e).(event.ToolResult)
	c.hist.Meant(e.CallID, e.Name, c.stream.Keys().Text(arguments))
	c.hist.Result(e.CallID, e.Name, e.Result, endOf(e))
	c.known.wrote(e)
	c.stream.Publish(task, turn, e)
}

// endOf returns how a call ended.
func endOf(e event.ToolResult) history.End {
	switch {
	case e.IsError:
		return history.Failed
	case e.Failed():
		return history.BadExit
	}
	return history.Worked
}

// Shorten replaces a result in the history by e.Result.
func (c *Conversation) Shorten(task, turn int, e event.ResultSpilled) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hist.Shorten(e.CallID, e.Result)
	c.stream.Publish(task, turn, e)
}

// read returns what get reads from the history.
func read[T any](c *Conversation, get func(*history.History) T) T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return get(c.hist)
}

// Open returns the calls that have no result yet.
func (c *Conversation) Open() []model.ToolCall { return read(c, (*history.History).Open) }

// Called reports whether a call of the history has an id.
func (c *Conversation) Called(id string) bool {
	return read(c, func(h *history.History) bool { return h.Called(id) })
}

// Messages returns the history. The caller must not change it, but may append.
func (c *Conversation) Messages() []model.Message { return read(c, (*history.History).Messages) }

// Request returns the history and how many tokens it has by estimate.
func (c *Conversation) Request() ([]model.Message, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hist.Messages(), c.hist.Tokens()
}

// Items returns the messages of a conversation with their sizes, and how many tokens its history has by
// estimate, with what each request has besides.
func Items(c *Conversation) ([]history.Item, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return history.Items(c.hist), c.hist.Tokens()
}

// BrokenOff reports whether the history ends with an answer: one that broke off.
func (c *Conversation) BrokenOff() bool {
	return read(c, func(h *history.History) bool {
		msgs := h.Messages()
		return h.Last() == model.Assistant && !msgs[len(msgs)-1].Compacted()
	})
}

// Tokens returns how many tokens the history has by estimate.
func (c *Conversation) Tokens() int { return read(c, (*history.History).Tokens) }

// Gauge gives the estimate what it needs: the model, and the characters that each request
// has beside the history.
func (c *Conversation) Gauge(model string, chars int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hist.SetFixed(chars)
	c.hist.SetModel(model)
}

// Calibrate corrects the estimate by what a provider counted.
func (c *Conversation) Calibrate(tokens int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hist.Calibrate(tokens)
}

// Pin keeps an exchange as it is whatever is compacted, or no longer. It reports whether
// there is such an exchange.
func (c *Conversation) Pin(p event.Pin) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.hist.PinExchange(p.Back, !p.Off)
	if n > 0 {
		c.stream.Publish(0, 0, event.ContextPinned{Back: p.Back, Off: p.Off, Messages: n})
	}
	return n > 0
}

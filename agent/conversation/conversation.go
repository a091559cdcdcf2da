// Package conversation holds the messages of a session: the main conversation with the model, its forks, and the
// conversations of subagents.
//
// A conversation can be rebuilt from the stored events at any time, with [Recall], because each change of a
// [Conversation]'s history is published as an event under the same lock. Each conversation has a lock, and so does the
// [Tree]; if both are needed, the tree's is taken first.
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

// Conversation is one branch of a session: its history, and the queued prompts and notes that the model will get with
// its next request. It is safe for concurrent use; a [Tree] creates it.
type Conversation struct {
	branch int
	stream *stream.Stream
	own    bool                   // a subagent's, with its own system prompt
	off    func(kind string) bool // reports whether a kind of reminder is switched off; nil: none is

	mu       sync.Mutex // guards the fields below, and the order of the events
	hist     *history.History
	recall   Recall
	date     string // the last date that the model has; "" if none, or if a compaction may have removed it
	queue    []event.PromptSubmitted
	news     []string // lines for the model with its next request
	injected string   // prompt injection because of which the task is trusted less; "" if none
	known    known    // reminders, listings and skills that the model has
}

// Branch returns the number of the conversation, 0 for the main one.
func (c *Conversation) Branch() int { return c.branch }

// Enter adds a user's prompt to the history. A prompt that opens an exchange carries today's date, unless today is ""
// or the model already has the date.
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

// enter is like Enter, but adds no date. The caller holds c.mu.
func (c *Conversation) enter(task int, p event.PromptSubmitted, kind event.PromptKind) {
	p.Queued, p.Kind = false, kind
	c.recall.addPrompt(p, kind)
	c.known.prompted(p)
	c.stream.Publish(task, 0, p)
}

// Enqueue adds a prompt to the queue.
func (c *Conversation) Enqueue(p event.PromptSubmitted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.Queued = true
	c.queue = append(c.queue, p)
	c.stream.PublishOn(c.branch, p)
}

// Requeue restores a prompt that was still queued when an earlier process ended.
func (c *Conversation) Requeue(p event.PromptSubmitted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, p)
	slices.SortFunc(c.queue, func(a, b event.PromptSubmitted) int { return a.ID - b.ID })
}

// Withdraw removes a queued prompt and reports whether it existed.
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

// Queue returns the queued prompts.
func (c *Conversation) Queue() []event.PromptSubmitted {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.queue)
}

// Next removes and returns the oldest queued prompt.
func (c *Conversation) Next() (p event.PromptSubmitted, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		return p, false
	}
	p, c.queue = c.queue[0], c.queue[1:]
	return p, true
}

// Steer moves all queued prompts into the history of a running task, to steer it, and returns them.
func (c *Conversation) Steer(task int) []event.PromptSubmitted {
	c.mu.Lock()
	defer c.mu.Unlock()
	prompts := c.queue
	for _, p := range prompts {
		c.enter(task, p, event.Steering)
	}
	c.queue = nil
	return prompts
}

// Block removes a prompt that could not be sent, such as one that a hook refused.
func (c *Conversation) Block(task int, e event.PromptBlocked) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recall.block(e.ID)
	c.stream.Publish(task, 0, e)
}

// Attach adds a reminder to the history.
func (c *Conversation) Attach(task, turn int, e event.ReminderAttached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attach(task, turn, e)
}

// attach implements Attach. If the user's last prompt is unanswered, it inserts the reminder before the prompt, so that
// the prompt stays last; otherwise it appends the reminder. It does nothing if all kinds of the reminder are switched
// off. The caller holds c.mu.
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

// asks reports whether a history ends with an unanswered prompt of the user.
func asks(h *history.History) bool {
	msgs := h.Messages()
	return history.Words(msgs) < len(msgs)
}

// Announce stores a line for the model, to be sent with the next request.
func (c *Conversation) Announce(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.news = append(c.news, line)
}

// AttachNews adds the lines stored by Announce to the history, as a reminder.
func (c *Conversation) AttachNews(task int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.news) == 0 {
		return
	}
	e := event.ReminderAttached{Kinds: []string{reminder.Tasks}, Text: reminder.Wrap(strings.Join(c.news, "\n"))}
	c.news = nil
	c.attach(task, 0, e)
}

// Distrust records a prompt injection that the model has read, unless there is one already. why describes it.
func (c *Conversation) Distrust(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.injected == "" {
		c.injected = why
	}
}

// Trust clears the recorded prompt injection, because the person has sent a new prompt.
func (c *Conversation) Trust() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.injected = ""
}

// Injected describes the prompt injection that the model has read since the last prompt, or returns "".
func (c *Conversation) Injected() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.injected
}

// Store appends an answer to the history; part marks it as incomplete. It reports whether the answer had any content.
func (c *Conversation) Store(task, turn int, m model.Message, reasoning string, part bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, _ = c.stream.Keys().Hidden(m).(model.Message) // with secrets hidden, as after a restart
	m = history.Grown(c.hist, m)
	if !c.hist.Assistant(m) {
		return false
	}
	c.recall.prompts = nil
	c.known.plan.Answers++
	c.known.steps.Quiet++
	c.known.work.Answers++
	c.stream.Publish(task, turn, event.ModelMessage{Message: m, Reasoning: reasoning, Partial: part})
	return true
}

// StorePrefix adds the start of a streaming answer to the history, so that its first calls can run and get results.
// Store replaces it with the whole answer.
func StorePrefix(c *Conversation, task, turn int, m model.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, _ = c.stream.Keys().Hidden(m).(model.Message)
	if history.Prefix(c.hist, m) {
		c.recall.prompts = nil
		c.stream.Publish(task, turn, event.ModelPrefix{Message: m})
	}
}

// Prefixed reports whether the history ends with the start of an answer that StorePrefix added.
func Prefixed(c *Conversation) bool { return read(c, history.Grows) }

// StoreResult adds the result of a call to the history. If buddy ran the call under a different tool name or with
// different arguments than the model wrote, e.Name and arguments tell compactions what really ran.
func (c *Conversation) StoreResult(task, turn int, arguments string, e event.ToolResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, _ = c.stream.Keys().Hidden(e).(event.ToolResult)
	c.hist.Meant(e.CallID, e.Name, c.stream.Keys().Text(arguments))
	c.hist.Result(e.CallID, e.Name, e.Result, endOf(e))
	c.known.wrote(e)
	c.stream.Publish(task, turn, e)
}

// endOf classifies for the history how a call ended.
func endOf(e event.ToolResult) history.End {
	switch {
	case e.IsError:
		return history.Failed
	case e.Failed():
		return history.BadExit
	}
	return history.Worked
}

// Shorten replaces a result in the history with e.Result, because the whole result is now in a file.
func (c *Conversation) Shorten(task, turn int, e event.ResultSpilled) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hist.Shorten(e.CallID, e.Result)
	c.stream.Publish(task, turn, e)
}

// read calls get with the history while holding the lock.
func read[T any](c *Conversation, get func(*history.History) T) T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return get(c.hist)
}

// Open returns the calls that have no result yet.
func (c *Conversation) Open() []model.ToolCall { return read(c, (*history.History).Open) }

// Called reports whether the history has a call with this id.
func (c *Conversation) Called(id string) bool {
	return read(c, func(h *history.History) bool { return h.Called(id) })
}

// Messages returns the history. The caller must not change its messages, but may append to the slice.
func (c *Conversation) Messages() []model.Message { return read(c, (*history.History).Messages) }

// Request returns the history and its estimated number of tokens.
func (c *Conversation) Request() ([]model.Message, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hist.Messages(), c.hist.Tokens()
}

// Items returns the messages of a conversation with their sizes, and its estimated number of tokens, which includes the
// fixed parts of each request.
func Items(c *Conversation) ([]history.Item, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return history.Items(c.hist), c.hist.Tokens()
}

// BrokenOff reports whether the history ends with an answer that is not a provider's summary. If no task is running,
// that answer was interrupted.
func (c *Conversation) BrokenOff() bool {
	return read(c, func(h *history.History) bool {
		msgs := h.Messages()
		return h.Last() == model.Assistant && !msgs[len(msgs)-1].Compacted()
	})
}

// Tokens returns the estimated number of tokens of the history.
func (c *Conversation) Tokens() int { return read(c, (*history.History).Tokens) }

// Gauge sets what the estimate of tokens depends on: the model, and the number of characters that each request has in
// addition to the history.
func (c *Conversation) Gauge(model string, chars int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hist.SetFixed(chars)
	c.hist.SetModel(model)
}

// Calibrate corrects the estimate with the number of tokens that the provider counted.
func (c *Conversation) Calibrate(tokens int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hist.Calibrate(tokens)
}

// Pin protects an exchange from compactions, or removes the protection. It reports whether the exchange exists.
func (c *Conversation) Pin(p event.Pin) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.hist.PinExchange(p.Back, !p.Off)
	if n > 0 {
		c.stream.Publish(0, 0, event.ContextPinned{Back: p.Back, Off: p.Off, Messages: n})
	}
	return n > 0
}

package record

import (
	"slices"

	"buddy/agent/event"
	"buddy/agent/model"
)

// Branch is an active conversation: the main one, a fork, or a subagent's.
type Branch struct {
	Agent       event.TaskStarted // of the subagent; zero: the main agent
	Open        bool              // an exchange is running or can be continued
	CanContinue bool              // the exchange was interrupted and can be continued
	Paused      bool              // the exchange is a paused workflow run
	Answered    bool              // the newest answer was complete and called nothing
	Calls       map[string]*Call  // calls without a result, by id

	began   event.Envelope // zero: the main conversation, or unknown
	current answer
}

// branch returns a conversation, and creates it if necessary.
func (r *Record) branch(number int) *Branch {
	b := r.Branches[number]
	if b == nil {
		b = &Branch{}
		put(&r.Branches, number, b)
	}
	return b
}

// ofAgent reports whether the branch is a subagent's.
func (b *Branch) ofAgent() bool {
	p, _ := b.began.Payload.(event.BranchStarted)
	return p.Why == event.ForSubagent
}

// begin records that a task has started to work on the branch's conversation.
func (b *Branch) begin(p event.TaskStarted) {
	b.Open, b.CanContinue, b.Paused = p.Kind != event.CompactionTask, false, false
	if p.Kind == event.SubagentTask {
		b.Agent = p
	}
}

// rewind resets the branch after a rewind, while nothing runs. Answered is true, because a rewound conversation has no
// prompt that still needs an answer.
func (b *Branch) rewind() {
	*b = Branch{Agent: b.Agent, Answered: true, began: b.began}
}

// answer processes an event about an answer.
func (b *Branch) answer(env event.Envelope) {
	a := &b.current
	switch p := env.Payload.(type) {
	case event.TurnStarted:
		*a = answer{}
	case event.TextDelta:
		a.grow(env)
		a.text = append(a.text, p.Text...)
	case event.ReasoningDelta:
		a.grow(env)
		a.reasoning = append(a.reasoning, p.Text...)
	case event.Checkpoint:
		a.save(p)
	case event.ModelRetry, event.ModelFallback:
		*a = answer{earlier: b.Said()}
	case event.ModelMessage:
		*a = answer{}
		b.Answered = !p.Partial && len(p.Message.ToolCalls) == 0
	case event.TurnFinished:
		a.dropOpen(env.Task)
	}
}

// Said returns the stored text of an interrupted answer, from its longest attempt.
func (b *Branch) Said() event.ModelMessage {
	now := event.ModelMessage{Message: model.Message{Content: string(b.current.stored)}, Reasoning: string(b.current.storedReasoning)}
	return Longer(b.current.earlier, now)
}

// Longer returns the longer of two attempts at an answer.
func Longer(a, b event.ModelMessage) event.ModelMessage {
	if len(a.Message.Content) > len(b.Message.Content) {
		return a
	}
	return b
}

// answer holds an incomplete answer.
type answer struct {
	stored, storedReasoning []byte             // up to the last checkpoint
	earlier                 event.ModelMessage // longest failed attempt

	first, newest       event.Envelope // events that extended it since the last checkpoint
	text, reasoning     []byte         // since the last checkpoint
	textAt, reasoningAt int            // offsets of the text after the last checkpoint
}

// grow records an event that extends the answer.
func (a *answer) grow(env event.Envelope) {
	if len(a.text)+len(a.reasoning) == 0 {
		a.first = env
	}
	a.newest = env
}

// save processes a checkpoint.
func (a *answer) save(p event.Checkpoint) {
	a.stored, a.storedReasoning = append(a.stored, p.Text...), append(a.storedReasoning, p.Reasoning...)
	a.textAt, a.text = p.TextAt+len(p.Text), a.text[:0]
	a.reasoningAt, a.reasoning = p.ReasoningAt+len(p.Reasoning), a.reasoning[:0]
}

// dropOpen drops the text after the last checkpoint, when its task has ended.
func (a *answer) dropOpen(task int) {
	if a.newest.Task == task {
		a.text, a.reasoning = nil, nil
	}
}

// since returns the text after the last checkpoint as an event, for a reader that has all events up to a number; ok is
// false if there is no such text.
func (a *answer) since(after uint64) (env event.Envelope, ok bool) {
	env = a.first // the start, for a reader that has nothing of it
	if env.Seq <= after {
		env = a.newest
	}
	env.Payload = event.OpenText{Text: string(a.text), TextAt: a.textAt, Reasoning: string(a.reasoning), ReasoningAt: a.reasoningAt}
	return env, len(a.text)+len(a.reasoning) > 0
}

// Working returns the numbers of the active conversations, the main one first.
func (r *Record) Working() []int {
	numbers := make([]int, 0, len(r.Branches))
	for n := range r.Branches {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers
}

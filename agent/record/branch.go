package record

import (
	"slices"

	"buddy/agent/event"
	"buddy/agent/model"
)

// Branch is a conversation that has not ended: the main one, a fork of it, or a subagent's.
type Branch struct {
	Agent       event.TaskStarted // of the subagent whose conversation it is; zero: of the main agent
	Open        bool              // an exchange has not ended, or can be continued
	CanContinue bool              // the exchange was interrupted and can be continued
	Paused      bool              // the exchange is a run of a workflow that is paused
	Answered    bool              // the newest answer was whole and called nothing
	Calls       map[string]*Call  // without a result, by id

	began event.Envelope // zero: the main conversation, or not known
	said  answer
}

// branch returns a conversation, which begins if it was not known.
func (r *Record) branch(number int) *Branch {
	b := r.Branches[number]
	if b == nil {
		b = &Branch{}
		put(&r.Branches, number, b)
	}
	return b
}

// begin notes that a task works on the conversation.
func (b *Branch) begin(p event.TaskStarted) {
	b.Open, b.CanContinue, b.Paused = p.Kind != event.CompactionTask, false, false
	if p.Kind == event.SubagentTask {
		b.Agent = p
	}
}

// rewind notes that a person went back in the conversation, while nothing ran. What it says from there on is not an open answer.
func (b *Branch) rewind() {
	*b = Branch{Agent: b.Agent, Answered: true, began: b.began}
}

// answer takes an event about an answer.
func (b *Branch) answer(env event.Envelope) {
	a := &b.said
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

// Said returns the stored text of an answer that broke off: of the attempt that said most.
func (b *Branch) Said() event.ModelMessage {
	now := event.ModelMessage{Message: model.Message{Content: string(b.said.stored)}, Reasoning: string(b.said.storedReasoning)}
	return Longer(b.said.earlier, now)
}

// Longer returns the one of two attempts at an answer that has more text.
func Longer(a, b event.ModelMessage) event.ModelMessage {
	if len(a.Message.Content) > len(b.Message.Content) {
		return a
	}
	return b
}

// answer is an answer that is not whole.
type answer struct {
	stored, storedReasoning []byte             // up to the last checkpoint
	earlier                 event.ModelMessage // the longest of the attempts that failed

	first, newest       event.Envelope // that made it grow since the last checkpoint
	text, reasoning     []byte         // since the last checkpoint
	textAt, reasoningAt int            // bytes of the answer before that
}

// grow notes an event that adds to the answer.
func (a *answer) grow(env event.Envelope) {
	if len(a.text)+len(a.reasoning) == 0 {
		a.first = env
	}
	a.newest = env
}

// save takes a checkpoint.
func (a *answer) save(p event.Checkpoint) {
	a.stored, a.storedReasoning = append(a.stored, p.Text...), append(a.storedReasoning, p.Reasoning...)
	a.textAt, a.text = p.TextAt+len(p.Text), a.text[:0]
	a.reasoningAt, a.reasoning = p.ReasoningAt+len(p.Reasoning), a.reasoning[:0]
}

// dropOpen forgets what no checkpoint has of an answer in a task that has ended.
func (a *answer) dropOpen(task int) {
	if a.newest.Task == task {
		a.text, a.reasoning = nil, nil
	}
}

// since returns what no checkpoint has as an event, for a reader who has all events up to a number; ok is false if that is nothing.
func (a *answer) since(after uint64) (env event.Envelope, ok bool) {
	env = a.first // where it begins, for a reader who has nothing of it
	if env.Seq <= after {
		env = a.newest
	}
	env.Payload = event.OpenText{Text: string(a.text), TextAt: a.textAt, Reasoning: string(a.reasoning), ReasoningAt: a.reasoningAt}
	return env, len(a.text)+len(a.reasoning) > 0
}

// Working returns the numbers of the conversations that have not ended, the main one first.
func (r *Record) Working() []int {
	numbers := make([]int, 0, len(r.Branches))
	for n := range r.Branches {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers
}

package agent

import (
	"context"
	"fmt"
	"sync"

	"buddy/agent/event"
	"buddy/agent/stream"
	"buddy/tools"
)

// questions are what the model asks the person (D24). The first answer wins.
type questions struct {
	stream *stream.Stream

	mu   sync.Mutex // guards open
	open map[string]chan event.QuestionAnswered
}

// ask waits for an answer, or for ctx to end.
func (q *questions) ask(ctx context.Context, task, turn int, callID, text string, choices []string) (string, error) {
	id := fmt.Sprintf("ask-%d-%s", task, newID())
	answer := make(chan event.QuestionAnswered, 1)
	q.mu.Lock()
	q.open[id] = answer
	q.stream.Publish(task, turn, event.QuestionAsked{ID: id, CallID: callID, Text: text, Choices: choices})
	q.mu.Unlock()
	select {
	case got := <-answer:
		if got.By == byNobody {
			return "", tools.ErrNobody
		}
		return got.Text, nil
	case <-ctx.Done():
		q.settle(task, event.QuestionAnswered{ID: id, By: "cancel"})
		return "", context.Cause(ctx)
	}
}

// settle answers a question and reports whether it was open.
func (q *questions) settle(task int, a event.QuestionAnswered) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	answer, ok := q.open[a.ID]
	if !ok {
		return false
	}
	delete(q.open, a.ID)
	q.stream.Publish(task, 0, a)
	answer <- a
	return true
}

// answer takes what a person says.
func (r *Runtime) answer(c event.Answer) {
	a := event.QuestionAnswered{ID: c.ID, Text: c.Text, By: "user"}
	if c.Nobody {
		a.Text, a.By = "", byNobody
	}
	if !r.asked.settle(0, a) {
		r.reject("question %q is not open", c.ID)
	}
}

// question returns how a call asks the person; nil when nobody is there.
func (r *Runtime) question(t *task, turn int, callID string) func(context.Context, string, []string) (string, error) {
	if !r.asks.attended() {
		return nil
	}
	return func(ctx context.Context, text string, choices []string) (string, error) {
		return r.asked.ask(ctx, t.id, turn, callID, text, choices)
	}
}

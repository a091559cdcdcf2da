package approval

import (
	"context"
	"fmt"
	"sync"

	"buddy/agent/event"
	"buddy/agent/redact"
	"buddy/agent/stream"
	"buddy/tools"
)

// Questions holds what calls of tools ask the person, until it is answered. It is safe for
// concurrent use; use NewQuestions.
type Questions struct {
	stream *stream.Stream
	redact *redact.Redactor

	mu   sync.Mutex // guards open
	open map[string]chan event.QuestionAnswered
}

// NewQuestions returns no questions, which will be asked in a stream. Secrets of questions and
// answers are taken out of the stream; who asked gets an answer as it was typed.
func NewQuestions(s *stream.Stream, r *redact.Redactor) *Questions {
	return &Questions{stream: s, redact: r, open: make(map[string]chan event.QuestionAnswered)}
}

// Ask asks the person for a call and waits for the answer, or for ctx to end. The error is
// [tools.ErrNobody] when nobody could be asked.
func (q *Questions) Ask(ctx context.Context, task, turn int, callID string, asked tools.Question) (string, error) {
	id := fmt.Sprintf("ask-%d-%s", task, stream.NewID())
	answer := make(chan event.QuestionAnswered, 1)
	q.mu.Lock()
	q.open[id] = answer
	q.stream.Publish(task, turn, event.QuestionAsked{
		ID: id, CallID: callID, From: asked.From, Text: q.redact.Text(asked.Text), Choices: asked.Choices,
	})
	q.mu.Unlock()
	select {
	case got := <-answer:
		if got.By == Nobody {
			return "", tools.ErrNobody
		}
		return got.Text, nil
	case <-ctx.Done():
		q.settle(task, event.QuestionAnswered{ID: id, By: "cancel"})
		return "", context.Cause(ctx)
	}
}

// settle answers a question and reports whether it was open.
func (q *Questions) settle(task int, a event.QuestionAnswered) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	answer, ok := q.open[a.ID]
	if !ok {
		return false
	}
	delete(q.open, a.ID)
	public := a
	public.Text = q.redact.Text(a.Text)
	q.stream.Publish(task, 0, public)
	answer <- a
	return true
}

// Answer settles a question as a person answered it. One that is not open is rejected.
func (q *Questions) Answer(c event.Answer) {
	a := event.QuestionAnswered{ID: c.ID, Text: c.Text, By: "user", Screen: c.Screen}
	if c.Nobody {
		a.Text, a.By = "", Nobody
	}
	if !q.settle(0, a) {
		q.stream.Reject("question %q is not open", c.ID)
	}
}

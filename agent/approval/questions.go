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

// Questions holds the open questions that tools ask the user. It is safe for concurrent use; use NewQuestions.
type Questions struct {
	stream *stream.Stream
	redact *redact.Redactor

	mu     sync.Mutex // guards the fields below
	open   map[string]openQuestion
	stored map[string]Answered // by call without a result: the newest question of an earlier process
}

// Answered is a question that an earlier process asked, and its answer. Both are stored with secrets removed.
type Answered struct {
	event.QuestionAsked
	Answer event.QuestionAnswered // zero: none is stored
}

type openQuestion struct {
	task   int
	answer chan event.QuestionAnswered // buffered: 1
}

// NewQuestions returns Questions that publish in a stream. Secrets are removed from questions and answers in the
// stream; the asking call gets the answer as typed.
func NewQuestions(s *stream.Stream, r *redact.Redactor) *Questions {
	return &Questions{stream: s, redact: r, open: make(map[string]openQuestion), stored: make(map[string]Answered)}
}

// Replay collects an earlier process's questions and answers, for calls without a result.
func (q *Questions) Replay(e event.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch p := e.(type) {
	case event.QuestionAsked:
		if p.CallID != "" && p.Gate == "" { // a workflow asks again about each unknown outcome
			q.stored[p.CallID] = Answered{QuestionAsked: p}
		}
	case event.QuestionAnswered:
		for call, a := range q.stored {
			if a.ID == p.ID {
				a.Answer = p
				q.stored[call] = a
			}
		}
	case event.ToolResult:
		delete(q.stored, p.CallID)
	}
}

// TakeAnswered returns the newest question that an earlier process asked for a call, and forgets it. ok is false unless
// the user answered the question, the call has no result yet, and no secret was removed from the stored answer.
func (q *Questions) TakeAnswered(call string) (a Answered, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	a = q.stored[call]
	delete(q.stored, call)
	return a, a.Answer.By == "user" && !redact.Masked(a.Answer.Text)
}

// Ask asks the user and waits for the answer, or until ctx ends. The error is [tools.ErrNobody] when nobody could be
// asked.
func (q *Questions) Ask(ctx context.Context, task, turn int, e event.QuestionAsked) (event.QuestionAnswered, error) {
	e.ID, e.Text = fmt.Sprintf("ask-%d-%s", task, stream.NewID()), q.redact.Text(e.Text)
	answer := make(chan event.QuestionAnswered, 1)
	q.mu.Lock()
	q.open[e.ID] = openQuestion{task, answer}
	q.stream.Publish(task, turn, e)
	q.mu.Unlock()
	select {
	case got := <-answer:
		if got.By == Nobody {
			return got, tools.ErrNobody
		}
		return got, nil
	case <-ctx.Done():
		q.settle(task, event.QuestionAnswered{ID: e.ID, By: "cancel"})
		return event.QuestionAnswered{}, context.Cause(ctx)
	}
}

func (q *Questions) settle(task int, a event.QuestionAnswered) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	asked, ok := q.open[a.ID]
	if !ok {
		return false
	}
	delete(q.open, a.ID)
	public := a
	public.Text = q.redact.Text(a.Text)
	q.stream.Publish(task, 0, public)
	asked.answer <- a
	return true
}

// Waits reports whether a task waits for the answer to a question.
func (q *Questions) Waits(task int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, asked := range q.open {
		if asked.task == task {
			return true
		}
	}
	return false
}

// Answer settles an open question with the user's answer. If the question is not open, the answer is rejected.
func (q *Questions) Answer(c event.Answer) {
	a := event.QuestionAnswered{ID: c.ID, Text: c.Text, By: "user", Edited: c.Edited, Screen: c.Screen}
	if c.Nobody {
		a.Text, a.By, a.Edited = "", Nobody, false
	}
	if !q.settle(0, a) {
		q.stream.Reject("question %q is not open", c.ID)
	}
}

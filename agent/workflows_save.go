package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/turn"
	format "buddy/extensions/workflow"
	"buddy/tools"
)

// WorkflowFile names a file to which a workflow may be written.
type WorkflowFile struct {
	Path  string
	Write func(text string) error // fails if there is such a file
}

// What is asked before a draft is written, before the paths.
const (
	writeTo   = "write it to "
	writeNone = "do not write it"
)

// save makes a workflow of the calls of the last exchange, and writes it if the person agrees.
func (w *workflowRuns) save(name string) {
	s := w.tasks
	if w.o.Draft == nil {
		s.stream.Reject("%v", errNoWorkflows)
		return
	}
	s.mu.Lock()
	messages := s.main.talk.Messages()
	s.mu.Unlock()
	description, made := lastCalls(messages)
	var calls []format.DraftCall
	for _, c := range made { // which a model may have written as it is used to
		if _, meant, err := s.selection.Tools().Resolve(tools.Call{Name: c.Name, Arguments: c.Arguments}); err == nil {
			calls = append(calls, format.DraftCall{Tool: meant.Name, Arguments: meant.Arguments})
		}
	}
	w.exchange("/workflow save "+name, func(ctx context.Context, x *turn.Exchange) (event.Outcome, error) {
		text, files, err := w.o.Draft(name, description, calls)
		if err != nil {
			return event.Failed, fmt.Errorf("workflow %s was not saved: %w", name, err)
		}
		q := event.QuestionAsked{From: "workflow save", Gate: "save", Text: strings.TrimRight(text, "\n")}
		for _, f := range files {
			q.Choices = append(q.Choices, writeTo+f.Path)
		}
		q.Choices = append(q.Choices, writeNone)
		a, err := turn.AskGate(ctx, s.loop, x, q)
		switch {
		case ctx.Err() != nil:
			return event.Cancelled, nil
		case errors.Is(err, tools.ErrNobody):
			return event.Failed, fmt.Errorf("workflow %s was not saved, because nobody is there to approve it", name)
		case err != nil:
			return event.Failed, err
		}
		for _, f := range files {
			if a.Text == writeTo+f.Path {
				if err := f.Write(text); err != nil {
					return event.Failed, fmt.Errorf("workflow %s was not saved: %w", name, err)
				}
				s.stream.Publish(0, 0, event.Notice{Text: f.Path + " is written; /workflow " + name + " runs it", Code: "workflow"})
				return event.Completed, nil
			}
		}
		s.stream.Publish(0, 0, event.Notice{Text: "workflow " + name + " was not written", Code: "workflow"})
		return event.Completed, nil
	})
}

// lastCalls returns the last prompt that a model answered with calls, and those that ran.
func lastCalls(messages []model.Message) (prompt string, calls []model.ToolCall) {
	failed := make(map[string]bool)
	for i := len(messages) - 1; i >= 0; i-- {
		switch m := messages[i]; {
		case m.Role == model.Tool && m.Failed:
			failed[m.ToolCallID] = true
		case m.Role == model.Assistant:
			var these []model.ToolCall
			for _, c := range m.ToolCalls {
				if !failed[c.ID] {
					these = append(these, c)
				}
			}
			calls = append(these, calls...)
		case m.Role == model.User && m.Kind == model.Prompt && len(calls) > 0:
			return conversation.Undated(m.Content), calls
		}
	}
	return "", calls
}

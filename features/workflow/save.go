package workflow

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/turn"
	"buddy/extensions"
	"buddy/extensions/workflow"
	"buddy/tools"
)

// Choices for a draft. The first is followed by a path.
const (
	writeTo   = "write it to "
	writeNone = "do not write it"
)

// save makes a workflow of the calls of the last exchange, and writes it if the person agrees.
func (p *Part) save(name string) {
	if p.All == nil {
		p.Stream.Reject("%v", errNone)
		return
	}
	p.Start("/workflow save "+name, func(ctx context.Context, x *turn.Exchange) (event.Outcome, error) {
		description, made := lastCalls(x.Talk().Messages())
		var calls []workflow.DraftCall
		for _, c := range made { // models may use other spellings
			if _, meant, err := p.session.Selection.Tools().Resolve(tools.Call{Name: c.Name, Arguments: c.Arguments}); err == nil {
				calls = append(calls, workflow.DraftCall{Tool: meant.Name, Arguments: meant.Arguments})
			}
		}
		text, err := workflow.Draft(name, description, calls, p.Tools)
		if err != nil {
			return event.Failed, fmt.Errorf("workflow %s was not saved: %w", name, err)
		}
		q := event.QuestionAsked{From: "workflow save", Gate: "save", Text: strings.TrimRight(text, "\n")}
		for _, dir := range p.Dirs {
			q.Choices = append(q.Choices, writeTo+filepath.Join(dir, string(extensions.Workflow), name+".yaml"))
		}
		q.Choices = append(q.Choices, writeNone)
		a, err := turn.NewSteps(p.Loop, x).Ask(ctx, question, q)
		switch {
		case ctx.Err() != nil:
			return event.Cancelled, nil
		case errors.Is(err, tools.ErrNobody):
			return event.Failed, fmt.Errorf("workflow %s was not saved, because nobody is there to approve it", name)
		case err != nil:
			return event.Failed, err
		}
		path, wanted := strings.CutPrefix(a.Text, writeTo)
		if !wanted || !slices.Contains(q.Choices, a.Text) {
			p.note("workflow " + name + " was not written")
			return event.Completed, nil
		}
		if err := writeNew(path, text); err != nil {
			return event.Failed, fmt.Errorf("workflow %s was not saved: %w", name, err)
		}
		p.note(path + " is written; /workflow " + name + " runs it")
		return event.Completed, nil
	})
}

// lastCalls returns the last prompt that led to calls, and those of its calls that succeeded.
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

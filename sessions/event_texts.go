package sessions

import (
	"slices"

	"buddy/agent/action"
	"buddy/agent/event"
)

// eventTexts calls f for each text of an event that a person may have read or written, and returns the event with the
// results. It skips ids, names and data that a provider needs back unchanged.
func eventTexts(e event.Event, f func(string) string) event.Event {
	switch p := e.(type) {
	case event.PromptSubmitted:
		return edited(&p, f, &p.Text)
	case event.ModelMessage:
		return messageTexts(p, f)
	case event.Checkpoint:
		return edited(&p, f, &p.Text, &p.Reasoning)
	case event.ToolRequested:
		p.Action = actionTexts(p.Action, f)
		return edited(&p, f, &p.Arguments)
	case event.ApprovalAsked:
		p.Action = actionTexts(p.Action, f)
		p.Context.Memory = memoryTexts(p.Context.Memory, f)
		return edited(&p, f, &p.Verdict.Reason)
	case event.ApprovalAnswered:
		return edited(&p, f, &p.Reason)
	case event.ToolResult: // the tail is easier to read
		if p.Stdout != nil {
			text := f(*p.Stdout)
			p.Stdout = &text
		}
		return edited(&p, f, &p.Tail, &p.Result, &p.Aside, &p.Shown)
	case event.ResultSpilled:
		return edited(&p, f, &p.Result)
	case event.ContextCompacted:
		return edited(&p, f, &p.Summary, &p.Restored)
	default:
		return remarkTexts(e, f)
	}
}

func memoryTexts(m action.Memory, f func(string) string) action.Memory {
	m.Said = slices.Clone(m.Said)
	for i, said := range m.Said {
		m.Said[i] = f(said)
	}
	m.Begins = f(m.Begins)
	return m
}

func actionTexts(a action.Action, f func(string) string) action.Action {
	a.Command, a.Path, a.Preview, a.Why = f(a.Command), f(a.Path), f(a.Preview), f(a.Why)
	return a
}

func messageTexts(p event.ModelMessage, f func(string) string) event.Event {
	p.Reasoning, p.Message.Content = f(p.Reasoning), f(p.Message.Content)
	calls := append(p.Message.ToolCalls[:0:0], p.Message.ToolCalls...)
	for i := range calls {
		calls[i].Arguments = f(calls[i].Arguments)
	}
	p.Message.ToolCalls = calls
	return p
}

// edited returns an event with f applied to the given texts in it.
func edited[E event.Event](e *E, f func(string) string, all ...*string) event.Event {
	for _, text := range all {
		*text = f(*text)
	}
	return *e
}

// remarkTexts does the same for messages of buddy itself.
func remarkTexts(e event.Event, f func(string) string) event.Event {
	switch p := e.(type) {
	case event.Notice:
		return edited(&p, f, &p.Text)
	case event.Warning:
		return edited(&p, f, &p.Text, &p.NextStep)
	case event.Error:
		return edited(&p, f, &p.Text, &p.NextStep)
	case event.Interrupted:
		return edited(&p, f, &p.Text)
	case event.ModelRetry:
		return edited(&p, f, &p.Why)
	case event.ModelFallback:
		return edited(&p, f, &p.Why, &p.Detail)
	case event.TaskStarted, event.TaskQueued, event.PaneOpened, event.SessionRenamed, event.SessionCreated:
		return titleTexts(p, f)
	case event.TaskFinished:
		return edited(&p, f, &p.Error)
	case event.GoalSet, event.GoalChecked, event.GoalChanged:
		return goalTexts(p, f)
	case event.PaneLost:
		return edited(&p, f, &p.Why)
	case event.HistoryRewound:
		return edited(&p, f, &p.Prompt)
	case event.FileRestored:
		p.Prompts = slices.Clone(p.Prompts)
		for i, prompt := range p.Prompts {
			p.Prompts[i] = f(prompt)
		}
		return p
	}
	return e
}

// titleTexts does the same for events with a title as their only text.
func titleTexts(e event.Event, f func(string) string) event.Event {
	switch p := e.(type) {
	case event.TaskStarted:
		return edited(&p, f, &p.Title)
	case event.TaskQueued:
		return edited(&p, f, &p.Title)
	case event.PaneOpened:
		return edited(&p, f, &p.Title)
	case event.SessionRenamed:
		return edited(&p, f, &p.Title)
	case event.SessionCreated:
		return edited(&p, f, &p.Title)
	}
	return e
}

// goalTexts does the same for events about a goal.
func goalTexts(e event.Event, f func(string) string) event.Event {
	switch p := e.(type) {
	case event.GoalSet:
		return edited(&p, f, &p.Goal, &p.Check)
	case event.GoalChecked:
		return edited(&p, f, &p.Why)
	case event.GoalChanged:
		return edited(&p, f, &p.Reason)
	}
	return e
}

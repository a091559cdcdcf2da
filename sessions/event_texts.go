package sessions

import (
	"buddy/agent/action"
	"buddy/agent/event"
)

// Texts calls f for each text of an event that a person may have read or written, and returns
// the event with the results. It skips ids, names and data that a provider needs back
// unchanged.
func Texts(e event.Event, f func(string) string) event.Event {
	switch p := e.(type) {
	case event.PromptSubmitted:
		p.Text = f(p.Text)
		return p
	case event.ModelMessage:
		return messageTexts(p, f)
	case event.Checkpoint:
		p.Text, p.Reasoning = f(p.Text), f(p.Reasoning)
		return p
	case event.ToolRequested:
		p.Action = actionTexts(p.Action, f)
		p.Arguments = f(p.Arguments)
		return p
	case event.ApprovalAsked:
		p.Action = actionTexts(p.Action, f)
		p.Verdict.Reason = f(p.Verdict.Reason)
		return p
	case event.ApprovalAnswered:
		p.Reason = f(p.Reason)
		return p
	case event.ToolResult:
		p.Tail, p.Result = f(p.Tail), f(p.Result) // the tail is easier to read
		return p
	case event.ResultSpilled:
		p.Result = f(p.Result)
		return p
	case event.ContextCompacted:
		p.Summary, p.Restored = f(p.Summary), f(p.Restored)
		return p
	default:
		return remarkTexts(e, f)
	}
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

// remarkTexts is Texts for messages of buddy itself.
func remarkTexts(e event.Event, f func(string) string) event.Event {
	switch p := e.(type) {
	case event.Notice:
		p.Text = f(p.Text)
		return p
	case event.Warning:
		p.Text, p.NextStep = f(p.Text), f(p.NextStep)
		return p
	case event.Error:
		p.Text, p.NextStep = f(p.Text), f(p.NextStep)
		return p
	case event.Interrupted:
		p.Text = f(p.Text)
		return p
	case event.ModelRetry:
		p.Why = f(p.Why)
		return p
	case event.ModelFallback:
		p.Why = f(p.Why)
		return p
	case event.TaskStarted:
		p.Title = f(p.Title)
		return p
	case event.TaskQueued:
		p.Title = f(p.Title)
		return p
	case event.TaskFinished:
		p.Error = f(p.Error)
		return p
	case event.PaneOpened:
		p.Title = f(p.Title)
		return p
	case event.PaneLost:
		p.Why = f(p.Why)
		return p
	case event.SessionRenamed:
		p.Title = f(p.Title)
		return p
	case event.SessionCreated:
		p.Title = f(p.Title)
		return p
	}
	return e
}

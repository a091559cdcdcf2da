package acp

import (
	"context"
	"strings"

	"buddy/agent/event"
	"buddy/agent/plan"
	"buddy/app/client"
	"buddy/app/plain"
	"buddy/texts"
	"buddy/views/words"
)

// askOpen shows the editor the approvals and questions that were already open when it connected. The caller holds s.mu.
func (s *session) askOpen() {
	for _, a := range s.state.Approvals {
		s.askApproval(a)
	}
	for _, q := range s.state.Questions {
		s.askQuestion(q)
	}
}

// ask shows a new approval or question to the editor, and withdraws it when it has been answered. The caller holds
// s.mu.
func (s *session) ask(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.ApprovalAsked:
		s.askApproval(p)
	case event.QuestionAsked:
		s.askQuestion(p)
	case event.ApprovalAnswered:
		s.withdraw(p.ID)
	case event.QuestionAnswered:
		s.withdraw(p.ID)
	}
}

func (s *session) withdraw(id string) {
	if cancel := s.asked[id]; cancel != nil {
		cancel()
		delete(s.asked, id)
	}
}

// show calls f, which asks the editor, in a new goroutine. The context of f ends when another screen has answered. The
// caller holds s.mu.
func (s *session) show(id string, f func(context.Context)) {
	if s.watches {
		return
	}
	s.updates.flush()
	ctx, cancel := context.WithCancel(s.conn.ctx)
	s.withdraw(id)
	s.asked[id] = cancel
	go func() {
		defer cancel()
		f(ctx)
	}()
}

// over reports whether a request that show has started needs no answer: another screen has answered, or the editor is
// gone. The connection's context ends a moment before ctx, which is derived from it.
func (s *session) over(ctx context.Context) bool { return ctx.Err() != nil || s.conn.ctx.Err() != nil }

// callOf returns the id by which the editor knows a call. The caller holds s.mu.
func (s *session) callOf(id string) string {
	if c := s.updates.calls[id]; c != nil && !c.hidden {
		return c.id
	}
	return id
}

// kindsOf maps decisions to the protocol's kinds of options.
var kindsOf = map[event.Decision]string{event.Once: "allow_once", event.Keep: "allow_once", event.Similar: "allow_always", event.Try: "allow_once", event.Deny: "reject_once"}

// denyWhy is the id of the option to deny a call and give a reason.
const denyWhy = "deny_why"

// askApproval asks the editor to approve a call. The caller holds s.mu.
func (s *session) askApproval(a event.ApprovalAsked) {
	var options []permission
	for _, one := range words.Answers(a, false) {
		if one.Decision != event.Deny {
			options = append(options, permission{string(one.Decision), clean(texts.OneLine(one.Label)), kindsOf[one.Decision]})
		}
	}
	options = append(options, permission{string(event.Deny), "No", "reject_once"})
	if s.forms {
		options = append(options, permission{denyWhy, "No, and tell the agent why", "reject_once"})
	}
	shown := toolCall{ID: s.callOf(a.CallID), Kind: kindOf(a.Action.Tool, a.Action), Status: "pending", Content: diffs(a.Action, s.updates.cwd)}
	question, counts := words.Question(a)
	if shown.Title = clean(strings.TrimSpace(question + " " + counts)); len(shown.Content) == 0 {
		shown.Title = clean(texts.OneLine(words.Asked(a).Line()))
		shown.Content = output([]byte(plain.ApprovalText(a)))
	}
	s.show(a.ID, func(ctx context.Context) {
		chosen := s.permit(ctx, shown, options)
		answer := event.AnswerApproval{ID: a.ID, Decision: event.Decision(chosen)}
		switch {
		case s.over(ctx):
			return
		case chosen == "":
			s.stop()
			return
		case chosen == denyWhy:
			answer.Decision = event.Deny
			answer.Reason, _ = s.form(ctx, "Why not? The agent gets your reason.", nil)
			if s.over(ctx) {
				return
			}
		}
		s.process.Send(answer)
	})
}

// permit requests permission from the editor, and returns the id of the option that the user chose, "" for none.
func (s *session) permit(ctx context.Context, shown toolCall, options []permission) string {
	var result permissionOutcome
	err := s.conn.ask(ctx, "session/request_permission", map[string]any{"sessionId": s.id, "toolCall": shown, "options": options}, &result)
	if err != nil || result.Outcome.Outcome != "selected" {
		return ""
	}
	for _, o := range options {
		if o.ID == result.Outcome.Option {
			return o.ID
		}
	}
	return ""
}

// otherField is the form field for an answer that is not among the choices.
const otherField = "other"

// form makes the editor show a form for a text answer, with optional choices. ok is false if the user did not submit
// it.
func (s *session) form(ctx context.Context, message string, choices []string) (text string, ok bool) {
	fields := map[string]any{"answer": map[string]any{"type": "string", "title": "Answer"}}
	if len(choices) > 0 {
		fields["answer"] = map[string]any{"type": "string", "title": "Answer", "enum": choices}
		fields[otherField] = map[string]any{"type": "string", "title": "Or type your own answer"}
	}
	var result formAnswer
	err := s.conn.ask(ctx, "elicitation/create", map[string]any{
		"sessionId": s.id, "mode": "form", "message": clean(message),
		"requestedSchema": map[string]any{"type": "object", "properties": fields},
	}, &result)
	if err != nil || result.Action != "accept" {
		return "", false
	}
	for _, field := range []string{otherField, "answer"} {
		if text, _ := result.Content[field].(string); strings.TrimSpace(text) != "" {
			return strings.TrimSpace(text), true
		}
	}
	return "", true
}

// askQuestion asks the editor a question from the model, an MCP server or a workflow. Questions about a plan or a gate
// work in every editor, because they are sent as requests for permission. The caller holds s.mu.
func (s *session) askQuestion(q event.QuestionAsked) {
	id := s.callOf(q.CallID)
	s.show(q.ID, func(ctx context.Context) {
		if q.Plan != "" || q.Gate != "" {
			s.choose(ctx, id, q)
			return
		}
		if !s.forms {
			s.unanswered(ctx, q)
			return
		}
		message := q.Text
		if q.From != "" {
			message = q.From + " asks: " + q.Text
		}
		text, ok := s.form(ctx, message, q.Choices)
		if !s.over(ctx) {
			s.process.Send(event.Answer{ID: q.ID, Text: text, Nobody: !ok})
		}
	})
}

// unanswered handles a question that the editor can't show: it leaves the question to another attached screen, or
// answers that nobody is there.
func (s *session) unanswered(ctx context.Context, q event.QuestionAsked) {
	d, err := client.Ask[client.Description](ctx, s.process, client.Describe{})
	if err == nil && d.Screens > 1 {
		return
	}
	s.say(plain.QuestionText(q) + "\n\nThis editor can't show questions, so the question was not answered.")
	s.process.Send(event.Answer{ID: q.ID, Nobody: true})
}

// choose asks the user to decide about a plan or a workflow's gate.
func (s *session) choose(ctx context.Context, id string, q event.QuestionAsked) {
	shown := toolCall{ID: id, Title: plan.Question, Kind: "switch_mode", Status: "pending"}
	text := plan.Shown(q.Text)
	if q.Plan == "" {
		shown.Title, shown.Kind, text = clean(texts.OneLine(q.Text)), "other", plain.QuestionText(q)
	}
	shown.Content = []callContent{{Type: "content", Content: textBlock(text)}}
	var options []permission
	for _, c := range q.Choices {
		kind := "allow_once"
		if c == event.PlanKeep || c == event.PlanDiscard || c == event.GateDeny {
			kind = "reject_once"
		}
		label := c
		if q.Plan != "" {
			label = plan.Label(c, q.Before)
		}
		options = append(options, permission{c, clean(texts.OneLine(label)), kind})
	}
	chosen := s.permit(ctx, shown, options)
	switch {
	case s.over(ctx):
	case chosen == "":
		s.stop()
	default:
		s.process.Send(event.Answer{ID: q.ID, Text: chosen})
	}
}

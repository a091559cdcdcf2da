package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"buddy/agent/action"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/hooks"
	"buddy/agent/model"
	"buddy/agent/reminder"
)

// where returns the position in the session that hook programs get.
func (l *Loop) where(x *Exchange, turn int) hooks.Where {
	mode, _ := l.p.Approvals.Mode()
	return hooks.Where{Task: x.task, Turn: turn, Mode: action.Stricter(mode, l.agent.Most), Agent: l.agent.ID, AgentType: l.agent.Type}
}

// attach adds hook output to the conversation permanently.
func (l *Loop) attach(x *Exchange, turn int, text string) {
	if text != "" {
		x.tellOnce(turn, reminder.Hook, text)
	}
}

// runPromptHooks adds the waiting prompts to the conversation, and runs the hooks on all new prompts. It returns an
// error when the exchange must end because its only prompt was refused.
func (l *Loop) runPromptHooks(ctx context.Context, x *Exchange) error {
	if x.turns > 0 {
		x.Say(x.conv.Steer(x.task))
	}
	prompts, programs := x.prompts, l.o.Programs
	x.prompts = nil
	for _, p := range prompts {
		x.unsent = append(x.unsent, p.ID)
	}
	if l.agent.Type != "" { // a subagent's task is not a person's prompt
		if x.turns == 0 {
			l.attach(x, 0, programs.Tell(ctx, l.where(x, 0), hooks.SubagentStart, l.agent.Type, nil).Context)
		}
		return nil
	}
	if programs == nil {
		x.newPrompts = prompts
		return nil
	}
	tellStart(x, programs.Started(ctx))
	l.attach(x, 0, programs.Later())
	refused := 0
	var last error
	for _, p := range prompts {
		if p.Kind == event.Typed {
			continue
		}
		m := programs.Tell(ctx, l.where(x, 0), hooks.UserPromptSubmit, "", map[string]any{"prompt": p.Text})
		switch {
		case m.Halt:
			return &HookTerminated{m.HaltedBy + ": " + cmp.Or(m.Why, "it gave no reason")}
		case m.BlockedBy != "":
			refused++
			x.conv.Block(x.task, event.PromptBlocked{ID: p.ID, By: m.BlockedBy, Reason: m.Blocked})
			last = fmt.Errorf("the hook %s refused the prompt: %s", m.BlockedBy, m.Blocked)
			if x.turns > 0 {
				l.p.Stream.Publish(x.task, 0, event.Warning{Text: last.Error(), Code: "hook"})
			}
		default:
			x.newPrompts = append(x.newPrompts, p)
			l.attach(x, 0, m.Context)
		}
	}
	if x.turns == 0 && refused > 0 && refused == len(prompts) {
		return last
	}
	return nil
}

// maxHookContinuations limits how often in a row hooks may keep an exchange from ending.
const maxHookContinuations = 8

// continuedByHook reports whether a hook keeps an exchange from ending with its answer.
func (l *Loop) continuedByHook(ctx context.Context, x *Exchange) bool {
	stop := hooks.Stop
	if l.agent.Type != "" {
		stop = hooks.SubagentStop
	}
	if !l.o.Programs.Has(stop) {
		return false
	}
	if x.hookContinuations == maxHookContinuations {
		l.p.Stream.Publish(x.task, 0, event.Notice{Text: fmt.Sprintf("hooks kept the answer from ending %d times in a row: it ends now", maxHookContinuations), Code: "hook"})
		return false
	}
	m := l.o.Programs.Tell(ctx, l.where(x, 0), stop, l.agent.Type, map[string]any{
		"stop_hook_active": x.hookContinuations > 0, "last_assistant_message": x.response, "background_tasks": l.p.Running(x.task),
	})
	if m.BlockedBy == "" || m.Halt || ctx.Err() != nil {
		return false
	}
	x.hookContinuations++
	if why := m.Told(); why != "" { // always sent: without the reason the model would not know why it continues
		x.tellOnce(0, reminder.HookStop, why)
	}
	return true
}

// failed tells the hooks that an exchange failed.
func (l *Loop) failed(ctx context.Context, x *Exchange, err error) {
	if !l.o.Programs.Has(hooks.StopFailure) {
		return
	}
	kind := failureKind(err)
	l.o.Programs.Tell(ctx, l.where(x, 0), hooks.StopFailure, kind, map[string]any{"error": kind, "error_details": err.Error(), "last_assistant_message": x.response})
}

// failureKind returns the name that hooks get for a model's error.
func failureKind(err error) string {
	var e *model.Error
	switch {
	case errors.Is(err, ErrCutOff):
		return "max_output_tokens"
	case !errors.As(err, &e):
		return "unknown"
	case e.Status == http.StatusTooManyRequests:
		return "rate_limit"
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
		return "authentication_failed"
	case e.Status == http.StatusPaymentRequired:
		return "billing_error"
	case e.Status >= 500:
		return "server_error"
	case e.Status >= 400:
		return "invalid_request"
	}
	return "unknown"
}

// compacted tells the hooks about a compaction.
func (l *Loop) compacted(ctx context.Context, x *Exchange, did *event.ContextCompacted) {
	programs := l.o.Programs
	if programs == nil {
		return
	}
	m := programs.Tell(ctx, l.where(x, 0), hooks.PostCompact, x.room.Trigger(), map[string]any{"trigger": x.room.Trigger(), "compact_summary": did.Summary})
	l.attach(x, 0, m.Told())
	if l.agent.Type == "" {
		m = programs.Tell(ctx, l.where(x, 0), hooks.SessionStart, "compact", map[string]any{"source": "compact"})
		tellStart(x, m.Context)
	}
}

// tellStart adds the output of session start hooks to the conversation. It replaces the output of an earlier start,
// because the hooks run at each resume.
func tellStart(x *Exchange, text string) {
	if text != "" {
		conversation.AttachStart(x.conv, x.task, text)
	}
}

// relay adds hook output about the results of a turn to the conversation, after all results.
func (l *Loop) relay(x *Exchange, turn int) {
	l.attach(x, turn, strings.Join(take(x, &x.results.hookTexts), "\n\n"))
}

// TellsIdle reports whether a hook wants to know that the session waits for a prompt.
func (l *Loop) TellsIdle() bool { return l.o.Programs.Wants(hooks.Notification, idleKind) }

const idleKind = "idle_prompt"

// NotifyIdle tells the hooks that the session waits for a prompt, without waiting for them.
func (l *Loop) NotifyIdle(x *Exchange) { l.notify(x, 0, idleKind, "buddy is waiting for your input") }

// notify tells the hooks that something waits for the person, without waiting for them.
func (l *Loop) notify(x *Exchange, turn int, kind, text string) {
	l.o.Programs.Notify(l.where(x, turn), kind, text)
}

package turn

import (
	"context"
	"fmt"
	"strings"

	"buddy/agent/action"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/inject"
	"buddy/agent/model"
	"buddy/agent/redact"
	"buddy/agent/reminder"
)

// remind adds reminders before the next request: lasting ones to the conversation, and those for this request only to
// x.now, which leaves the cached prefix unchanged. No call is open then, so no reminder separates a call from its
// result.
func (l *Loop) remind(ctx context.Context, x *Exchange) {
	x.now = nil
	if l.o.Reminders == nil {
		return
	}
	n := l.o.Reminders.Collect(ctx, snapshot(l, x), harmless(l.o.Redact))
	if len(n.Late) > 0 {
		l.p.Stream.Publish(x.task, 0, event.Notice{
			Text: fmt.Sprintf("buddy skips the reminder %s for a while: preparing it took longer than %s", strings.Join(n.Late, ", "), reminder.Patience),
			Code: "reminders",
		})
	}
	if n.Once != "" {
		x.conv.Attach(x.task, 0, event.ReminderAttached{Kinds: n.Kinds, Text: n.Once, States: n.States, Seen: n.Seen})
	}
	conversation.Know(x.conv, n.Known)
	if n.Now != "" {
		x.now = []model.Message{{Role: model.User, Kind: model.Reminder, Content: n.Now}}
	}
}

// snapshot returns the current state of an exchange for reminders.
func snapshot(l *Loop, x *Exchange) reminder.Snapshot {
	info := l.model(x).Info()
	mode, _ := l.p.Approvals.Mode()
	spent, most := l.p.Ledger.Spent(&x.used)
	now := reminder.Snapshot{
		Subagent: l.agent.Type != "", Task: x.task, Turn: l.Turns(), Blocks: info.Blocks != "", Mode: action.Stricter(mode, l.agent.Most), Model: info.Model,
		Date: conversation.Today(info, l.o.Now, l.o.Dates), Cost: reminder.Level{Used: int64(spent), Limit: int64(most)},
	}
	now.Fill.Limit = int64(l.p.Selection.KnownWindow())
	conversation.Describe(x.conv, &now)
	return now
}

// harmless returns a function that removes secrets and prompt injections from an external text.
func harmless(secrets *redact.Redactor) func(string) string {
	return func(text string) string {
		text = secrets.Text(text)
		return inject.Defuse(text, inject.Scan(text))
	}
}

// tellOnce adds a text of a kind to the conversation.
func (x *Exchange) tellOnce(turn int, kind, text string) {
	x.conv.Attach(x.task, turn, event.ReminderAttached{Kinds: []string{kind}, Text: reminder.Wrap(text)})
}

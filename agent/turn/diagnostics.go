package turn

import (
	"context"

	"buddy/agent/event"
	"buddy/agent/reminder"
	"buddy/tools"
)

// Diagnostics finds out what is wrong with files that tools have changed.
type Diagnostics interface {
	// Changed takes up what a call has changed on a target, and returns what that broke, "" for
	// nothing. It waits a second for that at the most.
	Changed(ctx context.Context, target string, files []tools.Before) string
	// Late returns what came after that wait, "" for nothing. It does not wait.
	Late() string
}

// diagnose adds to the result of a call what the files that it has changed are wrong with.
func (b *batch) diagnose(ctx context.Context, j *job, res *tools.Result) {
	if b.loop.o.Diagnostics == nil || len(j.changed) == 0 {
		return
	}
	if text := b.loop.o.Diagnostics.Changed(ctx, j.call.Planned.Target, j.changed); text != "" {
		res.Tell(text)
		res.Tail += "\n" + text
	}
}

// tellDiagnostics tells the model what came too late for the results of its calls.
func (l *Loop) tellDiagnostics(x *Exchange) {
	if l.o.Diagnostics == nil {
		return
	}
	text := l.o.Redact.Text(l.o.Diagnostics.Late())
	if text == "" {
		return
	}
	text = marked(l.p, x, 0, "what language servers say", text)
	x.talk.Attach(x.task, 0, event.ReminderAttached{Kinds: []string{reminder.Diagnostics}, Text: reminder.Wrap(text)})
}

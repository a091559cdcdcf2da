package turn

import (
	"context"
	"errors"

	"buddy/agent/event"
	"buddy/agent/memory"
	"buddy/tools"
)

// remember keeps the reason of a denial where the person chose that, and says so.
func remember(ctx context.Context, b *batch, j *job, a event.ApprovalAnswered) {
	if a.Remember == "" || a.Remember == event.RememberNothing || b.loop.o.Memory == nil {
		return
	}
	scope := memory.Scope(a.Remember)
	c, err := b.loop.o.Memory.Remember(ctx, scope, memory.Denied{Call: j.call.ID, Action: j.call.Planned, Reason: a.Reason})
	if err != nil {
		b.publish(event.Warning{Text: "not remembered: " + err.Error(), Code: memory.Code})
		return
	}
	b.publish(event.Notice{Text: b.loop.o.Memory.Kept(scope, c), Code: memory.Code})
}

// propose notes what the model wants to be remembered, for the person to accept, and says so.
func propose(ctx context.Context, b *batch, l tools.Lesson) (id string, err error) {
	if b.loop.o.Memory == nil {
		return "", errors.New("there is no memory in this session")
	}
	d := memory.Draft{Scope: memory.Scope(l.Scope), Kind: memory.Kind(l.Kind), Text: l.Text}
	p, err := b.loop.o.Memory.Propose(ctx, d, "model")
	if err != nil {
		return "", err
	}
	b.publish(event.Notice{Text: b.loop.o.Memory.Waits(p), Code: memory.Code})
	return p.ID, nil
}

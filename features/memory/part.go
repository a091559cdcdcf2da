package memory

import (
	"context"
	"errors"
	"sync"

	"buddy/agent/event"
	"buddy/agent/instructions"
	"buddy/agent/reminder"
	"buddy/agent/turn"
	"buddy/features/feature"
	"buddy/tools"
)

// Feature adds memory to sessions. Its part is a [Part].
var Feature = &feature.Feature{
	Commands: []feature.Command{memoryCommand, rememberCommand},
	Part:     func(s feature.Session) turn.Part { return Part{Store: memoryOf(s)} },
}

// Part connects the memory to the turns of a session.
type Part struct {
	turn.Nothing
	*Store
}

// Name implements turn.Part.
func (Part) Name() string { return "memory" }

// Equip lets a call propose entries, and turns the reason of its denial into an entry.
func (p Part) Equip(a turn.Asking, call *tools.Call) {
	call.Remember = func(ctx context.Context, l tools.Lesson) (id string, err error) {
		one, err := p.Propose(ctx, Draft{Scope: Scope(l.Scope), Kind: Kind(l.Kind), Text: l.Text}, "model")
		if err != nil {
			return "", err
		}
		a.Publish(event.Notice{Text: p.Waits(one), Code: Code})
		return one.ID, nil
	}
	a.Teaches(p.Asked, func(ctx context.Context, denied tools.Call, answer event.ApprovalAnswered) {
		if answer.Remember == "" || answer.Remember == event.RememberNothing {
			return
		}
		scope := Scope(answer.Remember)
		c, err := p.Remember(ctx, scope, Denied{Call: denied.ID, Action: denied.Planned, Reason: answer.Reason})
		if err != nil {
			a.Publish(event.Warning{Text: "not remembered: " + err.Error(), Code: Code})
			return
		}
		a.Publish(event.Notice{Text: p.Kept(scope, c), Code: Code})
	})
}

// Unoffered hides the tool remember where memory is off or does not observe.
func (p Part) Unoffered() []string {
	if p.ended() == nil && p.o.Dir != "" {
		return nil
	}
	return []string{"remember"}
}

// Generator returns the source of the memory's reminders.
func (p Part) Generator() reminder.Generator {
	return reminder.Generator{Kind: reminder.Memory, Say: p.Reminder}
}

// After wraps a function that reads instruction files, and adds the entries of memory. The first call also runs
// Distill.
func (p Part) After(read func(context.Context) (instructions.Set, error)) func(context.Context) (instructions.Set, error) {
	var first sync.Once
	return func(ctx context.Context) (instructions.Set, error) {
		set, err := read(ctx)
		first.Do(func() {
			learned, failed := p.Distill(ctx)
			if failed != nil {
				p.o.Publish(event.Warning{Text: "nothing was learned: " + failed.Error(), Code: Code})
			}
			p.notify(learned.Text())
		})
		more, listing, failed := p.Instructions(ctx)
		p.notify(listing.Skipped())
		p.notify(listing.Stale())
		set.Files, set.Rules = append(set.Files, more.Files...), append(set.Rules, more.Rules...)
		return set, errors.Join(err, failed)
	}
}

// notify publishes a notice unless the text is empty.
func (p Part) notify(text string) {
	if text != "" {
		p.o.Publish(event.Notice{Text: text, Code: Code})
	}
}

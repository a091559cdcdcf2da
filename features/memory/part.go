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

// Feature is the memory: its part in sessions is a [Part].
var Feature = &feature.Feature{
	Commands: []feature.Command{memoryCommand, rememberCommand},
	Part:     func(s feature.Session) turn.Part { return Part{Store: memoryOf(s)} },
}

// Part is the memory of a session as it takes part in exchanges.
type Part struct {
	turn.Nothing
	*Store
}

// Name names the part.
func (Part) Name() string { return "memory" }

// Equip lets a call propose what to remember, and teach when the person denies it.
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

// Unoffered returns the tools that a session has only with a memory that observes: what proposes what to remember.
func (p Part) Unoffered() []string {
	if p.ended() == nil && p.o.Dir != "" {
		return nil
	}
	return []string{"remember"}
}

// Generator returns what tells models of the memory during a session.
func (p Part) Generator() reminder.Generator {
	return reminder.Generator{Kind: reminder.Memory, Say: p.Reminder}
}

// After returns what reads the instruction files, the memory after them. At first it learns what the sessions before have
// taught.
func (p Part) After(read func(context.Context) (instructions.Set, error)) func(context.Context) (instructions.Set, error) {
	var first sync.Once
	return func(ctx context.Context) (instructions.Set, error) {
		set, err := read(ctx)
		first.Do(func() {
			learned, failed := p.Distill(ctx)
			if failed != nil {
				p.o.Publish(event.Warning{Text: "nothing was learned: " + failed.Error(), Code: Code})
			}
			p.say(learned.Text())
		})
		more, listing, failed := p.Instructions(ctx)
		p.say(listing.Skipped())
		p.say(listing.Stale())
		set.Files, set.Rules = append(set.Files, more.Files...), append(set.Rules, more.Rules...)
		return set, errors.Join(err, failed)
	}
}

// say tells the person a text; "" is none.
func (p Part) say(text string) {
	if text != "" {
		p.o.Publish(event.Notice{Text: text, Code: Code})
	}
}

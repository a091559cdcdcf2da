package compose

import (
	"context"

	"buddy/agent/reminder"
)

// reminders returns what the models of the session are told besides, without what is switched off.
func (p *Program) reminders() *reminder.Set {
	changed := func(ctx context.Context, now reminder.Snapshot) reminder.Said {
		text, told := p.Targets.ChangedFiles(ctx, now.Told[reminder.ChangedFiles])
		return reminder.Said{Text: text, State: told}
	}
	screens := func(ctx context.Context, _ reminder.Snapshot) reminder.Said {
		return reminder.Said{Text: p.Targets.First().Shell.Screens(ctx)}
	}
	return reminder.NewSet(p.Config.Reminders.Off, append(reminder.Own(),
		reminder.Generator{Kind: reminder.ChangedFiles, Say: changed},
		reminder.Generator{Kind: reminder.TaskProgress, Say: screens},
	)...)
}

package compose

import (
	"context"

	"buddy/agent/reminder"
	"buddy/tools/target"
)

// newReminders returns the reminders for a session with these targets, together with those in more, and without the
// kinds in off.
func newReminders(all *target.Set, off []string, more ...reminder.Generator) *reminder.Set {
	changed := func(ctx context.Context, now reminder.Snapshot) reminder.Said {
		known := now.Told[reminder.ChangedFiles]
		if known == "" && !now.Subagent { // files may be known from an earlier process
			known = target.ToldNothing
		}
		text, state, seen := all.ChangedFiles(ctx, known)
		return reminder.Said{Text: text, State: state, Seen: seen}
	}
	screens := func(ctx context.Context, _ reminder.Snapshot) reminder.Said {
		return reminder.Said{Text: all.First().Shell.Screens(ctx)}
	}
	return reminder.NewSet(off, append(append(reminder.Own(), more...),
		reminder.Generator{Kind: reminder.ChangedFiles, Say: changed},
		reminder.Generator{Kind: reminder.TaskProgress, Say: screens},
	)...)
}

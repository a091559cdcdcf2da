package compact

import (
	"slices"

	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/settings"
)

// ordered returns the files to restore, the most important first.
func ordered(reads []history.Read, by settings.Restore) []history.Read {
	all := slices.Clone(reads)
	slices.Reverse(all)
	if by == settings.MostAccessed {
		slices.SortStableFunc(all, func(a, b history.Read) int { return b.Times - a.Times })
	}
	return all
}

// percent returns part percent of a window, but at least one token.
func percent(window, part int) int { return max(1, window/100*part+window%100*part/100) }

// health grades how full the window is.
func health(c settings.Context, used, window int) event.Health {
	switch {
	case window == 0 || used < percent(window, c.HintAt):
		return event.Healthy
	case used >= percent(window, c.CriticalAt):
		return event.Critical
	case used >= percent(window, c.WarnAt):
		return event.Warned
	default:
		return event.Hint
	}
}

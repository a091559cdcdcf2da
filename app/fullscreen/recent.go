package fullscreen

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"buddy/app/compose"
	"buddy/app/host"
	"buddy/app/slash"
	"buddy/app/ui"
	"buddy/texts"
	"buddy/views/draw"
	"buddy/views/markup"
)

// firstLines holds what an empty conversation shows.
type firstLines struct {
	welcome []string
	recent  []string // lines of sessions of this folder
}

// welcome sets what an empty conversation shows before the recent sessions of this folder.
func (w *window) welcome(lines []string) {
	w.first.welcome = lines
	w.ui.SetWelcome(slices.Concat(lines, w.first.recent))
}

// maxRecent limits the sessions that the first screen offers.
const maxRecent = 3

// lookAtFolder says what there is in this folder, once that is known: sessions to go on with, and whether models
// are told about it.
func (w *window) lookAtFolder(ctx context.Context) {
	known := w.first.welcome != nil // of somebody who has no model yet
	if !known {
		w.welcome(ui.Welcome(false, true))
	}
	w.loop.Go(func() {
		all, err := w.setup.Catalog(ctx).Saved.List()
		if err != nil {
			all = nil // F4 says why
		}
		ids, lines := recent(all, w.setup.ID, runningStates(), time.Now())
		told := w.far || compose.Told(ctx)
		w.loop.Post(func() {
			w.first.recent = lines
			ui.OfferRecent(w.ui, ids)
			if !known && w.first.welcome != nil {
				w.first.welcome = ui.Welcome(false, told)
			}
			w.welcome(w.first.welcome)
		})
	})
}

// recent returns the sessions that the first screen offers, those that run first, and a line for each. Those of
// buddy exec are not among them.
func recent(all []slash.SavedSession, current string, running map[string]string, now time.Time) (ids, lines []string) {
	all = slices.DeleteFunc(slices.Clone(all), func(s slash.SavedSession) bool { return s.ID == current || s.Exec })
	runs := func(s slash.SavedSession) int {
		if running[s.ID] != "" {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b slash.SavedSession) int { return runs(a) - runs(b) })
	for i, s := range all[:min(len(all), maxRecent)] {
		title := s.Title
		if does := running[s.ID]; does != "" {
			title = "● " + does + " · " + title
		}
		title = draw.Shorten(markup.Plain(texts.OneLine(title)), recentTitle)
		ids = append(ids, s.ID)
		lines = append(lines, fmt.Sprintf(" %d  %s%s  %s", i+1, title, strings.Repeat(" ", max(0, recentTitle-draw.TextWidth(title))), ui.Age(now.Sub(s.Used))))
	}
	if len(ids) > 0 {
		lines = slices.Concat([]string{""}, lines, []string{"A digit goes on with a session · F4 lists them all"})
	}
	return ids, lines
}

// recentTitle limits the cells of a title on the first screen.
const recentTitle = 48

// runningStates says what the sessions do that run.
func runningStates() map[string]string {
	all, _ := host.Running(context.Background())
	states := make(map[string]string, len(all))
	for _, d := range all {
		states[d.ID] = string(d.State)
	}
	return states
}

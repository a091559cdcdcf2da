package fullscreen

import (
	"context"
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

// maxRecent limits the sessions that the first screen offers.
const maxRecent = 3

// lookAtFolder looks up this folder's sessions and instruction file in the background, and then offers the recent
// sessions and shows examples. known means that the first screen already shows other text: that the demo answers, or
// that a model is missing.
func (w *window) lookAtFolder(ctx context.Context, known bool) {
	w.loop.Go(func() {
		all, err := slash.SavedIn(w.setup.Store).List()
		if err != nil {
			all = nil // F4 shows the error
		}
		found := recent(all, w.setup.ID, runningStates(), time.Now())
		instructions := w.far || compose.HasInstructions(ctx)
		w.loop.Post(func() {
			if !known {
				ui.SetFirst(w.ui, ui.Examples(false, instructions))
			}
			ui.OfferRecent(w.ui, found)
		})
	})
}

// recent returns the sessions that the first screen offers, running sessions first. Sessions of buddy exec and sessions
// that can't be opened are left out.
func recent(all []slash.SavedSession, current string, running map[string]string, now time.Time) []ui.Recent {
	var found []ui.Recent
	all = slices.DeleteFunc(slices.Clone(all), func(s slash.SavedSession) bool { return s.ID == current || s.Exec || s.Problem != "" })
	runs := func(s slash.SavedSession) int {
		if running[s.ID] != "" {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b slash.SavedSession) int { return runs(a) - runs(b) })
	for _, s := range all[:min(len(all), maxRecent)] {
		title := s.Title
		if does := running[s.ID]; does != "" {
			title = "● " + does + " · " + title
		}
		title = draw.Shorten(markup.Plain(texts.OneLine(title)), recentTitle)
		pad := strings.Repeat(" ", max(0, recentTitle-draw.TextWidth(title)))
		found = append(found, ui.Recent{ID: s.ID, Line: title + pad + "  " + texts.Age(now.Sub(s.Used))})
	}
	return found
}

// recentTitle limits the cells of a title on the first screen.
const recentTitle = 48

// runningStates returns the states of the running sessions by id.
func runningStates() map[string]string {
	all, _ := host.Running(context.Background())
	states := make(map[string]string, len(all))
	for _, d := range all {
		states[d.ID] = string(d.State)
	}
	return states
}

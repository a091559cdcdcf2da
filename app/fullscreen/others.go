package fullscreen

import (
	"context"
	"fmt"
	"os"
	"slices"

	"buddy/app/host"
	"buddy/app/live"
	"buddy/app/ui"
	"buddy/views/markup"
)

// firstLines are what an empty conversation shows.
type firstLines struct {
	others  []string // the sessions that run in this folder
	welcome []string
}

// welcome sets what an empty conversation shows after the sessions that run in this folder.
func (w *window) welcome(lines []string) {
	w.first.welcome = lines
	w.ui.SetWelcome(slices.Concat(w.first.others, lines))
}

// maxOthers is how many sessions that run here the first lines name.
const maxOthers = 3

// lookForOthers says which sessions run in this folder already, once that is known.
func (w *window) lookForOthers() {
	if w.first.welcome == nil {
		w.first.welcome = ui.Welcome(false)
	}
	w.loop.Go(func() {
		if lines := others(w.setup.ID); len(lines) > 0 {
			w.loop.Post(func() {
				w.first.others = append(lines, "")
				w.welcome(w.first.welcome)
			})
		}
	})
}

// others describes the sessions that run in this folder beside one.
func others(session string) []string {
	all, _ := host.Running(context.Background())
	dir, _ := os.Getwd() // unknown: none runs there
	all = slices.DeleteFunc(all, func(d live.Description) bool { return d.ID == session || d.Here != dir || d.Title == "" })
	if len(all) == 0 {
		return nil
	}
	lines := []string{"Here runs already (F4 lists all sessions):"}
	for _, d := range all[:min(len(all), maxOthers)] {
		lines = append(lines, fmt.Sprintf("  %s · %s · buddy attach %s", markup.Shorten(d.Title, 40), d.State, host.Short(d.ID)))
	}
	if n := len(all) - maxOthers; n > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more: buddy ls", n))
	}
	return lines
}

// runningStates says what the sessions do that run.
func runningStates() map[string]string {
	all, _ := host.Running(context.Background())
	states := make(map[string]string, len(all))
	for _, d := range all {
		states[d.ID] = string(d.State)
	}
	return states
}
